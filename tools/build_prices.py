"""Write the shipped price catalog from the package genai-prices. For maintainers; reports never run it.

    python tools/build_prices.py            # writes src/stemma/derive/cost/tables/catalog.json
    python tools/build_prices.py --check    # fails when the file is not what would be written

It takes the Claude models of anthropic, aws and google, and the general models of openai and google; audio, images and
time-of-day prices are left out. A model whose id is read as another version, or two entries for one model with
different prices, stop it: a person decides.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import sys
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from stemma.derive.cost.check import findings
from stemma.derive.cost.identify import ANTHROPIC, AWS, GOOGLE, identify, is_claude
from stemma.derive.cost.layer import Layer, ModelEntry, Rates
from stemma.model.money import STANDARD, pico_per_search, pico_per_token

Upstream = (
    Any  # what genai-prices gives; it is imported by name, so that nothing else needs it installed
)
PACKAGE = "genai-prices"
CATALOG = Path(__file__).parents[1] / "src/stemma/derive/cost/tables/catalog.json"
OPENAI = "openai"
FIELDS = {
    "input_mtok": "input",
    "output_mtok": "output",
    "cache_write_mtok": "cache_write_5m",
    "cache_write_1h_mtok": "cache_write_1h",
    "cache_read_mtok": "cache_read",
}
SEARCHES = "web_searches_kcount"
FIRST_GENERATIONS = {
    "claude-2": (
        "claude-2-0",
        "claude-2-1",
        "claude-2.0",
        "claude-2.1",
        "claude-v2",
        "claude-v2:1",
    ),
    "claude-v1": (),
}
"""Ids from before version numbers had their present form."""


class Period(NamedTuple):
    """Upstream prices in force for a while."""

    since: str
    until: str
    prices: Upstream


def main() -> int:
    """Write or check the catalog; the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="only compare")
    only_check = parser.parse_args().check
    try:
        snapshot = importlib.import_module("genai_prices.data_snapshot").get_snapshot()
    except ModuleNotFoundError:
        sys.exit(f"{PACKAGE} is not installed: it is in the dependency group dev")
    layer = Layer(
        source=PACKAGE,
        version=importlib.metadata.version(PACKAGE),
        models=tuple(entries({provider.id: provider for provider in snapshot.providers})),
    )
    text = render(layer)
    if only_check:
        return int(CATALOG.read_text("utf-8") != text)
    CATALOG.write_text(text, "utf-8")
    for finding in findings([layer]):
        print(f"{finding}")
    print(f"{CATALOG}: {len(layer.models)} models, {len(text)} bytes")
    return 0


def render(layer: Layer) -> str:
    """JSON with one line for each model, so that a difference can be read."""
    head = msgspec.json.encode(msgspec.structs.replace(layer, models=())).decode().removesuffix("}")
    lines = ",\n".join(msgspec.json.encode(model).decode() for model in layer.models)
    return f'{head},"models":[\n{lines}\n]}}\n'


def entries(providers: dict[str, Upstream]) -> list[ModelEntry]:
    """Every model that is taken, sorted; one entry each."""
    found: dict[tuple[str, str], ModelEntry] = {}
    for entry in (*_claude(providers), *_general(providers)):
        known = found.setdefault((entry.provider, entry.name), entry)
        if known.rates != entry.rates:
            sys.exit(
                f"{entry.provider} {entry.name} has two prices: {known.rates} and {entry.rates}"
            )
    return [found[key] for key in sorted(found)]


def _claude(providers: dict[str, Upstream]) -> Iterator[ModelEntry]:
    for model in providers[ANTHROPIC].models:
        if model.id in FIRST_GENERATIONS:
            yield ModelEntry(
                provider=ANTHROPIC,
                name=model.id,
                aliases=FIRST_GENERATIONS[model.id],
                rates=rates(model),
            )
        else:
            yield ModelEntry(
                provider=ANTHROPIC, name=_name(ANTHROPIC, model.id), rates=rates(model)
            )
    for provider in (AWS, GOOGLE):
        for model in providers[provider].models:
            if "claude" not in model.id:
                continue
            for name in _names(provider, model):
                yield ModelEntry(provider=provider, name=name, rates=rates(model))


