"""Five-hour blocks of activity, as the plan's limits are thought to count them: a reading of the evidence, no limit.

Rules. A block begins at the full UTC hour of its first request and is five hours long; a request at its end or later
begins the next. A gap is the time between the end of one block and the beginning of the next. What the highest block
used is the highest so far, not the plan's limit (fault B62). The agent's own figures, where a status line recorded
them, are to be preferred.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from stemma.derive.cost.price import Priced, Total, total
from stemma.model.money import divide

HOUR = 3_600_000_000
MINUTE = 60_000_000
BLOCK = 5 * HOUR


class Gap(Struct, frozen=True):
    """Time without a block; microseconds.

    Attributes:
        start: End of the block before.
        end: Beginning of the block after.
    """

    start: int
    end: int


class Projection(Struct, frozen=True):
    """What an active block will have used if it goes on as it did.

    Attributes:
        tokens_per_minute: Burn rate since the block's first request, rounded.
        pico_per_hour: The same in money.
        tokens: Tokens at the block's end.
        pico: Pico-dollars at the block's end.
        is_estimate: Always true.
    """

    tokens_per_minute: int
    pico_per_hour: int
    tokens: int
    pico: int
    is_estimate: bool = True


class Block(Struct, frozen=True):
    """One block; times in microseconds since 1970, UTC.

    Attributes:
        start: Full hour.
        end: Five hours later.
        first_at: Its first request.
        last_at: Its last request.
        cost: What it used.
        active: Whether now is inside it.
        projection: Where it leads; None unless it is active and more than one moment old.
        gap: The gap before it, if any.
    """

    start: int
    end: int
    first_at: int
    last_at: int
    cost: Total
    active: bool
    projection: Projection | None
    gap: Gap | None


def blocks(prices: Iterable[Priced], now: int) -> list[Block]:
    """The blocks of some requests, or of rollup rows; both give the same blocks, since quarters of an hour fit them.

    Args:
        prices: What was billed; requests without a time are left out.
        now: The present, microseconds since 1970, UTC.
    """
    dated = sorted((one for one in prices if one.charge.at), key=lambda one: one.charge.at)
    cuts: list[list[Priced]] = []
    end = 0
    for one in dated:
        if one.charge.at >= end:
            cuts.append([])
            end = one.charge.at - one.charge.at % HOUR + BLOCK
        cuts[-1].append(one)
    found: list[Block] = []
    for cut in cuts:
        found.append(_block(cut, now, found[-1].end if found else 0))
    return found


def _block(cut: list[Priced], now: int, before: int) -> Block:
    first, last = cut[0].charge.at, cut[-1].charge.at
    start = first - first % HOUR
    cost = total(cut)
    active = start <= now < start + BLOCK
    elapsed = now - first
    projection = _projection(cost, elapsed, start + BLOCK - now) if active and elapsed > 0 else None
    gap = Gap(before, start) if before and start > before else None
    return Block(start, start + BLOCK, first, last, cost, active, projection, gap)


def _projection(cost: Total, elapsed: int, remaining: int) -> Projection:
    tokens = sum(cost.amounts[:-1])
    return Projection(
        divide(tokens * MINUTE, elapsed),
        divide(cost.total * HOUR, elapsed),
        tokens + divide(tokens * remaining, elapsed),
        cost.total + divide(cost.total * remaining, elapsed),
    )
