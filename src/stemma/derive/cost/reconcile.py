"""Ours against the client's own bill: every difference gets a cause from a closed list.

The client's ``cost-state`` record sums what its process was billed, by model, and goes on across a resume; a fork starts
from its origin's sum (FORMATS). Neither side is an oracle: the transcript lacks calls that were never written, and the
client's rates may be others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct

from stemma.derive.cost.book import PriceBook
from stemma.derive.cost.charge import BOUNDARIES, Charge, charge_of_amounts
from stemma.derive.cost.price import Total, price, total
from stemma.model.money import BILLED, PICO_PER_MICRO

TOLERANCE = PICO_PER_MICRO // 2
"""Pico-dollars: the client sums floats, so less than half a micro-dollar is no difference."""


class Cause(StrEnum):
    """Why two bills differ; closed set."""

    NOT_RECORDED = "not-recorded"  # tokens that the client was billed for and no transcript holds
    DIFFERENT_RATE = "different-rate"  # the same tokens at another price
    UNPRICED = "unpriced"  # we have no price
    COPIED_HISTORY = "copied-history"  # the client carries its origin's sum along
    UNKNOWN = "unknown"


class ClientUsage(Struct, frozen=True):
    """What the client says of one model.

    Attributes:
        model: Model as recorded.
        amounts: Tokens by bucket and searches, in the order of ``BILLED``.
        pico: What it says they cost, in pico-dollars.
    """

    model: str
    amounts: tuple[int, int, int, int, int, int]
    pico: int


class Difference(Struct, frozen=True):
    """A part of the difference of one model.

    Attributes:
        cause: Why.
        amounts: The client's amounts minus ours that this cause explains; zeros for a mere price.
        pico: The client's pico-dollars minus ours that it explains.
    """

    cause: Cause
    amounts: tuple[int, ...]
    pico: int


class ModelBill(Struct, frozen=True):
    """Two bills of one model side by side; the differences add up to the client's minus ours, to within ``TOLERANCE``.

    Attributes:
        model: Model, canonical where it is known.
        ours: Ours.
        client_amounts: The client's amounts.
        client_pico: The client's pico-dollars.
        differences: What lies between; empty when they agree.
    """

    model: str
    ours: Total
    client_amounts: tuple[int, ...]
    client_pico: int
    differences: tuple[Difference, ...]

    @property
    def explained(self) -> bool:
        """Whether no part of the difference is unknown."""
        return all(one.cause is not Cause.UNKNOWN for one in self.differences)


class _Sides(NamedTuple):
    model: str
    ours: list[Charge]
    client: list[ClientUsage]
    inherited: list[Charge]


def reconcile(
    ours: Iterable[Charge],
    client: Iterable[ClientUsage],
    book: PriceBook,
    inherited: Iterable[Charge] = (),
    *,
    at: int,
) -> list[ModelBill]:
    """Compare the bills of one session, model by model.

    Args:
        ours: Everything that the session was billed for up to the time of the client's bill, agents included.
        client: The client's last bill of the session.
        book: Prices.
        inherited: What the session's origin was billed for before this one began, when it is a fork.
        at: Time of the client's bill, microseconds since 1970, UTC.
    """
    mine = _by_model(ours, book)
    copied = _by_model(inherited, book)
    theirs: dict[str, list[ClientUsage]] = {}
    for usage in client:
        theirs.setdefault(_name(usage.model, book), []).append(usage)
    return [
        _bill(
            _Sides(name, mine.get(name, []), theirs.get(name, []), copied.get(name, [])), at, book
        )
        for name in sorted({*mine, *theirs})
    ]


def _by_model(charges: Iterable[Charge], book: PriceBook) -> dict[str, list[Charge]]:
    groups: dict[str, list[Charge]] = {}
    for charge in charges:
        if charge.tokens or charge.web_searches:
            groups.setdefault(_name(charge.model, book), []).append(charge)
    return groups


def _name(model: str, book: PriceBook) -> str:
    identity = book.find(model)
    return identity.name if identity else model


def _bill(sides: _Sides, at: int, book: PriceBook) -> ModelBill:
    mine = total(price(charge, book) for charge in sides.ours)
    amounts = _sum([usage.amounts for usage in sides.client])
    pico = sum(usage.pico for usage in sides.client)
    rest, money = _minus(amounts, mine.amounts), pico - mine.total
    differences: list[Difference] = []
    copied = total(price(charge, book) for charge in sides.inherited)
    if any(copied.amounts) and min(_minus(rest, copied.amounts)) >= 0:
        differences.append(Difference(Cause.COPIED_HISTORY, copied.amounts, copied.total))
        rest, money = _minus(rest, copied.amounts), money - copied.total
    if min(rest) < 0:
        differences.append(Difference(Cause.UNKNOWN, rest, money))
        money = 0
    elif any(rest):
        missing = _missing(sides.model, rest, at, money, book)
        differences.append(Difference(Cause.NOT_RECORDED, rest, missing))
        money -= missing
    if abs(money) > TOLERANCE:
        unpriced = _lacks_price(mine) or _lacks_price(copied) or book.find(sides.model) is None
        cause = Cause.UNPRICED if unpriced else Cause.DIFFERENT_RATE
        differences.append(Difference(cause, (0,) * len(BILLED), money))
    return ModelBill(sides.model, mine, amounts, pico, tuple(differences))


def _missing(model: str, rest: Sequence[int], at: int, money: int, book: PriceBook) -> int:
    """Pico-dollars of tokens that no transcript holds.

    Their prompt sizes are unknown: the class that explains the money is taken, else the base rates.
    """
    candidates = [
        price(charge_of_amounts(Charge(model, at, context_class=above), rest), book).total
        for above in (0, *BOUNDARIES)
    ]
    return next((one for one in candidates if abs(money - one) <= TOLERANCE), candidates[0])


def _lacks_price(one: Total) -> bool:
    return one.unpriced_tokens + one.unpriced_searches > 0


def _sum(amounts: Iterable[Sequence[int]]) -> tuple[int, ...]:
    sums = [0] * len(BILLED)
    for one in amounts:
        sums = [a + b for a, b in zip(sums, one, strict=True)]
    return tuple(sums)


def _minus(one: Sequence[int], other: Sequence[int]) -> tuple[int, ...]:
    return tuple(a - b for a, b in zip(one, other, strict=True))