def _names(provider: str, model: Upstream) -> list[str]:
    """The canonical name of a cloud's entry, and of others that it names as well (Opus 4.1 with 4.0 at Google)."""
    names = {_name(provider, model.id)}
    for clause in getattr(model.match, "or_", (model.match,)):
        (text,) = vars(clause).values()
        if provider == GOOGLE and is_claude(text.rstrip("@")):
            names.add(identify(text.rstrip("@")).name)
    return sorted(names)


def _name(provider: str, model_id: str) -> str:
    if not is_claude(model_id):
        sys.exit(f"{provider} {model_id}: no rule reads this id; see identify.py")
    return identify(model_id).name


def _general(providers: dict[str, Upstream]) -> Iterator[ModelEntry]:
    for provider in (OPENAI, GOOGLE):
        for model in providers[provider].models:
            stated = rates(model)
            buckets = {bucket for row in stated for bucket, _ in row.stated()}
            if "claude" in model.id or not {"input", "output"} <= buckets or _by_time_of_day(model):
                continue
            name = model.id.lower()  # dated editions have prices of their own
            others = {text.lower() for text in _equals(model.match)} - {name}
            yield ModelEntry(
                provider=provider, name=name, aliases=tuple(sorted(others)), rates=stated
            )


def _equals(clause: Upstream) -> Iterator[str]:
    if hasattr(clause, "equals"):
        yield clause.equals
    for inner in getattr(clause, "or_", ()):
        yield from _equals(inner)


def _by_time_of_day(model: Upstream) -> bool:
    parts = (*_conditional(model.prices), *(model.price_variants or ()))
    return any(hasattr(part.constraint, "start_time") for part in parts)


def _conditional(prices: Upstream) -> list[Upstream]:
    return prices if isinstance(prices, list) else []


def rates(model: Upstream) -> tuple[Rates, ...]:
    """Rows of a model, standard first."""
    standard = [row for period in _periods(model.prices) for row in _rows(period, STANDARD)]
    variants = [
        row
        for variant in model.price_variants or ()
        if (name := _variant(variant.when)) != STANDARD
        for row in _rows(Period(_start(variant.constraint), "", variant.prices), name)
    ]
    return (*standard, *variants)


def _variant(when: dict[str, str]) -> str:
    """Name of a variant: what was served; OpenAI's tier ``default`` is the standard one."""
    return "+".join(sorted(value for value in when.values() if value != "default"))


def _periods(prices: Upstream) -> list[Period]:
    """Upstream takes the last price whose start has come, so each ends where the next one starts."""
    listed = _conditional(prices)
    if not listed:
        return [Period("", "", prices)]
    starts = [_start(part.constraint) for part in listed]
    if starts != sorted(set(starts)):
        sys.exit(f"periods out of order: {starts}")
    return [
        Period(since, until, part.prices)
        for (since, until), part in zip(pairwise([*starts, ""]), listed, strict=True)
    ]


def _start(constraint: Upstream) -> str:
    return (
        ""
        if constraint is None or not hasattr(constraint, "start_date")
        else constraint.start_date.isoformat()
    )


def _rows(period: Period, variant: str) -> Iterator[Rates]:
    """One row for the base and one for each threshold."""
    tiers: dict[int, dict[str, int]] = {0: {}}
    for field, price in vars(period.prices).items():
        bucket = FIELDS.get(field)
        if (
            field == SEARCHES
            and price is not None
            and variant == STANDARD
            and not hasattr(price, "tiers")
        ):
            tiers[0]["web_search"] = pico_per_search(price)
        if bucket is None or price is None:
            continue
        for above, amount in _tiers(price):
            tiers.setdefault(above, {})[bucket] = pico_per_token(amount)
    for above, stated in sorted(tiers.items()):
        if stated:
            period_of = Rates(since=period.since, until=period.until, above=above, variant=variant)
            yield period_of.stating(stated)


def _tiers(price: Upstream) -> Iterable[tuple[int, Decimal]]:
    if not hasattr(price, "tiers"):
        return [(0, price)]
    return [(0, price.base), *((tier.start, tier.price) for tier in price.tiers)]


if __name__ == "__main__":
    sys.exit(main())
