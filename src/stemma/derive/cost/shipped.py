"""The prices that ship with the program: the catalog made by ``tools/build_prices.py``, and our overlay for its gaps."""

from __future__ import annotations

import pkgutil
from functools import cache

import msgspec

from stemma.derive.cost.book import PriceBook
from stemma.derive.cost.layer import Layer
from stemma.derive.cost.port import PricingProvider

CATALOG, OVERLAY = "catalog", "overlay"


class Shipped:
    """A price table in ``tables/``.

    Attributes:
        name: Its file name without ending.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def layer(self) -> Layer:
        """See ``PricingProvider.layer``."""
        return _decoded(self.name)


def price_book(*others: PricingProvider) -> PriceBook:
    """The shipped prices, and over them those of other sources, weakest first."""
    return PriceBook((Shipped(CATALOG), Shipped(OVERLAY), *others))


@cache
def _decoded(name: str) -> Layer:
    content = pkgutil.get_data(__package__, f"tables/{name}.json")
    if content is None:
        raise FileNotFoundError(f"tables/{name}.json is missing from the installation")
    return msgspec.json.decode(content, type=Layer)
