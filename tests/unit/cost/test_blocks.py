"""Five-hour blocks."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.cost.making import BOOK, at, tokens

from stemma.derive.cost.blocks import BLOCK, HOUR, Gap, Projection, blocks
from stemma.derive.cost.charge import Charge, rolled_up
from stemma.derive.cost.price import added, price, total

DAY = "2026-11-03T"


def of(*times: str, now: str) -> list[tuple[int, int, int]]:
    """Start and end hour on the day, and requests, of the blocks of requests at some times."""
    prices = [price(tokens("claude-opus-5", 1000, on=DAY + time), BOOK) for time in times]
    zero = at(DAY + "00:00")
    return [
        ((one.start - zero) // HOUR, (one.end - zero) // HOUR, one.cost.requests)
        for one in blocks(prices, at(DAY + now))
    ]


def test_a_block_begins_at_the_full_hour_and_lasts_five() -> None:
    """A request at its very end begins the next."""
    assert of("09:59", "10:00", "13:59", now="20:00") == [(9, 14, 3)]
    assert of("09:59", "13:59:59", "14:00", now="20:00") == [(9, 14, 2), (14, 19, 1)]
    assert of(now="20:00") == []


def test_time_without_a_block_is_a_gap() -> None:
    """None where one follows the other at once."""
    prices = [
        price(tokens("claude-opus-5", 1, on=DAY + time), BOOK)
        for time in ("01:30", "06:00", "15:10")
    ]
    gaps = [one.gap for one in blocks(prices, at(DAY + "23:00"))]
    assert gaps == [None, None, Gap(at(DAY + "11:00"), at(DAY + "15:00"))]


def test_an_active_block_is_projected_and_says_that_it_is_an_estimate() -> None:
    """An hour's use, four hours to go."""
    prices = [price(tokens("claude-opus-5", 60_000, on=DAY + "10:00"), BOOK)]
    (one,) = blocks(prices, at(DAY + "11:00"))
    assert one.active
    assert one.projection == Projection(1000, 300_000_000_000, 300_000, 1_500_000_000_000, True)
    (over,) = blocks(prices, at(DAY + "15:00"))
    assert (over.active, over.projection) == (False, None)
    (begun,) = blocks(prices, at(DAY + "10:00"))
    assert (begun.active, begun.projection) == (True, None)


@given(st.lists(st.integers(0, 40 * 3600), max_size=40))
def test_rolled_up_requests_fall_into_the_same_blocks(seconds: list[int]) -> None:
    """And blocks add up to the whole, never overlap, and hold their requests."""
    start = at(DAY + "00:00")
    ones = [Charge("claude-opus-5", start + second * 1_000_000, 10) for second in seconds]
    prices = [price(one, BOOK) for one in ones]
    now = start + 50 * HOUR
    singly = blocks(prices, now)
    rolled = blocks((price(one, BOOK) for one in rolled_up(ones)), now)
    assert [(one.start, one.cost) for one in rolled] == [(one.start, one.cost) for one in singly]
    assert added(one.cost for one in singly) == total(prices)
    assert all(
        one.start <= one.first_at <= one.last_at < one.end == one.start + BLOCK for one in singly
    )
    assert all(a.end <= b.start for a, b in pairwise(singly))
