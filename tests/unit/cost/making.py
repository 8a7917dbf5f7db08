"""Charges and books for tests, with the defaults that a test need not speak of."""

from __future__ import annotations

from datetime import UTC, datetime

from stemma.derive.cost.book import PriceBook
from stemma.derive.cost.charge import Charge, context_class
from stemma.derive.cost.price import Priced, price
from stemma.derive.cost.shipped import price_book
from stemma.derive.cost.user import UserPrices

BOOK = price_book()
NOVEMBER = "2026-11-03"


def at(moment: str) -> int:
    """Microseconds since 1970 of a UTC day or time."""
    return int(datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()) * 1_000_000


def tokens(  # noqa: PLR0913 - everything that a price can depend on
    model: str,
    *amounts: int,
    on: str = NOVEMBER,
    speed: str = "",
    tier: str = "",
    geo: str = "",
    searches: int = 0,
) -> Charge:
    """One request: input, output, cache writes of five minutes and of an hour, cache reads."""
    one, two, three, four, five = (*amounts, 0, 0, 0, 0, 0)[:5]
    above = context_class(one + three + four + five)
    return Charge(model, at(on), one, two, three, four, five, searches, speed, tier, geo, above)


def priced(charge: Charge, book: PriceBook = BOOK) -> Priced:
    """A charge at the shipped prices, or others."""
    return price(charge, book)


def dollars(charge: Charge, book: PriceBook = BOOK) -> str:
    """Dollars of a charge that has a price for everything, as a decimal number without trailing zeros."""
    result = price(charge, book)
    assert not result.unpriced_reason, result
    whole, part = divmod(result.total, 10**12)
    return f"{whole}.{part:012}".rstrip("0").rstrip(".")


def with_prices(text: str) -> PriceBook:
    """The shipped prices under a ``prices.toml``."""
    return price_book(UserPrices(text, BOOK))
