"""Unites what layers state of one model into rows that never overlap: later layers win, field by field (fault B58)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from stemma.derive.cost.layer import DerivedRates, Factor, Layer, ModelEntry, factor_of
from stemma.model.money import ANY_VARIANT, BILLED, STANDARD, WEB_SEARCH, PriceRow, divide

FOREVER = "9999-12-31"
_TOKEN_BUCKETS = tuple(bucket for bucket in BILLED if bucket != WEB_SEARCH)


def merged(
    provider: str, name: str, layers: Sequence[tuple[Layer, Sequence[ModelEntry]]]
) -> tuple[PriceRow, ...]:
    """The rows of one model.

    Args:
        provider: Who bills.
        name: Its canonical name.
        layers: Layers, weakest first, each with its entries for the model.
    """
    rows: list[PriceRow] = []
    for number, (layer, entries) in enumerate(layers):
        for entry in entries:
            rows = _stated(rows, entry, layer)
        if rows:
            for lower, _ in layers[: number + 1]:
                for rule in lower.derived:
                    if rule.selects(provider, name) and not (rule.replaces and lower is not layer):
                        rows = _derived(rows, rule, lower)
    return tuple(sorted(rows))


def without(row: PriceRow, since: str, until: str) -> list[PriceRow]:
    """A row without a period: none, one or two rows."""
    end, stop = row.effective_until or FOREVER, until or FOREVER
    if stop <= row.effective_from or since >= end:
        return [row]
    kept = []
    if row.effective_from < since:
        kept.append(replace(row, effective_until=since))
    if stop < end:
        kept.append(replace(row, effective_from=stop))
    return kept


def _stated(rows: list[PriceRow], entry: ModelEntry, layer: Layer) -> list[PriceRow]:
    for rates in entry.rates:
        for bucket, pico in rates.stated():
            kept: list[PriceRow] = []
            for row in rows:
                replaced = (
                    row.bucket == bucket
                    and (rates.flat or row.tier_above == rates.above)
                    and rates.variant in (row.variant, ANY_VARIANT)
                )
                kept.extend(without(row, rates.since, rates.until) if replaced else (row,))
            kept.append(
                PriceRow(entry.provider, entry.name, bucket, rates.variant, rates.above, rates.since, rates.until,
                         pico, layer.provenance)
            )  # fmt: skip
            rows = kept
    return rows


def _derived(rows: list[PriceRow], rule: DerivedRates, layer: Layer) -> list[PriceRow]:
    if rule.pico_usd >= 0:
        first = rows[0]
        made = [
            PriceRow(first.provider, first.model, rule.bucket, rule.variant, 0, rule.since, rule.until, rule.pico_usd,
                     layer.provenance)
        ]  # fmt: skip
    else:
        made = [row for bucket in _targets(rule) for row in _multiples(rows, rule, bucket, layer)]
    if rule.replaces:
        for new in made:
            rows = [kept for row in rows for kept in _yielding(row, new)]
    else:
        made = [piece for new in made for piece in _gaps(new, rows)]
    return rows + made


def _targets(rule: DerivedRates) -> tuple[str, ...]:
    return (rule.bucket,) if rule.bucket else _TOKEN_BUCKETS


def _multiples(
    rows: Iterable[PriceRow], rule: DerivedRates, bucket: str, layer: Layer
) -> list[PriceRow]:
    factor = factor_of(rule.factor)
    made = []
    for row in rows:
        if row.bucket != (rule.of or bucket) or row.variant != STANDARD:
            continue
        since = max(row.effective_from, rule.since)
        until = min(row.effective_until or FOREVER, rule.until or FOREVER)
        if since < until:
            made.append(
                replace(row, bucket=bucket, variant=rule.variant, effective_from=since,
                        effective_until="" if until == FOREVER else until, pico_usd=_times(row.pico_usd, factor),
                        provenance=f"{layer.provenance}: {factor} x {row.bucket} of {row.provenance}")
            )  # fmt: skip
    return made


def _times(pico: int, factor: Factor) -> int:
    return divide(pico * factor.numerator, factor.denominator)


def _yielding(row: PriceRow, new: PriceRow) -> list[PriceRow]:
    same = (row.bucket, row.variant, row.tier_above) == (new.bucket, new.variant, new.tier_above)
    return without(row, new.effective_from, new.effective_until) if same else [row]


def _gaps(new: PriceRow, rows: Iterable[PriceRow]) -> list[PriceRow]:
    """The parts of a row's period in which no stated row says the same."""
    pieces = [new]
    for row in rows:
        if row.bucket == new.bucket and (
            row.variant == ANY_VARIANT
            or (row.variant == new.variant and row.tier_above == new.tier_above)
        ):
            pieces = [
                kept
                for piece in pieces
                for kept in without(piece, row.effective_from, row.effective_until)
            ]
    return pieces
