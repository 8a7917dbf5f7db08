"""The catalog is made from the price package by a tool; this is the tool, on an excerpt and on the package itself."""

from __future__ import annotations

import importlib
import importlib.util
import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace as Upstream

import msgspec
import pytest
from tests.unit.cost.making import BOOK, priced, tokens
from tools import build_prices

from stemma.derive.cost.layer import Layer, Rates
from stemma.model.money import usd


def tiered(base: str, above: str) -> Upstream:
    """A price with a threshold at 200,000 tokens, in the package's form."""
    return Upstream(base=Decimal(base), tiers=[Upstream(start=200_000, price=Decimal(above))])


EXCERPT = Upstream(
    id="claude-opus-4-6",
    match=Upstream(or_=[Upstream(starts_with="claude-opus-4-6")]),
    prices=[
        Upstream(
            constraint=None,
            prices=Upstream(
                input_mtok=tiered("5", "10"),
                output_mtok=tiered("25", "37.5"),
                cache_write_mtok=tiered("6.25", "12.5"),
                cache_write_1h_mtok=tiered("10", "20"),
                cache_read_mtok=tiered("0.5", "1"),
                web_searches_kcount=Decimal(10),
            ),
        ),
        Upstream(
            constraint=Upstream(start_date=date(2026, 3, 13)),
            prices=Upstream(input_mtok=Decimal(5), output_mtok=Decimal(25), cache_read_mtok=None),
        ),
    ],
    price_variants=[
        Upstream(
            when={"processing": "batch"},
            constraint=Upstream(start_date=date(2026, 10, 14)),
            prices=Upstream(input_mtok=Decimal("2.5"), output_mtok=Decimal("12.5")),
        ),
        Upstream(
            when={"service_tier": "default"},
            constraint=None,
            prices=Upstream(input_mtok=Decimal(9)),
        ),
    ],
)


def test_periods_tiers_variants_and_the_one_hour_price_are_read() -> None:
    """Each under its own key: a tool that reads keys which do not exist finds nothing (fault B40)."""
    assert build_prices.rates(EXCERPT) == (
        Rates(
            until="2026-03-13", input=5_000_000, output=25_000_000, cache_write_5m=6_250_000,
            cache_write_1h=10_000_000, cache_read=500_000, web_search=10_000_000_000,
        ),
        Rates(
            until="2026-03-13", above=200_000, input=10_000_000, output=37_500_000, cache_write_5m=12_500_000,
            cache_write_1h=20_000_000, cache_read=1_000_000,
        ),
        Rates(since="2026-03-13", input=5_000_000, output=25_000_000),
        Rates(since="2026-10-14", variant="batch", input=2_500_000, output=12_500_000),
    )  # fmt: skip


def test_two_prices_for_one_model_stop_the_tool() -> None:
    """A person decides."""
    other = Upstream(**{**vars(EXCERPT), "id": "claude-4-6-opus", "price_variants": None})
    none = Upstream(models=[])
    providers = {
        "anthropic": Upstream(models=[EXCERPT, other]),
        "aws": none,
        "google": none,
        "openai": none,
    }
    with pytest.raises(SystemExit, match="claude-opus-4-6 has two prices"):
        build_prices.entries(providers)


def test_an_id_that_no_rule_reads_stops_the_tool() -> None:
    """It would be out of reach in the book."""
    odd = Upstream(**{**vars(EXCERPT), "id": "claude-next"})
    with pytest.raises(SystemExit, match="claude-next: no rule reads this id"):
        build_prices.entries({"anthropic": Upstream(models=[odd])})


def test_the_catalog_has_a_line_for_each_model() -> None:
    """So that a difference can be read."""
    text = build_prices.CATALOG.read_text("utf-8")
    models = text.count('{"provider":')
    assert text.count("\n") == models + 2


@pytest.mark.skipif(
    importlib.util.find_spec("genai_prices") is None, reason="genai-prices is not installed"
)
def test_the_catalog_is_what_the_package_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody edited it by hand."""
    monkeypatch.setattr("sys.argv", ["build_prices.py", "--check"])
    assert build_prices.main() == 0


def test_rendering_keeps_everything() -> None:
    """The file is the layer."""
    layer = msgspec.json.decode(build_prices.CATALOG.read_bytes(), type=Layer)
    assert build_prices.render(layer) == build_prices.CATALOG.read_text("utf-8")


@pytest.mark.skipif(
    importlib.util.find_spec("genai_prices") is None, reason="genai-prices is not installed"
)
def test_prices_from_the_package_alone_agree_with_its_own_arithmetic() -> None:
    """An oracle: random requests, wherever neither the overlay nor a refusal of ours is involved."""
    library = importlib.import_module("genai_prices")
    chance = random.Random(0)
    models = [entry.name for entry in BOOK.layers[0].models if entry.provider == "anthropic"]
    compared = 0
    for _ in range(400):
        sizes = [chance.choice([0, 7, 1234, 99_999, 100_001, 200_001]) for _ in range(5)]
        moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=chance.randrange(480_000))
        speed = chance.choice(["standard", "fast"])
        model = chance.choice(models)
        ours = priced(tokens(model, *sizes, on=moment.isoformat()[:19], speed=speed))
        if ours.unpriced_reason or any("overlay" in row.provenance for row in ours.rows):
            continue
        one, output, five, hour, read = sizes
        usage = library.Usage(
            input_tokens=one + five + hour + read, output_tokens=output, cache_write_tokens=five + hour,
            cache_write_5m_tokens=five, cache_write_1h_tokens=hour, cache_read_tokens=read,
        )  # fmt: skip
        theirs = library.calc_price(
            usage, model, provider_id="anthropic", genai_request_timestamp=moment, price_context={"speed": speed}
        )  # fmt: skip
        assert usd(ours.total) == theirs.total_price, (model, sizes, moment, speed)
        compared += 1
    assert compared > 150
