"""Segments around compactions, and what filling the cache again cost."""

from tests.unit.cost.making import BOOK, at, tokens

from stemma.derive.cost.compaction import Boundary, compactions
from stemma.derive.cost.price import added, price, total

DAY = "2026-11-03T10:0"
BEFORE = tokens("claude-opus-5", 5, 100, 1000, 0, 150_000, on=DAY + "0:00")
SYNTHETIC = tokens("<synthetic>", on=DAY + "1:30")
AFTER = tokens("claude-opus-5", 10, 100, 0, 20_000, 5_000, on=DAY + "2:00")
LATER = tokens("claude-opus-5", 10, 100, 300, 0, 25_000, on=DAY + "3:00")
BOUNDARY = Boundary(at(DAY + "1:00"), "auto", 155_000)


def test_a_boundary_shows_tokens_before_and_after_and_what_rebuilding_cost() -> None:
    """The client's own message between them is no response."""
    result = compactions([LATER, AFTER, BEFORE, SYNTHETIC], [BOUNDARY], BOOK)
    (one,) = result.compactions
    assert (one.tokens_before, one.tokens_after) == (151_005, 25_010)
    assert (one.rebuild_tokens, one.rebuild_pico) == (20_000, 20_000 * 10_000_000)
    assert (result.rebuild_pico, result.unknown_rebuilds) == (one.rebuild_pico, 0)
    assert [segment.cost.requests for segment in result.segments] == [1, 3]


def test_segments_add_up_to_the_agent() -> None:
    """Every request is in exactly one, one at the very time of a boundary in the later."""
    ones = [BEFORE, AFTER, LATER, tokens("claude-nimbus-9", 7, on=DAY + "1:00")]
    boundaries = [BOUNDARY, Boundary(at(DAY + "2:30"), "manual")]
    result = compactions(ones, boundaries, BOOK)
    assert added(segment.cost for segment in result.segments) == total(
        price(one, BOOK) for one in ones
    )
    assert [segment.cost.requests for segment in result.segments] == [1, 2, 1]


def test_what_nobody_recorded_is_unknown() -> None:
    """No response after the boundary; none before it, but for what the record says itself."""
    alone = compactions([], [BOUNDARY], BOOK)
    (one,) = alone.compactions
    assert (one.tokens_before, one.tokens_after, one.rebuild_tokens, one.rebuild_pico) == (
        155_000,
        -1,
        -1,
        -1,
    )
    assert alone.unknown_rebuilds == 1
    unpriced = tokens("claude-nimbus-9", 1, 1, 50, on=DAY + "2:00")
    (two,) = compactions([BEFORE, unpriced], [BOUNDARY], BOOK).compactions
    assert (two.rebuild_tokens, two.rebuild_pico, two.unpriced_tokens) == (50, -1, 50)


def test_without_a_boundary_there_is_one_segment() -> None:
    """A session that never compacted."""
    result = compactions([BEFORE], [], BOOK)
    assert [segment.cost.requests for segment in result.segments] == [1]
    assert result.compactions == ()
