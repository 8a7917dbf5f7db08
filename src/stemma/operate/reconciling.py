"""Our bills beside the client's own, session by session: see ``derive.cost.reconcile`` for the causes."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from stemma.derive.cost.book import PriceBook
from stemma.derive.cost.charge import Charge
from stemma.derive.cost.price import price, total
from stemma.derive.cost.reconcile import Cause, ModelBill, reconcile
from stemma.derive.usage import CountedRequest
from stemma.model.entity import MAIN
from stemma.model.money import micro_usd
from stemma.operate.compacting import tokens_of
from stemma.operate.receipts import charge
from stemma.store.answers.analyses import (
    BillDifference,
    ReconcileAnswer,
    ReconciledModel,
    ReconciledSession,
)
from stemma.store.answers.moment import time_of
from stemma.store.answers.receipt import Prices
from stemma.store.sqlite.read import Connection, Named
from stemma.store.sqlite.read_bills import (
    Bill,
    bills,
    origins,
    sessions_without_bill,
    shared_messages,
)
from stemma.store.sqlite.read_requests import Scope, is_counted, requests


class _Compared(NamedTuple):
    answer: ReconciledSession
    ours: int
    client: int
    models: list[ModelBill]


def reconcile_answer(
    connection: Connection, book: PriceBook, session: Named | None = None
) -> ReconcileAnswer:
    """Compare bills.

    Args:
        connection: A reading connection.
        book: Prices.
        session: The session; nothing for all that the client billed.
    """
    found = bills(connection, [session.number] if session else None)
    compared = [one for bill in found if (one := _compared(connection, bill, book)) is not None]
    causes: Counter[Cause] = Counter()
    for one in compared:
        for model in one.models:
            for difference in model.differences:
                causes[difference.cause] += difference.pico
    return ReconcileAnswer(
        sessions=[one.answer for one in compared],
        agreeing=sum(one.answer.agrees for one in compared),
        unexplained=sum(not one.answer.explained for one in compared),
        without_bill=int(not found) if session else sessions_without_bill(connection),
        unreadable_bills=len(found) - len(compared),
        ours_micro_usd=micro_usd(sum(one.ours for one in compared)),
        client_micro_usd=micro_usd(sum(one.client for one in compared)),
        causes_micro_usd={
            str(cause): micro_usd(causes[cause]) for cause in Cause if cause in causes
        },
        prices=Prices(version=book.version, digest=book.digest),
    )


def _compared(connection: Connection, bill: Bill, book: PriceBook) -> _Compared | None:
    if bill.models is None:
        return None
    mine, later = [], 0
    for request in requests(connection, Scope([bill.number])):
        if not is_counted(request):
            continue
        if bill.until and request.first_at >= bill.until:
            later += request.part == 0
        else:
            mine.append(charge(request))
    models = min(
        (
            reconcile(mine, bill.models, book, copied, at=bill.at)
            for copied in _inherited(connection, bill)
        ),
        key=_unrecorded,
    )
    ours = total(price(one, book) for one in mine)
    answer = ReconciledSession(
        session=bill.session,
        title=bill.title,
        billed_at=time_of(bill.at),
        ours_micro_usd=None if ours.wholly_unpriced else ours.micro_usd,
        client_micro_usd=micro_usd(bill.pico),
        agrees=not any(one.differences for one in models),
        explained=all(one.explained for one in models),
        later_responses=later,
        models=[_model(one) for one in models],
    )
    return _Compared(answer, ours.total, bill.pico, models)


def _inherited(connection: Connection, bill: Bill) -> list[list[Charge]]:
    """What a fork's bill may have begun with.

    All that its origins were billed before it went on by itself; or, where an origin went on beside it, what it copied of
    that, and the agents' part.
    """
    everything: list[Charge] = []
    copied: list[Charge] = []
    shared = shared_messages(connection, bill.number)
    for origin in origins(connection, bill.number):
        for request in requests(connection, Scope([origin.number])):
            if is_counted(request) and _before(request, origin.until):
                everything.append(charge(request))
                if request.agent != MAIN or request.message_id in shared:
                    copied.append(everything[-1])
    return [everything, copied]


def _unrecorded(models: list[ModelBill]) -> tuple[int, int]:
    """How much of a difference is left to the weaker causes: the better reading leaves less."""
    parts = [part for one in models for part in one.differences]
    return (
        sum(part.cause is Cause.UNKNOWN for part in parts),
        sum(sum(part.amounts) for part in parts if part.cause is Cause.NOT_RECORDED),
    )


def _before(request: CountedRequest, until: int) -> bool:
    return not until or request.first_at < until


def _model(one: ModelBill) -> ReconciledModel:
    return ReconciledModel(
        model=one.model,
        ours=tokens_of(one.ours.amounts),
        client=tokens_of(one.client_amounts),
        ours_micro_usd=None if one.ours.wholly_unpriced else one.ours.micro_usd,
        client_micro_usd=micro_usd(one.client_pico),
        differences=[
            BillDifference(
                cause=str(part.cause),
                tokens=tokens_of(part.amounts),
                micro_usd=micro_usd(part.pico),
            )
            for part in one.differences
        ],
    )
