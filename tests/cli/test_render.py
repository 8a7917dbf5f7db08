"""Text for terminals: numbers, lengths of time, cuts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from stemma.cli.render import (
    Column,
    Middle,
    clean,
    compact,
    cut,
    duration,
    joined,
    model,
    size,
    table,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "\u2013"), (0, "0"), (999, "999"), (9_999, "9,999"), (10_000, "10.0k"), (99_949, "99.9k"),
        (99_950, "100k"), (999_499, "999k"), (999_500, "1.00M"), (1_234_567, "1.23M"), (12_345_678, "12.3M"),
        (656_019_240, "656M"), (9_999_999_999, "10.0G"), (5_000_000_000_000_000, "5000T"),
    ],
)  # fmt: skip
def test_large_numbers_are_short(value: int | None, text: str) -> None:
    """Three digits and a unit; unknown is not 0."""
    assert compact(value) == text


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [
        (None, "\u2013"), (0, "0.0s"), (1_500_000, "1.5s"), (59_499_999, "59s"), (59_600_000, "1m00s"),
        (3_599_400_000, "59m59s"), (3_600_000_000, "1h00m"), (90_000_000_000, "1d01h"),
    ],
)  # fmt: skip
def test_lengths_of_time(microseconds: int | None, text: str) -> None:
    """The two largest units, rounded without overflow."""
    assert duration(microseconds) == text


def test_sizes_and_models() -> None:
    """What all models share is left out."""
    assert [size(value) for value in (0, 999, 1_000, 13_136_500)] == [
        "0 B",
        "999 B",
        "1.0 kB",
        "13.1 MB",
    ]
    assert model("claude-opus-4-5-20251101") == "opus-4-5"
    assert model("claude-3-5-haiku-20241022") == "3-5-haiku"
    assert model(None) == "\u2013"


TEXT = st.text(st.characters(codec="utf-8"), max_size=40)


@given(TEXT, st.integers(0, 30), st.sampled_from(["end", "middle"]))
def test_a_cut_text_fits(text: str, width: int, where: str) -> None:
    """Also of characters that take two columns or none."""
    found = cut(clean(text), width, where)  # type: ignore[arg-type]
    assert cell_len(found) <= width


def test_paths_are_cut_in_the_middle() -> None:
    """They tell most at their end."""
    assert cut("/home/ada/code/checkout/payment.py", 20, "middle") == "/home/…ut/payment.py"
    assert cut("a long title", 8) == "a long …"


@given(st.lists(st.tuples(TEXT, TEXT, st.integers(0, 10**9)), max_size=8), st.integers(40, 120))
def test_tables_fit_and_align(rows: list[tuple[str, str, int]], width: int) -> None:
    """Whatever the cells hold."""
    columns = [Column("A", least=5), Column("B", least=5), Column("N", right=True)]
    cells = [[clean(a), Middle(clean(b)), f"{n:,}"] for a, b, n in rows]
    lines = [line.plain for line in table(columns, cells, width)]
    assert all(cell_len(line) <= width for line in lines)
    assert len({cell_len(line) for line in lines}) == 1


@given(st.lists(TEXT.map(clean), max_size=8), st.integers(10, 60))
def test_joined_facts_fit(parts: list[str], width: int) -> None:
    """On as many lines as they need."""
    assert all(cell_len(line) <= width for line in joined(parts, width))
