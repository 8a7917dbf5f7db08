"""Laws of money: groups, rollups, receipts and overrides agree to the last pico-dollar."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.cost.making import BOOK, at, with_prices

from stemma.derive.cost.charge import Charge, charge_of_amounts, context_class, rolled_up
from stemma.derive.cost.price import Priced, added, grouped, price, total
from stemma.derive.cost.receipt import receipt, recomputed
from stemma.model.money import PICO_PER_MICRO

MODELS = [
    "claude-opus-4-6", "claude-opus-4-7", "claude-opus-4-8[1m]", "claude-opus-5-5", "claude-sonnet-4-5-20250929",
    "claude-sonnet-4-6", "claude-haiku-5-5", "claude-3-haiku", "claude-fable-5-2", "claude-2", "<synthetic>",
    "claude-nimbus-9", "", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "gpt-5.5", "mine",
]  # fmt: skip
OTHER = with_prices(
    """
    [models."claude-nimbus-9"]
    input = 0.000003
    output = 7
    [models."claude-opus-4-8"]
    cache_read = 0.123457
    from = 2026-06-01
    multiplier = 0.333
    [models.mine]
    free = true
    [[multipliers]]
    provider = "aws"
    factor = 0.87
    """
)


@st.composite
def charges(draw: st.DrawFn) -> Charge:
    """Any request; sizes crowd around the thresholds, times around the days on which prices changed."""
    size = st.one_of(
        st.integers(0, 2_000), st.integers(99_990, 100_010), st.integers(199_990, 200_010), st.integers(0, 10**7)
    )  # fmt: skip
    amounts = [draw(size) for _ in range(5)]
    day = draw(
        st.sampled_from(["2026-02-20", "2026-03-12", "2026-03-13", "2026-06-30", "2026-07-24", "2026-10-14"])
    )  # fmt: skip
    moment = draw(
        st.one_of(st.just(0), st.integers(-(10**9), 10**12).map(lambda shift: at(day) + shift))
    )
    speed, tier = (
        draw(st.sampled_from(["", "standard", "fast"])),
        draw(st.sampled_from(["", "standard", "batch"])),
    )
    geo = draw(st.sampled_from(["", "not_available", "us", "moon"]))
    prompt = amounts[0] + sum(amounts[2:])
    like = Charge(
        draw(st.sampled_from(MODELS)), moment, speed=speed, tier=tier, geo=geo, context_class=context_class(prompt)
    )  # fmt: skip
    return charge_of_amounts(like, [*amounts, draw(st.integers(0, 9))])


KEYS: list[Callable[[Priced], Hashable]] = [
    lambda one: one.charge.model,
    lambda one: one.charge.at // 86_400_000_000,
    lambda one: (one.charge.speed, one.charge.tier),
    lambda one: one.charge.context_class,
    lambda one: one.card.provider,
    lambda one: one.unpriced_reason,
    lambda one: one.charge.output % 7,
]


@given(st.lists(charges(), max_size=30))
def test_a_rollup_costs_what_its_requests_cost(ones: list[Charge]) -> None:
    """Totals, buckets and everything unpriced: for any mixture."""
    for book in (BOOK, OTHER):
        singly = total(price(one, book) for one in ones)
        assert total(price(one, book) for one in rolled_up(ones)) == singly


@given(st.lists(charges(), max_size=30), st.sampled_from(range(len(KEYS))))
def test_groups_add_up_to_the_whole(ones: list[Charge], number: int) -> None:
    """Whatever they are grouped by: nothing is rounded before the end."""
    prices = [price(one, OTHER) for one in ones]
    whole, groups = total(prices), grouped((KEYS[number](one), one) for one in prices)
    assert added(groups.values()) == whole
    assert sum(group.total for group in groups.values()) == whole.total


@given(st.lists(charges(), max_size=30))
def test_the_order_of_requests_does_not_matter(ones: list[Charge]) -> None:
    """A sum is a sum."""
    assert total(price(one, BOOK) for one in ones) == total(
        price(one, BOOK) for one in reversed(ones)
    )
    assert rolled_up(ones) == rolled_up(reversed(ones))


@given(charges())
def test_every_token_is_priced_or_counted_as_unpriced(one: Charge) -> None:
    """None is lost between the two."""
    for book in (BOOK, OTHER):
        result = price(one, book)
        without = [
            amount
            for amount, rate in zip(one.amounts, result.card.pico, strict=True)
            if rate is None
        ]
        assert sum(without) == result.unpriced_tokens + result.unpriced_searches
        assert bool(sum(without)) == bool(result.unpriced_reason)
        assert result.total == sum(result.pico) >= 0


@given(st.lists(charges(), max_size=30))
def test_a_receipt_recomputes_to_the_figure_shown(ones: list[Charge]) -> None:
    """From its lines alone, also by day and by rollup."""
    for book in (BOOK, OTHER):
        prices = [price(one, book) for one in ones]
        bill = receipt(prices, version=book.version, digest=book.digest)
        whole = total(prices)
        assert bill.pico == whole.total
        assert bill.micro_usd == whole.micro_usd == recomputed(bill)
        assert bill.micro_usd * PICO_PER_MICRO == bill.pico + bill.rounding
        assert (
            sum(line.amount for line in bill.unpriced)
            == whole.unpriced_tokens + whole.unpriced_searches
        )
        assert bill.priced_requests + bill.unpriced_requests == whole.requests
        rolled = receipt(
            (price(one, book) for one in rolled_up(ones)), version=book.version, digest=book.digest
        )
        assert rolled.lines == bill.lines


@given(st.lists(charges(), min_size=1, max_size=10), st.integers(1, 50))
def test_a_price_is_linear_in_tokens(ones: list[Charge], times: int) -> None:
    """So many alike cost so many times as much, at any rate and factor."""
    for book in (BOOK, OTHER):
        once = total(price(one, book) for one in ones)
        assert total(price(one, book) for one in ones * times).total == once.total * times


@pytest.mark.parametrize(
    ("field", "place"),
    [("input", 0), ("output", 1), ("cache_write_5m", 2), ("cache_write_1h", 3), ("cache_read", 4)],
)
@given(one=charges(), usd=st.integers(0, 10_000))
def test_an_override_changes_the_field_it_names_and_nothing_else(
    field: str, place: int, one: Charge, usd: int
) -> None:
    """Fault B58: everywhere alike, in every tier and period of the standard variant."""
    book = with_prices(f'[models."claude-sonnet-4-6"]\n{field} = {usd}')
    before, after = price(one, BOOK), price(one, book)
    found = BOOK.find(one.model)
    touched = found is not None and found.name == "claude-sonnet-4-6" and before.card.variant == ""
    for number, (old, new) in enumerate(zip(before.card.pico, after.card.pico, strict=True)):
        if touched and number == place and before.card.missing is None:
            factor = 11 if one.geo == "us" else 10
            assert new == usd * 1_000_000 * factor // 10
        elif not (touched and number == place):
            assert new == old or one.at == 0
