"""The shipped price table states what ACCOUNTING section 3 found."""

import subprocess
import sys
from itertools import product

import pytest
from tests.unit.cost.making import BOOK, NOVEMBER, dollars, tokens

from stemma.derive.cost.check import check
from stemma.derive.cost.shipped import price_book
from stemma.model.money import BILLED, PriceRow

MILLION = 1_000_000
STANDARD = {
    "claude-fable-5-2": ("8", "40", "10", "16", "0.2"),
    "claude-mythos-5-2": ("8", "40", "10", "16", "0.2"),
    "claude-fable-5-1": ("10", "50", "12.5", "20", "0.25"),
    "claude-mythos-5-1": ("10", "50", "12.5", "20", "0.25"),
    "claude-fable-5": ("10", "50", "12.5", "20", "1"),
    "claude-mythos-5": ("10", "50", "12.5", "20", "1"),
    "claude-mythos-preview": ("10", "50", "12.5", "20", "1"),
    "claude-opus-5-5": ("4", "20", "5", "8", "0.2"),
    "claude-opus-5": ("5", "25", "6.25", "10", "0.5"),
    "claude-opus-4-8": ("5", "25", "6.25", "10", "0.5"),
    "claude-opus-4-7": ("5", "25", "6.25", "10", "0.5"),
    "claude-opus-4-6": ("5", "25", "6.25", "10", "0.5"),
    "claude-opus-4-5": ("5", "25", "6.25", "10", "0.5"),
    "claude-opus-4-1": ("15", "75", "18.75", "30", "1.5"),
    "claude-opus-4": ("15", "75", "18.75", "30", "1.5"),
    "claude-sonnet-5-5": ("2", "10", "2.5", "4", "0.1"),
    "claude-sonnet-5": ("2", "10", "2.5", "4", "0.2"),
    "claude-sonnet-4-6": ("3", "15", "3.75", "6", "0.3"),
    "claude-sonnet-4-5": ("3", "15", "3.75", "6", "0.3"),
    "claude-sonnet-4": ("3", "15", "3.75", "6", "0.3"),
    "claude-3-7-sonnet": ("3", "15", "3.75", "6", "0.3"),
    "claude-3-5-sonnet": ("3", "15", "3.75", "6", "0.3"),
    "claude-haiku-5-5": ("0.1", "0.5", "0.125", "0.2", "0.01"),
    "claude-haiku-4-5": ("1", "5", "1.25", "2", "0.1"),
    "claude-3-5-haiku": ("0.8", "4", "1", "1.6", "0.08"),
    "claude-3-haiku": ("0.25", "1.25", "0.3", "0.5", "0.03"),
    "claude-3-opus": ("15", "75", "18.75", "30", "1.5"),
}
FAST = {
    "claude-fable-5-2": ("16", "80", "20", "32", "0.4"),
    "claude-mythos-5-2": ("16", "80", "20", "32", "0.4"),
    "claude-opus-5-5": ("8", "40", "10", "16", "0.4"),
    "claude-opus-5": ("10", "50", "12.5", "20", "1"),
    "claude-opus-4-8": ("10", "50", "12.5", "20", "1"),
}
LONG = {
    ("claude-opus-4-6", "2026-03-12"): (200_000, ("10", "37.5", "12.5", "20", "1")),
    ("claude-sonnet-4-6", "2026-03-12"): (200_000, ("6", "22.5", "7.5", "12", "0.6")),
    ("claude-sonnet-4-5", NOVEMBER): (200_000, ("6", "22.5", "7.5", "12", "0.6")),
    ("claude-sonnet-4", "2025-10-01"): (200_000, ("6", "22.5", "7.5", "12", "0.6")),
    ("claude-haiku-5-5", NOVEMBER): (100_000, ("0.5", "2.5", "0.625", "1", "0.05")),
}


def rates(model: str, day: str, variant: str = "", above: int = 0) -> tuple[str, ...]:
    """Dollars per million tokens in the five buckets."""
    found = []
    for bucket in BILLED[:5]:
        rows = [row for row in _rows(model) if row.bucket == bucket and row.variant == variant]
        (row,) = (row for row in rows if row.tier_above == above and row.holds_on(day))
        found.append(f"{row.pico_usd / MILLION:g}")
    return tuple(found)


