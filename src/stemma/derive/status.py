"""Status of an agent from transcript evidence (DESIGN section 3): latest run, then terminal before open, then grade, time, content."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from msgspec import Struct

from stemma.model.claim import ClaimKind
from stemma.model.entity import Status
from stemma.model.evidence import Grade
from stemma.relate.evidence import AgentEvidence, MainThread, SourcedPart, latest_parts

LAST_ABANDONING_CLIENT = (2, 1, 62)
"""Headless clients up to about this version end their process with the main turn and lose background agents."""


class StatusFact(Struct, frozen=True):
    """What is known of an agent's state.

    Attributes:
        status: One of the five words.
        reason: Why, where it is evidenced.
        grade: How sure.
        basis: What it rests on, in words.
        at: Time of the evidence, 0 when it has none.
    """

    status: Status
    reason: str
    grade: Grade
    basis: str
    at: int


class _Observation(NamedTuple):
    """In the order of the rule, so that the greatest one wins."""

    run: int
    terminal: bool
    grade: Grade
    at: int
    status: str
    reason: str
    basis: str


UNKNOWN = StatusFact(Status.UNKNOWN, "", Grade.DERIVED, "no record says", 0)

_LAUNCHED = (
    "async_launched",
    "teammate_spawned",
    "remote_launched",
    "running",
    "launched",
    "queued",
)
_NOTIFIED = {
    "completed": (Status.COMPLETED, "finished"),
    "failed": (Status.ERROR, ""),
    "error": (Status.ERROR, ""),
    "killed": (Status.ERROR, "killed"),
    "stopped": (Status.ERROR, "interrupted"),
    "cancelled": (Status.ERROR, "interrupted"),
}
_FAILURES = {
    "interrupted": "interrupted",
    "user-rejected": "denied",
    "permission-rule": "denied",
    "automode-blocked": "denied",
}


def run_starts(evidence: AgentEvidence) -> list[int]:
    """Times at which runs of the agent began: the first, and one for each message that resumed it."""
    firsts = [one.part.first_at for one in evidence.parts if one.part.first_at]
    resumed = {one.claim.at for one in evidence.of(ClaimKind.RESUME)}
    first = min(firsts, default=0)
    return [first, *sorted(at for at in resumed if at > first)]


def subagent_status(evidence: AgentEvidence) -> StatusFact:
    """Status of a subagent."""
    starts = run_starts(evidence)
    seen = [
        *_from_parent(evidence, starts),
        *_from_notices(evidence, starts),
        *_from_own(evidence, starts),
    ]
    best = max(seen, default=None)
    if best is None or not best.terminal or best.run < len(starts) - 1:
        lost = _lost(evidence, starts)
        best = lost or best
    if best is None:
        return UNKNOWN
    return StatusFact(Status(best.status), best.reason, best.grade, best.basis, best.at)


def _run_at(starts: list[int], at: int) -> int:
    return max(bisect_right(starts, at) - 1, 0) if at else len(starts) - 1


def _from_parent(evidence: AgentEvidence, starts: list[int]) -> list[_Observation]:
    results = list(evidence.of(ClaimKind.LAUNCH))
    started_by = {
        one.claim.body.tool_use
        for one in evidence.of(ClaimKind.SIDECAR, ClaimKind.LAUNCH, ClaimKind.INLINE_ROOT)
    }
    for tool_use in sorted(started_by - {""}):
        results.extend(
            one
            for one in evidence.by_tool.get(tool_use, ())
            if one.claim.kind is ClaimKind.SPAWN_RESULT
        )
    found = []
    for one in results:
        body = one.claim.body
        if body.failed:
            reason = _FAILURES.get(body.reason, "")
            found.append(
                _Observation(_run_at(starts, one.claim.at), True, Grade.DERIVED, one.claim.at, Status.ERROR, reason,
                             "result of the spawn call")
            )  # fmt: skip
        elif body.status not in _LAUNCHED:
            found.append(
                _Observation(_run_at(starts, one.claim.at), True, Grade.DERIVED, one.claim.at, Status.COMPLETED,
                             "finished", "result of the spawn call")
            )  # fmt: skip
    return found


def _from_notices(evidence: AgentEvidence, starts: list[int]) -> list[_Observation]:
    by_tool = {one.claim.body.tool_use: one.claim.at for one in evidence.of(ClaimKind.RESUME)}
    interrupted = {
        _run_at(starts, one.part.status_at)
        for one in latest_parts(evidence.parts)
        if one.part.status_reason == "interrupted"
    }
    found = []
    for one in evidence.of(ClaimKind.NOTIFICATION):
        ending = _NOTIFIED.get(one.claim.body.status)
        if ending is None:
            continue
        tool_use = one.claim.body.tool_use
        run = (
            _run_at(starts, by_tool[tool_use])
            if tool_use in by_tool
            else _run_at(starts, one.claim.at)
        )
        status, reason = ending
        if reason == "killed" and run in interrupted:
            reason = "interrupted"  # its own transcript says who stopped it
        found.append(
            _Observation(
                run, True, Grade.DERIVED, one.claim.at, status, reason, "task notification"
            )
        )
    ends = [
        *("sidecar.finished" for one in evidence.of(ClaimKind.SIDECAR) if one.claim.body.finished),
        *(
            "workflow journal"
            for one in evidence.of(ClaimKind.JOURNAL)
            if one.claim.body.status == "result"
        ),
    ]
    found.extend(
        _Observation(len(starts) - 1, True, Grade.DERIVED, 0, Status.COMPLETED, "finished", basis)
        for basis in ends
    )
    return found


def _from_own(evidence: AgentEvidence, starts: list[int]) -> list[_Observation]:
    found = []
    for one in latest_parts(evidence.parts):
        part = one.part
        run = _run_at(starts, part.status_at)
        if part.status in (Status.ERROR, Status.COMPLETED):
            found.append(
                _Observation(run, True, Grade.DERIVED, part.status_at, part.status, part.status_reason,
                             "its own last record")
            )  # fmt: skip
        elif part.status == Status.WAITING and part.status_reason.startswith("turn-done"):
            found.append(
                _Observation(run, True, Grade.INFERRED, part.status_at, Status.COMPLETED, "finished",
                             "its last response calls nothing")
            )  # fmt: skip
        elif part.status:
            found.append(
                _Observation(run, False, Grade.DERIVED, part.status_at, part.status, part.status_reason,
                             "its own last record")
            )  # fmt: skip
    return found


def _lost(evidence: AgentEvidence, starts: list[int]) -> _Observation | None:
    """The agent was still at work when its client's process ended."""
    main, started = evidence.main, starts[-1]
    if main.process_ended_at and main.process_ended_at >= started:
        return _Observation(len(starts) - 1, True, Grade.DERIVED, main.process_ended_at, Status.ERROR, "interrupted",
                            "the client's process ended")  # fmt: skip
    if _abandons(main) and main.status_at >= started:
        return _Observation(len(starts) - 1, True, Grade.INFERRED, main.status_at, Status.ERROR, "interrupted",
                            "a headless client of this version ends with its main turn")  # fmt: skip
    return None


