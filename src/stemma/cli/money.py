"""Money as people read it; needs nothing, since the status line shows some."""

from __future__ import annotations

UNPRICED = "?"
"""What has no price: unknown, and never $0.00."""

_MICRO = 1_000_000
_CENT = 10_000


def dollars(micro_usd: int | None, *, unpriced: bool = False) -> str:
    """Dollars and cents; below a cent as many digits as it takes to show one.

    Args:
        micro_usd: The amount; nothing when it is unknown.
        unpriced: Whether something in it has no price, so that it is more than is shown.
    """
    if micro_usd is None:
        return UNPRICED
    sign, amount = ("-" if micro_usd < 0 else ""), abs(micro_usd)
    more = f" + {UNPRICED}" if unpriced else ""
    if 0 < amount < _CENT:
        return f"{sign}${amount / _MICRO:.{6 if amount < _CENT // 100 else 4}f}{more}"
    return f"{sign}${(amount + _CENT // 2) // _CENT / 100:,.2f}{more}"


def exact(micro_usd: int | None) -> str:
    """Dollars to the micro-dollar, as receipts show them."""
    if micro_usd is None:
        return UNPRICED
    whole, part = divmod(abs(micro_usd), _MICRO)
    return f"{'-' if micro_usd < 0 else ''}${whole:,}.{part:06}"