def _rows(model: str) -> tuple[PriceRow, ...]:
    found = BOOK.find(model)
    assert found is not None
    return BOOK.rows(found.provider, found.name)


@pytest.mark.parametrize("model", STANDARD)
def test_standard_rates(model: str) -> None:
    """Row by row as in the table."""
    assert rates(model, NOVEMBER) == STANDARD[model]


@pytest.mark.parametrize("model", FAST)
def test_fast_rates(model: str) -> None:
    """Cache rates are scaled as well (fault B42)."""
    assert rates(model, NOVEMBER, "fast") == FAST[model]


@pytest.mark.parametrize("model", STANDARD)
def test_batch_is_half_of_every_token_rate_at_all_times(model: str) -> None:
    """Also before 2026-10-14, when genai-prices begins to state it, and for retired models."""
    for day, place in product(("2025-01-01", "2026-10-13", "2026-10-14", NOVEMBER), range(5)):
        amounts = [0] * 5
        amounts[place] = 2_000
        half = dollars(tokens(model, *amounts, on=day, tier="batch"))
        assert float(half) * 2 == pytest.approx(float(dollars(tokens(model, *amounts, on=day))))


@pytest.mark.parametrize(("model", "day"), LONG)
def test_long_context_rates(model: str, day: str) -> None:
    """Above their threshold, whole requests cost more."""
    above, expected = LONG[model, day]
    assert rates(model, day, above=above) == expected


def test_web_search_is_a_cent_whatever_the_model_and_manner() -> None:
    """No batch discount, no surcharge for speed or geography."""
    for model in STANDARD:
        assert dollars(tokens(model, searches=3)) == "0.03"
    for manner in ({"tier": "batch"}, {"speed": "fast"}, {"geo": "us"}):
        assert dollars(tokens("claude-opus-4-8", searches=3, **manner)) == "0.03"


def test_the_shipped_table_breaks_no_invariant() -> None:
    """But for what the allow-list names."""
    assert check(BOOK) == []


def test_every_row_says_where_it_is_from() -> None:
    """And no two rows of one kind hold at once."""
    for provider, name in BOOK.models():
        rows = BOOK.rows(provider, name)
        assert all(row.provenance for row in rows)
        assert all(row.pico_usd >= 0 for row in rows)
        days = {day for row in rows for day in (row.effective_from, row.effective_until)}
        for day in days:
            kinds = [(r.bucket, r.variant, r.tier_above) for r in rows if r.holds_on(day)]
            assert len(kinds) == len(set(kinds)), (provider, name, day)


def test_every_entry_of_the_overlay_has_a_reason() -> None:
    """A price of ours is argued for."""
    overlay = BOOK.layers[1]
    parts = (
        overlay.models,
        overlay.derived,
        overlay.multipliers,
        overlay.neutral_tiers,
        overlay.allowed,
    )
    assert all(part.reason for group in parts for part in group)


def test_sonnet_5_kept_its_introductory_price() -> None:
    """There is no step in September (fault B55)."""
    for day in ("2026-08-31", "2026-09-01", NOVEMBER):
        assert dollars(tokens("claude-sonnet-5", MILLION, MILLION, on=day)) == "12"


def test_equal_books_have_equal_digests_and_others_do_not() -> None:
    """A cached figure can be kept by digest."""
    assert price_book().digest == BOOK.digest
    assert BOOK.version.startswith("genai-prices 0.2.3, stemma-overlay ")


def test_loading_needs_no_price_library_and_is_quick() -> None:
    """Less than 15 ms of CPU after the imports; the status line pays it at every render."""
    script = (
        "import sys, time\n"
        "from stemma.derive.cost.shipped import price_book\n"
        "began = time.process_time()\n"
        "price_book().find('claude-opus-4-8')\n"
        "taken = time.process_time() - began\n"
        "assert 'genai_prices' not in sys.modules and 'pydantic' not in sys.modules\n"
        "assert taken < 0.015, taken\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
