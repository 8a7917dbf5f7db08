"""What a charge costs: tokens times rates, bucket by bucket, in integers. One code path for every report."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

from msgspec import Struct

from stemma.derive.cost.book import PriceBook, RateCard
from stemma.derive.cost.charge import Charge
from stemma.model.money import BILLED, WEB_SEARCH, PriceRow, micro_usd

_ZERO = (0,) * len(BILLED)
K = TypeVar("K", bound=Hashable)


class Priced(Struct, frozen=True, gc=False):
    """A charge's price.

    Attributes:
        pico: Pico-dollars for each of ``BILLED``; 0 where there is no price, which is then counted as unpriced.
        total: Their sum.
        unpriced_tokens: Tokens without a price.
        unpriced_searches: Searches without a price.
        unpriced_reason: Why, one of ``Unpriced``; empty when everything has a price.
        card: The rates.
        charge: What was priced.
    """

    pico: tuple[int, ...]
    total: int
    unpriced_tokens: int
    unpriced_searches: int
    unpriced_reason: str
    card: RateCard
    charge: Charge

    @property
    def rows(self) -> tuple[PriceRow, ...]:
        """The price rows that were used."""
        pairs = zip(self.charge.amounts, self.card.rows, strict=True)
        return tuple(row for amount, row in pairs if amount and row is not None)


def price(charge: Charge, book: PriceBook) -> Priced:
    """Price a request, or a rollup row; the price of a rollup row is the sum of the prices of its requests."""
    card = book.card(charge)
    pico = []
    unpriced_tokens = unpriced_searches = 0
    for bucket, amount, rate in zip(BILLED, charge.amounts, card.pico, strict=True):
        if rate is None:
            pico.append(0)
            if bucket == WEB_SEARCH:
                unpriced_searches = amount
            else:
                unpriced_tokens += amount
        else:
            pico.append(amount * rate)
    lacking = unpriced_tokens or unpriced_searches
    return Priced(
        tuple(pico), sum(pico), unpriced_tokens, unpriced_searches,
        str(card.missing) if lacking and card.missing else "", card, charge,
    )  # fmt: skip


class Total(Struct, frozen=True):
    """A sum of prices. Sums of groups equal the sum of the whole exactly: nothing is rounded before ``micro_usd``.

    Attributes:
        amounts: Tokens by bucket and searches, in the order of ``BILLED``.
        pico: Pico-dollars in the same order.
        requests: Requests.
        unpriced_tokens: Tokens without a price.
        unpriced_searches: Searches without a price.
        unpriced_models: Recorded ids of models with anything unpriced, sorted.
    """

    amounts: tuple[int, ...] = _ZERO
    pico: tuple[int, ...] = _ZERO
    requests: int = 0
    unpriced_tokens: int = 0
    unpriced_searches: int = 0
    unpriced_models: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """Pico-dollars, everything together."""
        return sum(self.pico)

    @property
    def micro_usd(self) -> int:
        """Micro-dollars, rounded once."""
        return micro_usd(self.total)

    @property
    def wholly_unpriced(self) -> bool:
        """Whether nothing in it has a price: then the figure is unknown, and never shown as zero (fault B48)."""
        lacking = self.unpriced_tokens + self.unpriced_searches
        return lacking > 0 and lacking == sum(self.amounts)


def total(prices: Iterable[Priced]) -> Total:
    """The sum of some prices."""
    amounts, pico = [0] * len(BILLED), [0] * len(BILLED)
    requests = tokens = searches = 0
    models = set()
    for one in prices:
        for place, amount in enumerate(one.charge.amounts):
            amounts[place] += amount
            pico[place] += one.pico[place]
        requests += one.charge.requests
        tokens += one.unpriced_tokens
        searches += one.unpriced_searches
        if one.unpriced_reason:
            models.add(one.charge.model)
    return Total(tuple(amounts), tuple(pico), requests, tokens, searches, tuple(sorted(models)))


def added(totals: Iterable[Total]) -> Total:
    """The sum of some sums."""
    result = Total()
    for one in totals:
        result = Total(
            tuple(a + b for a, b in zip(result.amounts, one.amounts, strict=True)),
            tuple(a + b for a, b in zip(result.pico, one.pico, strict=True)),
            result.requests + one.requests,
            result.unpriced_tokens + one.unpriced_tokens,
            result.unpriced_searches + one.unpriced_searches,
            tuple(sorted({*result.unpriced_models, *one.unpriced_models})),
        )
    return result


def grouped(prices: Iterable[tuple[K, Priced]]) -> dict[K, Total]:
    """Sums by group, in the order in which groups first occur.

    Args:
        prices: Each with the group that it belongs to.
    """
    groups: dict[K, list[Priced]] = {}
    for key, one in prices:
        groups.setdefault(key, []).append(one)
    return {name: total(members) for name, members in groups.items()}
