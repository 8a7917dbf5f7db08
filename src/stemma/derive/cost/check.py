"""What must hold in every price table, and an explicit allow-list for what is right all the same (ACCOUNTING B54)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from msgspec.structs import replace

from stemma.derive.cost.book import PriceBook
from stemma.derive.cost.charge import BOUNDARIES
from stemma.derive.cost.layer import (
    ALL,
    Allowed,
    DerivedRates,
    Layer,
    ModelEntry,
    Multiplier,
    bare_name,
    factor_of,
)
from stemma.derive.cost.merge import merged, without
from stemma.model.money import ANY_VARIANT, STANDARD, WEB_SEARCH, PriceRow

CLAUDE = "claude-"
_OF_INPUT: dict[str, frozenset[Fraction]] = {
    "cache_write_1h": frozenset({Fraction(2)}),
    "cache_write_5m": frozenset({Fraction(5, 4)}),
    "cache_read": frozenset({Fraction(1, 10), Fraction(1, 20), Fraction(1, 40)}),
}
_OF_STANDARD = {"fast": Fraction(2), "batch": Fraction(1, 2)}


class Finding(NamedTuple):
    """A broken invariant.

    Attributes:
        invariant: ``cache-ratio``, ``variant-ratio``, ``missing-rate``, ``missing-tier``, ``boundary``, ``malformed``,
            ``dangling-alias``.
        provider: Who bills.
        model: Canonical name.
        bucket: For which bucket; empty: the model as a whole.
        detail: What is wrong, with numbers.
    """

    invariant: str
    provider: str
    model: str
    bucket: str
    detail: str

    def __str__(self) -> str:
        return f"{self.provider} {self.model} {self.bucket}: {self.invariant}: {self.detail}"


def findings(layers: Sequence[Layer]) -> list[Finding]:
    """Every broken invariant of some layers united, weakest first, that no allow-list names."""
    found = [finding for layer in layers for finding in _malformed(layer)]
    allowed = [entry for layer in layers for entry in layer.allowed]
    entries: dict[tuple[str, str], list[list[ModelEntry]]] = {}
    for number, layer in enumerate(layers):
        for entry in layer.models:
            key = (entry.provider, entry.name)
            entries.setdefault(key, [[] for _ in layers])[number].append(entry)
    for (provider, name), stated in sorted(entries.items()):
        rows = merged(provider, name, tuple(zip(layers, stated, strict=True)))
        found.extend(_of_model(rows))
    return [finding for finding in found if not any(_allows(entry, finding) for entry in allowed)]


def check(book: PriceBook) -> list[Finding]:
    """Every finding over the layers of a book, and aliases that lead nowhere."""
    found = findings(book.layers)
    for layer in book.layers:
        for alias, target in layer.aliases.items():
            if book.find(target) is None:
                found.append(
                    Finding("dangling-alias", layer.provenance, alias, "", f"{target} is no model")
                )
    return found


def _allows(entry: Allowed, finding: Finding) -> bool:
    return (
        entry.invariant == finding.invariant
        and entry.provider in (ALL, finding.provider)
        and entry.model in (ALL, finding.model, bare_name(finding.model))
        and entry.bucket in ("", finding.bucket)
    )


def _malformed(layer: Layer) -> Iterable[Finding]:
    """Factors that are no numbers; periods that end before they begin."""
    rules: list[DerivedRates | Multiplier] = [*layer.derived, *layer.multipliers]
    for rule in rules:
        try:
            factor_of(rule.factor)
        except ValueError as error:
            yield Finding("malformed", rule.provider, ", ".join(rule.models), "", str(error))
    for entry in layer.models:
        for rates in entry.rates:
            if rates.until and rates.until <= rates.since:
                detail = f"ends on {rates.until}, before it begins on {rates.since}"
                yield Finding("malformed", entry.provider, entry.name, "", detail)


def _of_model(rows: tuple[PriceRow, ...]) -> Iterable[Finding]:
    for row in rows:
        if row.tier_above and row.tier_above not in BOUNDARIES:
            detail = (
                f"{row.tier_above} is none of the prompt sizes {BOUNDARIES} that rollups tell apart"
            )
            yield _finding("boundary", row, detail)
        if row.variant == STANDARD and row.bucket == "input" and row.pico_usd:
            yield from _missing(row, rows)
        if not row.model.removeprefix("global.").removeprefix("regional.").startswith(CLAUDE):
            continue
        yield from _ratios(row, rows)


def _missing(row: PriceRow, rows: tuple[PriceRow, ...]) -> Iterable[Finding]:
    """A model that prices input prices output, and a tier of one is a tier of all (whole-request tiers)."""
    for bucket in ("output", *_OF_INPUT):
        others = [other for other in rows if other.bucket == bucket and other.variant == STANDARD]
        if not others and bucket == "output":
            yield _finding(
                "missing-rate", replace(row, bucket=bucket), "input has a price, output has none"
            )
        if others and not _covered(row, others):
            detail = f"input has a price above {row.tier_above} from {row.effective_from or 'the beginning'}"
            yield _finding("missing-tier", replace(row, bucket=bucket), detail)


def _ratios(row: PriceRow, rows: tuple[PriceRow, ...]) -> Iterable[Finding]:
    if row.variant == ANY_VARIANT or row.bucket == WEB_SEARCH:
        return
    for other in rows:
        if not _overlap(other, row) or not other.pico_usd:
            continue
        ratio = Fraction(row.pico_usd, other.pico_usd)
        beside_input = other.bucket == "input" and other.variant == row.variant
        if row.bucket in _OF_INPUT and beside_input and ratio not in _OF_INPUT[row.bucket]:
            yield _finding("cache-ratio", row, f"{float(ratio):g} x input")
        same = other.variant == STANDARD and other.bucket == row.bucket
        if row.variant in _OF_STANDARD and same and ratio != _OF_STANDARD[row.variant]:
            yield _finding("variant-ratio", row, f"{row.variant} is {float(ratio):g} x standard")


def _covered(row: PriceRow, others: Iterable[PriceRow]) -> bool:
    """Whether rows of the same tier hold all the time that a row does."""
    left = [row]
    for other in others:
        if other.tier_above == row.tier_above:
            left = [
                p
                for piece in left
                for p in without(piece, other.effective_from, other.effective_until)
            ]
    return not left


def _overlap(one: PriceRow, other: PriceRow) -> bool:
    """Whether two rows of one tier are ever in force together."""
    return (
        one.tier_above == other.tier_above
        and (not one.effective_until or other.effective_from < one.effective_until)
        and (not other.effective_until or one.effective_from < other.effective_until)
    )


def _finding(invariant: str, row: PriceRow, detail: str) -> Finding:
    return Finding(invariant, row.provider, row.model, row.bucket, detail)
