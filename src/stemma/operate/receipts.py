"""Receipts: a figure with everything that leads to it, from lines of transcripts to price rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta, tzinfo

from msgspec.structs import replace

from stemma.derive.cost.book import PriceBook
from stemma.derive.cost.charge import LARGEST_PROMPT, Charge, charge_of
from stemma.derive.cost.price import price, total
from stemma.derive.cost.receipt import Line, Receipt, receipt, recomputed
from stemma.derive.usage import (
    STATE_ANOMALY,
    STATE_INCOMPLETE,
    STATE_OWNER_INFERRED,
    STATE_SYNTHETIC,
    CountedRequest,
)
from stemma.errors import NotFound
from stemma.model.evidence import Grade
from stemma.model.money import micro_usd
from stemma.store.answers import receipt as answers
from stemma.store.sqlite import read_usage
from stemma.store.sqlite.read import Connection
from stemma.store.sqlite.read_analyses import compacted
from stemma.store.sqlite.read_requests import (
    Scope,
    Target,
    find_target,
    inherited,
    is_counted,
    requests,
    skipped_lines,
)
from stemma.store.sqlite.read_usage import Range

FORMULA = (
    "each line is amount x rate; a rate is the price row's, times its multipliers, rounded half up to a whole pico-dollar; "
    "the figure is the sum of the lines, rounded half up once to a whole micro-dollar"
)
_PICO_PER_NANO = 1_000


def charge(request: CountedRequest) -> Charge:
    """A request as it is priced; an extra pass inside a response counts as no response of its own."""
    found = charge_of(request)
    return replace(found, requests=0) if request.part else found


def receipt_for(
    connection: Connection,
    wanted: str,
    book: PriceBook,
    *,
    zone: tzinfo | None,
    timezone: str,
) -> answers.ReceiptAnswer:
    """The receipt of a session, an agent, a message or a day.

    Args:
        connection: A reading connection.
        wanted: An id, the start of one, or a day such as 2026-11-30.
        book: Prices.
        zone: Where days are counted; nothing for the machine's own zone.
        timezone: Its name.

    Raises:
        NotFound: There is nothing of the kind.
    """
    target = _day(wanted, zone) or find_target(connection, wanted)
    found = list(requests(connection, target.scope))
    if not found and target.kind == "day":
        raise NotFound(f"no response of {target.key} is in the record")
    billed = [one for one in found if is_counted(one)]
    prices = [price(charge(one), book) for one in billed]
    bill = receipt(prices, version=book.version, digest=book.digest)
    whole = total(prices)
    recorded = [one.recorded_nano_usd for one in billed if one.recorded_nano_usd >= 0]
    grade, basis = _grade(billed)
    return answers.ReceiptAnswer(
        scope=target.kind,
        key=target.key,
        session=target.session.session_id if target.session else None,
        agent=target.agent,
        timezone=timezone,
        micro_usd=None if whole.wholly_unpriced else bill.micro_usd,
        pico_usd=bill.pico,
        rounding_pico_usd=bill.rounding,
        recomputed_micro_usd=recomputed(bill),
        formula=FORMULA,
        lines=[_line(line) for line in bill.lines],
        unpriced=[
            answers.ReceiptUnpriced(
                model=u.model, bucket=u.bucket, amount=u.amount, reason=u.reason
            )
            for u in bill.unpriced
        ],
        evidence=_evidence(found, bill, whole.unpriced_tokens),
        excluded=_excluded(connection, target, found),
        grade=grade.word,
        basis=basis,
        recorded_micro_usd=micro_usd(sum(recorded) * _PICO_PER_NANO) if recorded else None,
        recorded_responses=len(recorded),
        prices=answers.Prices(version=book.version, digest=book.digest),
    )


def _day(text: str, zone: tzinfo | None) -> Target | None:
    try:
        day = date.fromisoformat(text)
        following = day + timedelta(days=1)
    except (ValueError, OverflowError):
        return None
    within = Range(_midnight(day, zone), _midnight(following, zone))
    return Target(Scope(within=within), "day", day.isoformat())


def _midnight(day: date, zone: tzinfo | None) -> int:
    """First microsecond of a day; a day without a zone is in the machine's own."""
    local = datetime(day.year, day.month, day.day, tzinfo=zone)
    return int(local.timestamp()) * 1_000_000


