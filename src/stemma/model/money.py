"""Money as integers: pico-dollars inside, micro-dollars outside, rounded once; and the row of the price table (ADR 7).

A pico-dollar is 10⁻¹² USD. One pico-dollar per token is one micro-dollar per million tokens, so every published price is
a whole number of them, also after the discounts and multipliers in use.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from msgspec import Struct

from stemma.model.usage import BUCKETS

PICO_PER_MICRO = 1_000_000
PICO_PER_USD = 1_000_000_000_000

WEB_SEARCH = "web_search"
"""Billed by the search, not by the token."""

BILLED = (*BUCKETS, WEB_SEARCH)
"""What a price row can be for, in the order in which amounts are stored and printed."""

STANDARD = ""
"""The variant of ordinary requests; others are named for what was served: ``fast``, ``batch``."""

ANY_VARIANT = "*"
"""The variant of rows that hold however a request was served."""


class PriceRow(Struct, frozen=True, order=True, gc=False):
    """One price: a row of the table ``model_pricing``.

    Attributes:
        provider: Who bills: ``anthropic``, ``aws``, ``google``, ``openai``, or a name of the user's.
        model: Canonical model name at that provider.
        bucket: One of ``BILLED``.
        variant: ``STANDARD``, ``ANY_VARIANT``, or how the request was served.
        tier_above: The row holds for requests whose whole prompt has more tokens than this; 0 for all.
        effective_from: First UTC day, ``YYYY-MM-DD``; empty: always was.
        effective_until: First UTC day on which it no longer holds; empty: still holds.
        pico_usd: Pico-dollars per token; per search for ``web_search``.
        provenance: Where the price is from.
    """

    provider: str
    model: str
    bucket: str
    variant: str
    tier_above: int
    effective_from: str
    effective_until: str
    pico_usd: int
    provenance: str

    def holds_on(self, day: str) -> bool:
        """Whether the row is in force on a UTC day, ``YYYY-MM-DD``."""
        return self.effective_from <= day and (
            not self.effective_until or day < self.effective_until
        )


def divide(numerator: int, denominator: int) -> int:
    """A quotient of integers, rounded once: half up, away from zero for amounts below it.

    Args:
        numerator: Any integer.
        denominator: A positive integer.
    """
    quotient, rest = divmod(abs(numerator), denominator)
    rounded = quotient + (2 * rest >= denominator)
    return rounded if numerator >= 0 else -rounded


def micro_usd(pico: int) -> int:
    """Micro-dollars, as machine-readable output states them. The last step: never sum what it returns."""
    return divide(pico, PICO_PER_MICRO)


def usd(pico: int) -> Decimal:
    """The exact amount in dollars."""
    return Decimal(pico).scaleb(-12)


def pico_per_token(usd_per_million: Decimal | str | int) -> int:
    """Pico-dollars per token of a price in dollars per million tokens.

    Raises:
        ValueError: The price is no number, below zero, or finer than a pico-dollar per token.
    """
    return _whole(usd_per_million, 6, "dollars per million tokens")


def pico_per_search(usd_per_thousand: Decimal | str | int) -> int:
    """Pico-dollars per search of a price in dollars per thousand searches.

    Raises:
        ValueError: The price is no number, below zero, or finer than a pico-dollar per search.
    """
    return _whole(usd_per_thousand, 9, "dollars per thousand searches")


def pico_of(amount: Decimal | str | float) -> int:
    """Pico-dollars of an amount that somebody else recorded in dollars, rounded to the nearest."""
    scaled = Decimal(str(amount)).scaleb(12)
    numerator, denominator = scaled.as_integer_ratio()
    return divide(numerator, denominator)


def _whole(price: Decimal | str | int, shift: int, unit: str) -> int:
    try:
        scaled = Decimal(price).scaleb(shift)
        whole = int(scaled)
    except (InvalidOperation, OverflowError, ValueError):
        raise ValueError(f"{price!r} is not a price in {unit}") from None
    if scaled < 0:
        raise ValueError(f"{price} is below zero")
    if scaled != whole:
        raise ValueError(f"{price} {unit} is finer than a pico-dollar")
    return whole
