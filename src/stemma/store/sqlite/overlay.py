"""Status as it is shown: what is stored, and what the clock adds to it. No clock is evidence, so nothing of it is kept."""

from __future__ import annotations

from typing import NamedTuple

from stemma.model.evidence import Grade
from stemma.store.answers.moment import known, time_of
from stemma.store.answers.sessions import Status

NO_END_SEEN = "no end seen"

_ALIVE = {("working", ""), ("waiting", "subagent")}


class Watch(NamedTuple):
    """When silence means that nobody knows.

    Attributes:
        now: Time, microseconds.
        window: Silence after which an agent at work is shown as ``unknown``, microseconds.
    """

    now: int
    window: int


class StoredStatus(NamedTuple):
    """The status columns of an agent."""

    status: str
    reason: str
    grade: int
    basis: str
    at: int


def shown(stored: StoredStatus | None, last_evidence: int, watch: Watch) -> Status:
    """Status of an agent.

    Args:
        stored: What the evidence says; nothing when there is no such agent.
        last_evidence: Time of the last record of the agent or of any agent that it may wait for.
        watch: The clock.
    """
    if stored is None:
        return Status(
            status="unknown",
            reason=None,
            grade=None,
            basis="no record of the main thread",
            at=None,
            stored_status=None,
        )
    alive = stored.status == "working" or (stored.status, stored.reason) in _ALIVE
    if alive and last_evidence < watch.now - watch.window:
        return Status(
            status="unknown",
            reason=NO_END_SEEN,
            grade=Grade.INFERRED.word,
            basis="silent for longer than the watchdog's window",
            at=time_of(last_evidence),
            stored_status=stored.status,
        )
    return Status(
        status=stored.status,
        reason=known(stored.reason),
        grade=Grade(stored.grade).word,
        basis=known(stored.basis),
        at=time_of(stored.at),
        stored_status=stored.status,
    )