def _line(line: Line) -> answers.ReceiptLine:
    row = line.row
    return answers.ReceiptLine(
        model=line.model,
        bucket=line.bucket,
        amount=line.amount,
        rate_pico_usd=line.rate,
        pico_usd=line.pico,
        formula=line.formula,
        price_provider=row.provider,
        price_model=row.model,
        variant=row.variant or "standard",
        prompts_above=row.tier_above,
        effective_from=row.effective_from or None,
        effective_until=row.effective_until or None,
        row_pico_usd=row.pico_usd,
        multipliers=[
            answers.AppliedMultiplier(what=one.what, factor=str(one.factor)) for one in line.factors
        ],
        provenance=row.provenance,
    )


def _evidence(
    found: Sequence[CountedRequest], bill: Receipt, unpriced_tokens: int
) -> answers.ReceiptEvidence:
    billed = [one for one in found if is_counted(one)]
    return answers.ReceiptEvidence(
        lines_read=sum(one.records for one in billed),
        unique_responses=sum(one.part == 0 for one in billed),
        priced_responses=bill.priced_requests,
        unpriced_responses=bill.unpriced_requests,
        extra_passes=sum(one.part > 0 for one in billed),
        unpriced_tokens=unpriced_tokens,
        sources=len({one.source for one in billed}),
    )


def _grade(billed: Sequence[CountedRequest]) -> tuple[Grade, str]:
    """Tokens are observed and prices are ours: at best a derived figure."""
    reasons = []
    if any(one.state & STATE_OWNER_INFERRED for one in billed):
        reasons.append("which session made some of the responses is inferred")
    if any(_class_is_inferred(one) for one in billed):
        reasons.append("the prompt size that decides some prices is inferred")
    if reasons:
        return Grade.INFERRED, "; ".join(reasons)
    return Grade.DERIVED, "token counts as recorded, times dated list prices"


def _class_is_inferred(one: CountedRequest) -> bool:
    prompt = one.input + one.cache_write_5m + one.cache_write_1h + one.cache_read
    return prompt > LARGEST_PROMPT or 0 < one.largest_input < prompt


def _excluded(
    connection: Connection, target: Target, found: Sequence[CountedRequest]
) -> list[answers.Exclusion]:
    """What is not in the figure, what was found none of left out; and what no transcript can tell, always."""
    anomalies = sum(bool(one.state & STATE_ANOMALY) for one in found)
    synthetic = sum(bool(one.state & STATE_SYNTHETIC) for one in found)
    incomplete = sum(bool(one.state & STATE_INCOMPLETE) and is_counted(one) for one in found)
    sessions = target.scope.sessions
    counted = [
        ("anomalies", anomalies, "an impossible counter: listed by `stemma usage`, in no total"),
        (
            "inherited",
            inherited(connection, target.scope),
            "copied from another session, and billed there",
        ),
        ("synthetic", synthetic, "the client's own messages: no call of a model, priced at zero"),
        (
            "incomplete",
            incomplete,
            "the end was never written: counted, but output is a lower bound",
        ),
        (
            "skipped-lines",
            read_usage.skipped_lines(connection)
            if sessions is None
            else skipped_lines(connection, sessions),
            "lines that could not be read, in the files as they are now",
        ),
        (
            "compaction-calls",
            _compactions(connection, target),
            "the calls that compacted the context are in no transcript",
        ),
    ]
    listed = [
        answers.Exclusion(what=what, count=count, why=why) for what, count, why in counted if count
    ]
    helpers = (
        "calls for titles, web searches and the like are in no transcript: the figure is a floor"
    )
    return [*listed, answers.Exclusion(what="helper-calls", count=None, why=helpers)]


def _compactions(connection: Connection, target: Target) -> int:
    if target.kind == "message":
        return 0
    within = target.scope.within
    return sum(
        (within.since is None or boundary.at >= within.since)
        and (within.until is None or boundary.at < within.until)
        for one in compacted(connection, target.scope.sessions)
        if target.agent in (None, one.agent)
        for boundary in one.boundaries
    )
