"""Money is whole numbers."""

from decimal import Decimal

import pytest

from stemma.model.money import divide, micro_usd, pico_of, pico_per_search, pico_per_token, usd


def test_rounding_is_half_up_and_symmetric() -> None:
    """A loss is rounded as a gain of the same size."""
    assert [divide(n, 10) for n in (0, 4, 5, 14, 15, 25)] == [0, 0, 1, 1, 2, 3]
    assert [divide(n, 10) for n in (-4, -5, -15)] == [0, -1, -2]
    assert micro_usd(499_999) == 0
    assert micro_usd(500_000) == 1


def test_a_published_price_is_a_whole_number_of_pico_dollars() -> None:
    """Five dollars a million tokens is five million pico-dollars a token; ten a thousand searches is a cent each."""
    assert pico_per_token("0.005") == 5_000
    assert pico_per_token(Decimal("6.25")) == 6_250_000
    assert pico_per_search(10) == 10_000_000_000
    assert usd(743_500_000_000) == Decimal("0.7435")


@pytest.mark.parametrize("price", ["-1", "0.0000001", "cheap", "NaN", "Infinity"])
def test_what_is_no_exact_price_is_refused(price: str) -> None:
    """Nothing is rounded on the way in."""
    with pytest.raises(ValueError, match=r"price|zero|finer"):
        pico_per_token(price)


def test_a_recorded_float_becomes_the_nearest_pico_dollar() -> None:
    """The client's sums of floats carry digits that mean nothing."""
    assert pico_of(0.051164999999999995) == 51_165_000_000
    assert pico_of(0) == 0
