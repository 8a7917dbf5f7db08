"""What compactions of the record cost: see ``derive.cost.compaction`` for the rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from stemma.derive.cost.book import PriceBook
from stemma.derive.cost.charge import Charge
from stemma.derive.cost.compaction import Compaction, Compactions, Segment, compactions
from stemma.derive.usage import STATE_ANOMALY
from stemma.model.money import BILLED, micro_usd
from stemma.operate.receipts import charge
from stemma.store.answers.analyses import (
    CompactedAgent,
    CompactionAnswer,
    CompactionBoundary,
    CompactionSegment,
)
from stemma.store.answers.moment import known, not_negative, time_of
from stemma.store.answers.receipt import Prices, Tokens
from stemma.store.sqlite.read import Connection, Named
from stemma.store.sqlite.read_analyses import Compacted, compacted
from stemma.store.sqlite.read_requests import Scope, requests

RULE = (
    "tokens before are the whole prompt of the agent's last response before the compaction, tokens after that of the first "
    "one after it; rebuilding is what this one wrote to a cache, at its own rates, and part of what the segments cost; the "
    "compaction's own call is in no transcript, so its cost is unknown"
)


def compaction_answer(
    connection: Connection, book: PriceBook, session: Named | None = None
) -> CompactionAnswer:
    """Segments around each compaction, and what rebuilding the cache cost.

    Args:
        connection: A reading connection.
        book: Prices.
        session: The session; nothing for all.
    """
    agents = compacted(connection, [session.number] if session else None)
    charges: dict[tuple[str, str], list[Charge]] = defaultdict(list)
    for request in requests(connection, Scope(sorted({one.number for one in agents}))):
        if not request.state & STATE_ANOMALY:
            charges[request.session, request.agent].append(charge(request))
    walked = [
        (one, compactions(charges[one.session, one.agent], one.boundaries, book)) for one in agents
    ]
    return CompactionAnswer(
        rule=RULE,
        session=session.session_id if session else None,
        compactions=sum(len(one.boundaries) for one in agents),
        rebuild_micro_usd=micro_usd(sum(found.rebuild_pico for _, found in walked)),
        unknown_rebuilds=sum(found.unknown_rebuilds for _, found in walked),
        agents=[_agent(one, found) for one, found in walked],
        prices=Prices(version=book.version, digest=book.digest),
    )


def tokens_of(amounts: Sequence[int]) -> Tokens:
    """Amounts in the order of ``BILLED`` by name."""
    named = dict(zip(BILLED, amounts, strict=True))
    return Tokens(web_searches=named.pop("web_search"), **named)


def _agent(one: Compacted, found: Compactions) -> CompactedAgent:
    return CompactedAgent(
        session=one.session,
        agent=one.agent,
        segments=[_segment(segment) for segment in found.segments],
        compactions=[_boundary(compaction) for compaction in found.compactions],
        rebuild_micro_usd=micro_usd(found.rebuild_pico),
        unknown_rebuilds=found.unknown_rebuilds,
    )


def _segment(one: Segment) -> CompactionSegment:
    cost = one.cost
    return CompactionSegment(
        responses=cost.requests,
        tokens=tokens_of(cost.amounts),
        micro_usd=None if cost.wholly_unpriced else cost.micro_usd,
        unpriced_tokens=cost.unpriced_tokens,
        first_at=time_of(one.first_at),
        last_at=time_of(one.last_at),
    )


def _boundary(one: Compaction) -> CompactionBoundary:
    return CompactionBoundary(
        at=time_of(one.boundary.at),
        trigger=known(one.boundary.trigger),
        tokens_before=not_negative(one.tokens_before),
        recorded_before=not_negative(one.boundary.recorded_before),
        tokens_after=not_negative(one.tokens_after),
        rebuild_tokens=not_negative(one.rebuild_tokens),
        rebuild_micro_usd=micro_usd(one.rebuild_pico) if one.rebuild_pico >= 0 else None,
    )
