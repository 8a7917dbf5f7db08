"""Facts of one batch: everything that new claims touched is derived again, in the batch's own transaction."""

from __future__ import annotations

from stemma.derive.agents import derive_agent
from stemma.derive.sessions import derive_lineage, derive_session
from stemma.derive.usage import STATE_SHARED, Counted, SessionTimes, SourcedUsage, count
from stemma.derive.workflows import derive_run
from stemma.store.sqlite.facts import Facts
from stemma.store.sqlite.writer import Touched, Writer

_UNSHARED = SessionTimes(0, 0)


def settle(writer: Writer, now: int) -> None:
    """Derive what the batch touched.

    Order matters only where a fact depends on another: sessions before owners, owners before lineage.

    Args:
        writer: The writer, inside a batch.
        now: Time of receipt for the changes journal, microseconds; no fact depends on it.
    """
    touched, writer.touched = writer.touched, Touched()
    if not touched:
        return
    facts = Facts(writer)
    for session in touched.sessions:
        parts = writer.loading.parts(session)
        distinct = writer.loading.distinct(session, parts)
        facts.put_session(session, derive_session(session, parts, distinct))
    for session in _settle_usage(writer, facts, touched):
        touched.lineages[session] = None
    _settle_agents(writer, facts, touched)
    for session, run in touched.runs:
        members = bool(writer.loading.agents_linked(session, run))
        facts.put_run(derive_run(run, writer.loading.claims(session, run), members), session, run)
    for session in touched.lineages:
        _settle_lineage(writer, facts, session)
    facts.move(touched.arrived)
    facts.journal(now)


def _settle_agents(writer: Writer, facts: Facts, touched: Touched) -> None:
    """Derive touched agents, and those whose end may depend on a main thread that changed."""
    for session, surely in touched.main_threads.items():
        if surely or writer.loading.is_headless(session):
            for agent in writer.loading.unfinished(session):
                touched.agents[session, agent] = None
    for session, agent in touched.agents:
        derived = derive_agent(writer.loading.evidence(session, agent))
        if derived is None:
            facts.put_agent(session, agent, None, [])
        else:
            facts.put_agent(session, agent, derived.fact, derived.proofs)


def _settle_usage(writer: Writer, facts: Facts, touched: Touched) -> list[str]:
    """Count touched messages; where that changes a tie-breaking time of a session, count what it shares once more.

    Returns:
        Sessions whose lineage may have changed.
    """
    loading = writer.loading
    counted, apart = _count(writer, list(touched.messages))
    lost = facts.put_usage(counted, touched.messages, shrinking=touched.shrunk or apart)
    owners = {request.session for result in counted.values() for request in result.requests}
    new = _count_fresh(writer, touched)
    facts.put_usage(new)
    counted.update(new)
    holders = {session for result in counted.values() for session in result.holders}
    changed: list[str] = []
    for session in sorted(holders | lost | owners | set(touched.sessions)):
        before = loading.shared_times(session)
        if before is None and session not in holders:
            continue
        after = (
            _times(writer, session)
            if session in holders or session in lost or before is None
            else _earlier(writer, session, before, _first_own(counted, session))
        )
        if after != before:
            facts.put_shared_times(session, after)
            changed.append(session)
    again = sorted({message for session in changed for message in loading.shared_messages(session)})
    if again:
        recounted, _ = _count(writer, again)
        facts.put_usage(recounted)
        holders |= {session for result in recounted.values() for session in result.holders}
    return sorted(holders | lost)


def _times(writer: Writer, session: str) -> SessionTimes | None:
    """The times of a session that may share responses; nothing when it shares none."""
    loading = writer.loading
    return loading.session_times(session) if loading.shared_messages(session) else None


def _earlier(writer: Writer, session: str, before: SessionTimes, own: int) -> SessionTimes:
    """The times of a session that shares responses after it got some of its own, the first of them at ``own``."""
    first = min((t for t in (before.first_own_at, own) if t), default=0)
    return SessionTimes(writer.loading.started_at(session), first)


def _count(writer: Writer, messages: list[str]) -> tuple[dict[str, Counted], bool]:
    """Count message ids; also whether a session has claims of one that several others hold, and does not hold it."""
    loading = writer.loading
    claims = loading.usage_claims(messages)
    counted = {
        message: count(found, lambda session: loading.shared_times(session) or _UNSHARED)
        for message, found in claims.items()
    }
    apart = any(
        len({one.claim.session for one in found}) > max(len(counted[message].holders), 1)
        for message, found in claims.items()
        if len(found) > 1
    )
    return counted, apart


def _count_fresh(writer: Writer, touched: Touched) -> dict[str, Counted]:
    """Count ids that had no claims before the batch, from the claims at hand."""
    loading = writer.loading
    return {
        message: count(
            [
                SourcedUsage(loading.source(source).name, generation, claim)
                for (source, generation, _), claim in held.items()
            ],
            lambda session: loading.shared_times(session) or _UNSHARED,
        )
        for message, held in touched.fresh.items()
    }


def _first_own(counted: dict[str, Counted], session: str) -> int:
    """Earliest of the batch's responses that only this session holds; 0 when there is none."""
    times = (
        request.first_at
        for result in counted.values()
        for request in result.requests
        if request.session == session and request.first_at and not request.state & STATE_SHARED
    )
    return min(times, default=0)


def _settle_lineage(writer: Writer, facts: Facts, session: str) -> None:
    claims = writer.loading.lineage_claims(session)
    declared = {one.claim.subject for one in claims if one.claim.body.name == "fork"}
    roots = {one.claim.subject for one in claims if one.claim.body.name == "clear"}
    facts.put_lineage(
        session, derive_lineage(session, writer.loading.inherited(session), declared, roots)
    )
