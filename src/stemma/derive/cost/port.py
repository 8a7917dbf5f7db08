"""The port of price sources: anything that can state a layer of prices. A new source is one file that satisfies it."""

from __future__ import annotations

from typing import Protocol

from stemma.derive.cost.layer import Layer


class PricingProvider(Protocol):
    """A source of prices.

    Rules: the layer is complete and constant for the life of the object; it is read from memory or from data that
    ships with the program, never from a network; an unknown price is left out, never stated as zero.
    """

    def layer(self) -> Layer:
        """Everything that the source states."""
        ...