def _abandons(main: MainThread) -> bool:
    if (
        not main.headless
        or main.status != Status.WAITING
        or not main.status_reason.startswith("turn-done")
    ):
        return False
    numbers = main.version.split(".")
    if len(numbers) != 3 or not all(n.isdigit() for n in numbers):  # noqa: PLR2004 - major, minor, patch
        return False
    return tuple(int(n) for n in numbers) <= LAST_ABANDONING_CLIENT


def main_status(parts: list[SourcedPart]) -> StatusFact:
    """Status of a session's main thread, from the latest record of its transcripts."""
    stated = [one for one in latest_parts(parts) if one.part.status]
    if not stated:
        return UNKNOWN
    last = max(
        stated,
        key=lambda one: (one.part.status_at, one.part.status, one.part.status_reason, one.source),
    ).part
    guessed = last.status_reason.endswith("?")
    return StatusFact(
        Status(last.status),
        last.status_reason.rstrip("?"),
        Grade.INFERRED if guessed else Grade.DERIVED,
        "the main thread's last record",
        last.status_at,
    )


def main_thread(parts: list[SourcedPart]) -> MainThread:
    """What agents of the session may depend on."""
    stated = [one for one in latest_parts(parts) if one.part.status]
    if not stated:
        return MainThread()
    last = max(
        stated,
        key=lambda one: (one.part.status_at, one.part.status, one.part.status_reason, one.source),
    ).part
    return MainThread(
        max(one.part.process_ended_at for one in parts),
        last.status,
        last.status_reason,
        last.status_at,
        any(one.part.headless for one in parts),
        last.version,
    )
