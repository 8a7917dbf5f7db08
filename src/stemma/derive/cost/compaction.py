"""What compactions cost: the segments between boundaries, and what filling the cache again cost after each one.

Rules. A segment is what one agent was billed between two boundaries. *Tokens before* are the whole prompt of the last
response before the boundary, *tokens after* that of the first response after it. *Rebuilding the cache* is the cache
writes, both kinds, of that first response, at its own rates: before the boundary those tokens could be read from the
cache, after it the prompt is new. The compaction's own call is in no transcript (FORMATS), so its cost is not in any
segment: unknown, not zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from stemma.derive.cost.book import PriceBook
from stemma.derive.cost.charge import Charge
from stemma.derive.cost.price import Priced, Total, price, total
from stemma.model.money import BILLED
from stemma.model.usage import SYNTHETIC_MODEL

_WRITES = (BILLED.index("cache_write_5m"), BILLED.index("cache_write_1h"))


class Boundary(Struct, frozen=True):
    """A compaction, as the transcript states it.

    Attributes:
        at: Time, microseconds since 1970, UTC.
        trigger: ``auto``, ``manual``, or empty when not stated.
        recorded_before: Prompt tokens before it that the record states itself, -1 for none.
    """

    at: int
    trigger: str = ""
    recorded_before: int = -1


class Segment(Struct, frozen=True):
    """What was billed between two boundaries.

    Attributes:
        cost: Its sum.
        first_at: Time of its first response, 0 when it has none.
        last_at: Time of its last response, 0 when it has none.
    """

    cost: Total
    first_at: int
    last_at: int


class Compaction(Struct, frozen=True):
    """One boundary and what it did. -1 stands for unknown: there is no such response, or no price.

    Attributes:
        boundary: The boundary.
        tokens_before: Prompt of the last response before it.
        tokens_after: Prompt of the first response after it.
        rebuild_tokens: Tokens that this response wrote to a cache.
        rebuild_pico: What writing them cost.
        unpriced_tokens: Those of ``rebuild_tokens`` without a price.
    """

    boundary: Boundary
    tokens_before: int
    tokens_after: int
    rebuild_tokens: int
    rebuild_pico: int
    unpriced_tokens: int


class Compactions(Struct, frozen=True):
    """Everything about the compactions of one agent in one session.

    Attributes:
        segments: One more than there are boundaries.
        compactions: One for each boundary, in order of time.
        rebuild_pico: What rebuilding cost where it is known; never more than the segments cost.
        unknown_rebuilds: Boundaries for which it is not.
    """

    segments: tuple[Segment, ...]
    compactions: tuple[Compaction, ...]
    rebuild_pico: int
    unknown_rebuilds: int


def compactions(
    charges: Iterable[Charge], boundaries: Iterable[Boundary], book: PriceBook
) -> Compactions:
    """Walk the boundaries of one agent.

    Args:
        charges: Its requests, one each, not rolled up. One at the very time of a boundary counts as after it.
        boundaries: Its compactions.
        book: Prices.
    """
    ordered = sorted(boundaries, key=lambda one: (one.at, one.trigger, one.recorded_before))
    prices = sorted((price(charge, book) for charge in charges), key=lambda one: one.charge.at)
    cuts: list[list[Priced]] = [[] for _ in range(len(ordered) + 1)]
    for one in prices:
        cuts[sum(boundary.at <= one.charge.at for boundary in ordered)].append(one)
    found = tuple(
        _compaction(boundary, _real(cuts[: place + 1]), _real(cuts[place + 1 : place + 2]))
        for place, boundary in enumerate(ordered)
    )
    return Compactions(
        tuple(_segment(cut) for cut in cuts),
        found,
        sum(one.rebuild_pico for one in found if one.rebuild_pico >= 0),
        sum(one.rebuild_pico < 0 for one in found),
    )


def _real(cuts: Sequence[Sequence[Priced]]) -> list[Priced]:
    """Responses of a model: neither the client's own messages nor extra passes inside a response have its prompt."""
    return [
        one
        for cut in cuts
        for one in cut
        if one.charge.model != SYNTHETIC_MODEL and one.charge.requests
    ]


def _segment(cut: Sequence[Priced]) -> Segment:
    times = [one.charge.at for one in cut if one.charge.at]
    return Segment(total(cut), min(times, default=0), max(times, default=0))


def _compaction(
    boundary: Boundary, before: Sequence[Priced], after: Sequence[Priced]
) -> Compaction:
    tokens_before = before[-1].charge.prompt if before else boundary.recorded_before
    if not after:
        return Compaction(boundary, tokens_before, -1, -1, -1, 0)
    first = after[0]
    amounts, pico = first.charge.amounts, first.card.pico
    unpriced = sum(amounts[place] for place in _WRITES if pico[place] is None)
    written = sum(amounts[place] for place in _WRITES)
    cost = -1 if unpriced else sum(first.pico[place] for place in _WRITES)
    return Compaction(boundary, tokens_before, first.charge.prompt, written, cost, unpriced)
