"""Ours against the client's bill: every difference has a cause."""

import pytest
from tests.unit.cost.making import BOOK, at, tokens

from stemma.derive.cost.charge import Charge
from stemma.derive.cost.price import price
from stemma.derive.cost.reconcile import TOLERANCE, Cause, ClientUsage, ModelBill, reconcile

NOW = at("2026-11-03")
ONE = tokens("claude-opus-5", 10, 100, 0, 1000, 5000)
TWO = tokens("claude-opus-5", 20, 200, 30)


def client(*charges: Charge, model: str = "claude-opus-5", extra: int = 0) -> ClientUsage:
    """A bill of exactly these requests, plus some pico-dollars."""
    amounts = tuple(sum(column) for column in zip(*(one.amounts for one in charges), strict=True))
    pico = sum(price(one, BOOK).total for one in charges)
    return ClientUsage(model, amounts, pico + extra)


def compared(
    ours: list[Charge], theirs: list[ClientUsage], inherited: tuple[Charge, ...] = ()
) -> ModelBill:
    """The one model's bills; the differences always add up."""
    (bill,) = reconcile(ours, theirs, BOOK, inherited, at=NOW)
    between = bill.client_pico - bill.ours.total
    assert abs(between - sum(one.pico for one in bill.differences)) <= TOLERANCE
    return bill


def causes(bill: ModelBill) -> list[Cause]:
    """Only why."""
    return [one.cause for one in bill.differences]


def test_equal_bills_have_no_difference() -> None:
    """Nor has a float's last digit."""
    assert causes(compared([ONE, TWO], [client(ONE, TWO, extra=TOLERANCE)])) == []
    assert causes(compared([ONE], [client(ONE, model="claude-opus-5[1m]")])) == []
    assert reconcile([tokens("<synthetic>")], [], BOOK, at=NOW) == []


def test_a_call_that_no_transcript_holds() -> None:
    """As a compaction's; also of a model that the session never used, and above a threshold."""
    bill = compared([ONE], [client(ONE, TWO)])
    assert causes(bill) == [Cause.NOT_RECORDED]
    assert bill.differences[0].amounts == TWO.amounts
    assert bill.differences[0].pico == price(TWO, BOOK).total
    assert causes(compared([], [client(TWO)])) == [Cause.NOT_RECORDED]
    long = tokens("claude-haiku-5-5", 100_001, 10)
    assert causes(compared([], [client(long, model="claude-haiku-5-5")])) == [Cause.NOT_RECORDED]


def test_the_same_tokens_at_another_rate() -> None:
    """The client does not know the surcharge for a geography (fault B52)."""
    here = tokens("claude-opus-5", 10_000, geo="us")
    bill = compared([here], [client(tokens("claude-opus-5", 10_000))])
    assert causes(bill) == [Cause.DIFFERENT_RATE]
    assert bill.differences[0].pico == -5_000_000_000


def test_both_at_once_are_told_apart() -> None:
    """What is missing is valued at our rates; the rest is the rate's."""
    bill = compared([ONE], [client(ONE, TWO, extra=10**10)])
    assert causes(bill) == [Cause.NOT_RECORDED, Cause.DIFFERENT_RATE]
    assert bill.differences[1].pico == 10**10


def test_a_fork_carries_its_origin_along() -> None:
    """The copied part is the origin's, and billed there."""
    bill = compared([TWO], [client(ONE, TWO)], inherited=(ONE,))
    assert causes(bill) == [Cause.COPIED_HISTORY]
    assert (
        causes(compared([TWO], [client(TWO)], inherited=(ONE,))) == []
    )  # this client did not carry it


def test_a_model_without_a_price() -> None:
    """The client knows it, we do not."""
    unknown = tokens("claude-nimbus-9", 10, 10)
    theirs = ClientUsage("claude-nimbus-9", unknown.amounts, 10**9)
    assert causes(compared([unknown], [theirs])) == [Cause.UNPRICED]
    assert causes(compared([], [theirs])) == [Cause.NOT_RECORDED, Cause.UNPRICED]


@pytest.mark.parametrize("theirs", [[client(ONE)], []])
def test_more_tokens_than_the_client_has_are_unexplained(theirs: list[ClientUsage]) -> None:
    """The closed list has no better cause; the caller leaves out what came after the bill."""
    bill = compared([ONE, TWO], theirs)
    assert causes(bill) == [Cause.UNKNOWN]
    assert not bill.explained
