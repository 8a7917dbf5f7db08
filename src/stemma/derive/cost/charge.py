"""What is priced: one request, or many alike as one rollup row, in one form, so that both cost the same."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import date

from msgspec import Struct
from msgspec.structs import replace

from stemma.derive.usage import CountedRequest
from stemma.model.money import BILLED
from stemma.model.usage import BUCKETS

BOUNDARIES = (100_000, 128_000, 200_000, 272_000)
"""Every prompt size at which a known price changes. A price row with another threshold is refused, so that a rollup by
context class can be priced exactly; a new boundary needs the rollup made again (``docs/reference/prices.md``)."""

LARGEST_PROMPT = 1_000_000
"""No model with context tiers takes a longer prompt: a record of more is a sum of several whose sizes are unknown."""

ROLLUP_MICROSECONDS = 900_000_000
"""A quarter of an hour: every time zone's days, and UTC midnight, at which prices change, begin on one (DESIGN 2)."""

_DAY_MICROSECONDS = 86_400_000_000
_EPOCH = date(1970, 1, 1).toordinal()


class Charge(Struct, frozen=True, gc=False):
    """Tokens of one request, or of many that differ in nothing the price depends on.

    Attributes:
        model: Model as recorded.
        at: Microseconds since 1970, UTC; the start of the quarter of an hour in a rollup row; 0 unknown.
        input: Uncached input tokens.
        output: Output tokens.
        cache_write_5m: Tokens written to the five-minute cache.
        cache_write_1h: Tokens written to the one-hour cache.
        cache_read: Tokens read from a cache.
        web_searches: Web searches.
        speed: Speed as served, or empty.
        tier: Service tier as served, or empty.
        geo: Inference geography as served, or empty.
        context_class: See ``context_class``; the same for all requests of a rollup row.
        requests: How many requests it is.
    """

    model: str
    at: int
    input: int = 0
    output: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    cache_read: int = 0
    web_searches: int = 0
    speed: str = ""
    tier: str = ""
    geo: str = ""
    context_class: int = 0
    requests: int = 1

    @property
    def amounts(self) -> tuple[int, int, int, int, int, int]:
        """Tokens by bucket and searches, in the order of ``BILLED``."""
        return (
            self.input, self.output, self.cache_write_5m, self.cache_write_1h, self.cache_read, self.web_searches,
        )  # fmt: skip

    @property
    def tokens(self) -> int:
        """All tokens, every bucket."""
        return (
            self.input + self.output + self.cache_write_5m + self.cache_write_1h + self.cache_read
        )

    @property
    def prompt(self) -> int:
        """Everything the model was sent: uncached, written to a cache and read from one."""
        return self.input + self.cache_write_5m + self.cache_write_1h + self.cache_read


def charge_of_amounts(like: Charge, amounts: Sequence[int], requests: int = 1) -> Charge:
    """A charge like another one, of other amounts.

    Args:
        like: Model, time and manner of serving.
        amounts: Tokens by bucket and searches, in the order of ``BILLED``.
        requests: How many requests it is.
    """
    return replace(
        like,
        **dict(zip(BUCKETS, amounts, strict=False)),
        web_searches=amounts[-1],
        requests=requests,
    )


def context_class(prompt: int) -> int:
    """The largest boundary that a request's whole prompt exceeds, 0 for none.

    Exactly 200,000 tokens are not above 200,000 (ACCOUNTING B43): thresholds are exclusive. A sum without request
    boundaries, recognised by exceeding ``LARGEST_PROMPT``, stays at the base rates (B43; an inference).

    Args:
        prompt: Uncached input, cache writes and cache reads of the whole request together.
    """
    if prompt > LARGEST_PROMPT:
        return 0
    above = bisect_left(BOUNDARIES, prompt)
    return BOUNDARIES[above - 1] if above else 0


def charge_of(request: CountedRequest) -> Charge:
    """A counted request as it is priced.

    The context class is that of the largest single iteration where the record states iterations (ACCOUNTING rule 6:
    each iteration is a prompt of its own; an inference), else that of the request.
    """
    prompt = request.largest_input or (
        request.input + request.cache_write_5m + request.cache_write_1h + request.cache_read
    )
    return Charge(
        request.model, request.first_at, request.input, request.output, request.cache_write_5m, request.cache_write_1h,
        request.cache_read, request.web_searches, request.speed, request.tier, request.geo, context_class(prompt),
    )  # fmt: skip


def rolled_up(charges: Iterable[Charge]) -> list[Charge]:
    """Charges summed by everything that a price depends on, in quarters of an hour; the rule that the store's rollup obeys."""
    sums: dict[tuple[str, int, str, str, str, int], list[int]] = {}
    for one in charges:
        key = (
            one.model,
            one.at - one.at % ROLLUP_MICROSECONDS,
            one.speed,
            one.tier,
            one.geo,
            one.context_class,
        )
        total = sums.setdefault(key, [0] * (len(BILLED) + 1))
        for place, amount in enumerate((*one.amounts, one.requests)):
            total[place] += amount
    return [
        charge_of_amounts(
            Charge(model, at, speed=speed, tier=tier, geo=geo, context_class=above),
            total[:-1],
            total[-1],
        )
        for (model, at, speed, tier, geo, above), total in sorted(sums.items())
    ]


def utc_day(at: int) -> str:
    """The UTC day of a time, ``YYYY-MM-DD``; empty for an unknown time.

    Args:
        at: Microseconds since 1970, UTC; 0 unknown.
    """
    return date.fromordinal(_EPOCH + at // _DAY_MICROSECONDS).isoformat() if at else ""
