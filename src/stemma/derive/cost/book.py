"""The price book: every layer of prices united, and the card of rates that holds for one kind of request on one day."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import msgspec
from msgspec import Struct

from stemma.derive.cost.charge import Charge, utc_day
from stemma.derive.cost.identify import ANTHROPIC, AWS, GOOGLE, Identity, identify
from stemma.derive.cost.layer import ALL, Factor, Layer, ModelEntry, factor_of
from stemma.derive.cost.merge import merged
from stemma.derive.cost.port import PricingProvider
from stemma.model.money import ANY_VARIANT, BILLED, STANDARD, WEB_SEARCH, PriceRow, divide

_PROVIDER_ORDER = {ANTHROPIC: 1, "openai": 2, GOOGLE: 3, AWS: 4}  # the user's own names come first
_UNIT = Factor(1, 1)


class Unpriced(StrEnum):
    """Why tokens have no price; closed set."""

    NO_MODEL = "no-model"  # the record names none
    UNKNOWN_MODEL = "unknown-model"
    UNKNOWN_VARIANT = "unknown-variant"  # no price for the speed or service tier that was served
    UNKNOWN_GEO = "unknown-geo"
    NO_RATE = "no-rate"  # this bucket has no price
    NO_PERIOD = "no-period"  # it has one, but not at that time
    NO_TIME = "no-time"  # the time is unknown, and the price changed over time


class AppliedFactor(NamedTuple):
    """A multiplier on a card.

    Attributes:
        what: What it is for, for people.
        factor: The number.
    """

    what: str
    factor: Factor


class RateCard(Struct, frozen=True):
    """What one kind of request costs in one period.

    Attributes:
        provider: Who bills.
        model: Canonical name, or the recorded id of an unknown model.
        variant: How it was served.
        rows: Price row for each of ``BILLED``, before factors.
        factors: Multipliers on the token rates.
        pico: Pico-dollars per unit for each of ``BILLED``, factors included and rounded half up; None: no price.
        missing: Why a rate is missing, where one is.
    """

    provider: str
    model: str
    variant: str
    rows: tuple[PriceRow | None, ...]
    factors: tuple[AppliedFactor, ...]
    pico: tuple[int | None, ...]
    missing: Unpriced | None


class _Periods(NamedTuple):
    starts: list[str]
    cards: list[RateCard]
    timeless: RateCard


class PriceBook:
    """Prices of every model. Immutable, but for a memory of what was looked up.

    Attributes:
        layers: Its layers, weakest first.
        version: Sources and versions of its layers.
        digest: Digest of everything that the layers state; equal books have equal digests.
    """

    def __init__(self, providers: Sequence[PricingProvider]) -> None:
        self.layers = tuple(provider.layer() for provider in providers)
        self.version = ", ".join(layer.provenance for layer in self.layers)
        self.digest = hashlib.sha256(
            msgspec.msgpack.encode(self.layers, order="sorted")
        ).hexdigest()[:16]
        self._entries: dict[tuple[str, str], list[list[ModelEntry]]] = {}
        self._exact: dict[str, tuple[str, str]] = {}
        self._rows: dict[tuple[str, str], tuple[PriceRow, ...]] = {}
        self._found: dict[str, Identity | None] = {}
        self._periods: dict[tuple[str, str, str, str, int], _Periods] = {}
        for number, layer in enumerate(self.layers):
            self._index(number, layer)
        self._aliases = {
            alias: target for layer in self.layers for alias, target in layer.aliases.items()
        }
        self._neutral: dict[str, set[str]] = defaultdict(set)
        for layer in self.layers:
            for neutral in layer.neutral_tiers:
                self._neutral[neutral.provider].update(neutral.tiers)

    def _index(self, number: int, layer: Layer) -> None:
        for entry in layer.models:
            key = (entry.provider, entry.name)
            known = self._entries.get(key)
            if known is None:
                known = self._entries[key] = [[] for _ in self.layers]
            known[number].append(entry)
            for name in (entry.name, *entry.aliases):
                other = self._exact.get(name)
                if other is None or _rank(key) < _rank(other):
                    self._exact[name] = key

    def models(self) -> list[tuple[str, str]]:
        """Provider and canonical name of every model, sorted."""
        return sorted(self._entries)

    def rows(self, provider: str, name: str) -> tuple[PriceRow, ...]:
        """Every price row of a model, without overlaps; empty when there is no such model."""
        key = (provider, name)
        known = self._rows.get(key)
        if known is None:
            entries = self._entries.get(key)
            known = (
                merged(provider, name, tuple(zip(self.layers, entries, strict=True)))
                if entries
                else ()
            )
            self._rows[key] = known
        return known

    def find(self, model: str) -> Identity | None:
        """The model that a recorded id means, or None when the book does not have it."""
        try:
            return self._found[model]
        except KeyError:
            found = self._found[model] = self._find(model)
            return found

    def card(self, charge: Charge) -> RateCard:
        """The rates of a request, or of a rollup row: its amounts play no part."""
        key = (charge.model, charge.speed, charge.tier, charge.geo, charge.context_class)
        periods = self._periods.get(key)
        if periods is None:
            periods = self._periods[key] = self._priced_periods(*key)
        if not charge.at:
            return periods.timeless
        if len(periods.cards) == 1:
            return periods.cards[0]
        return periods.cards[bisect_right(periods.starts, utc_day(charge.at)) - 1]

    def _find(self, model: str) -> Identity | None:
        text = self._aliases.get(model.strip().lower(), model)
        exact = self._exact.get(text.strip().lower())
        identity = identify(text)
        if (identity.provider, identity.name) in self._entries:
            return identity
        if exact is None:
            exact = self._exact.get(identity.name)
            if exact is not None and identity.provider not in ("", exact[0]):
                return None  # a cloud's own price, which the book does not have
        return Identity(*exact, identity.scope, identity.variant) if exact is not None else None

    def _priced_periods(
        self, model: str, speed: str, tier: str, geo: str, context_class: int
    ) -> _Periods:
        identity = self.find(model)
        if identity is None:
            reason = Unpriced.UNKNOWN_MODEL if model.strip() else Unpriced.NO_MODEL
            return _nothing("", model, "", reason)
        rows = self.rows(identity.provider, identity.name)
        anyhow = any(row.variant == ANY_VARIANT for row in rows)
        variant = self._variant(identity, speed, tier)
        if variant not in (STANDARD, *(row.variant for row in rows)) and not anyhow:
            return _nothing(identity.provider, identity.name, variant, Unpriced.UNKNOWN_VARIANT)
        factors = self._factors(identity, geo)
        if factors is None and not anyhow:
            return _nothing(identity.provider, identity.name, variant, Unpriced.UNKNOWN_GEO)
        chosen = [row for row in rows if _applies(row, variant, context_class)]
        starts = sorted(
            {"", *(r.effective_from for r in chosen), *(r.effective_until for r in chosen)}
        )
        cards = [_card(identity, variant, chosen, factors or (), day) for day in starts]
        timeless = cards[0] if len(cards) == 1 else _timeless(cards)
        return _Periods(starts, cards, timeless)

    def _variant(self, identity: Identity, speed: str, tier: str) -> str:
        """How the request was served, as rows name it; several at once are joined, and no row has that name."""
        neutral = self._neutral[ALL] | self._neutral[identity.provider]
        parts = {
            identity.variant,
            "" if speed in ("", "standard") else speed,
            "" if tier in neutral else tier,
        }
        return "+".join(sorted(parts - {""}))

    def _factors(self, identity: Identity, geo: str) -> tuple[AppliedFactor, ...] | None:
        """The multipliers of a request; None when the geography is unknown."""
        known = geo == ""
        applied = []
        for layer in self.layers:
            for rule in layer.multipliers:
                if geo in rule.geos and rule.provider in (ALL, identity.provider):
                    known = True  # also for models that the rule excludes: they are billed alike everywhere
                if not rule.selects(identity.provider, identity.name):
                    continue
                if (rule.geos and geo not in rule.geos) or (
                    rule.scopes and identity.scope not in rule.scopes
                ):
                    continue
                factor = factor_of(rule.factor)
                if factor != _UNIT:
                    what = f"inference_geo {geo}" if rule.geos else rule.reason
                    applied.append(AppliedFactor(f"{what} ({layer.provenance})", factor))
        return tuple(applied) if known else None


def _rank(key: tuple[str, str]) -> int:
    return _PROVIDER_ORDER.get(key[0], 0)


def _applies(row: PriceRow, variant: str, context_class: int) -> bool:
    if (
        row.bucket == WEB_SEARCH
    ):  # no discount, no surcharge: ten dollars a thousand, however served
        return row.variant in (STANDARD, ANY_VARIANT)
    return row.variant in (variant, ANY_VARIANT) and row.tier_above <= context_class


def _card(
    identity: Identity,
    variant: str,
    rows: Sequence[PriceRow],
    factors: tuple[AppliedFactor, ...],
    day: str,
) -> RateCard:
    found: list[PriceRow | None] = []
    for bucket in BILLED:
        holding = [row for row in rows if row.bucket == bucket and row.holds_on(day)]
        found.append(
            max(holding, key=lambda row: (row.variant != ANY_VARIANT, row.tier_above), default=None)
        )
    missing = None
    if not all(found):
        gone = {row.bucket for row in rows} - {row.bucket for row in found if row}
        missing = Unpriced.NO_PERIOD if gone else Unpriced.NO_RATE
    pico = tuple(None if row is None else _rate(row, factors) for row in found)
    return RateCard(identity.provider, identity.name, variant, tuple(found), factors, pico, missing)


def _rate(row: PriceRow, factors: tuple[AppliedFactor, ...]) -> int:
    """The rate per unit after all factors, rounded once: so the sum over requests is exact."""
    if row.bucket == WEB_SEARCH or not factors:
        return row.pico_usd
    numerator, denominator = row.pico_usd, 1
    for one in factors:
        numerator *= one.factor.numerator
        denominator *= one.factor.denominator
    return divide(numerator, denominator)


def _timeless(cards: list[RateCard]) -> RateCard:
    """What holds at every time; a rate that changed is missing."""
    first = cards[0]
    pico = tuple(
        rate if all(card.pico[place] == rate for card in cards) else None
        for place, rate in enumerate(first.pico)
    )
    rows = tuple(
        row if rate is not None else None for row, rate in zip(first.rows, pico, strict=True)
    )
    return RateCard(
        first.provider, first.model, first.variant, rows, first.factors, pico, Unpriced.NO_TIME
    )


def _nothing(provider: str, model: str, variant: str, reason: Unpriced) -> _Periods:
    empty: tuple[None, ...] = (None,) * len(BILLED)
    card = RateCard(provider, model, variant, empty, (), empty, reason)
    return _Periods([""], [card], card)
