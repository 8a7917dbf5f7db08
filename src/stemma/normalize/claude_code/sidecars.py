"""Sidecars: small documents beside transcripts, read whole; a later one replaces an earlier one."""

from __future__ import annotations

from typing import Any, NamedTuple

from stemma.model.claim import Body, Claim, ClaimKind
from stemma.model.evidence import Grade
from stemma.model.problem import LineFault
from stemma.model.source import Placement, SourceKind
from stemma.normalize.claude_code.decode import whole_object
from stemma.normalize.claude_code.text import child_id, microseconds, short

ABSURD_DEPTH = 1000
"""A spawn depth from here on is no statement."""


_TEXT, _FLAG, _NUMBER = (str,), (bool,), (int,)
_FIELDS: dict[SourceKind, dict[str, tuple[type, ...]]] = {
    SourceKind.SIDECAR: {
        **dict.fromkeys(("parentAgentId", "toolUseId", "name", "agentType", "description", "model"), _TEXT),
        **dict.fromkeys(("taskKind", "requestShape"), _TEXT),
        **dict.fromkeys(("isFork", "inWorkflowRun", "finished"), _FLAG),
        "spawnDepth": _NUMBER,
    },
    SourceKind.WORKFLOW: dict.fromkeys(("runId", "workflowName", "summary", "status", "taskId", "timestamp"), _TEXT),
}  # fmt: skip


class Sidecar(NamedTuple):
    """What a sidecar says, and the fields that could not be read."""

    claims: list[Claim]
    faults: list[LineFault]


def read_sidecar(placement: Placement, data: bytes) -> Sidecar | None:
    """Claims of one sidecar.

    Args:
        placement: What its path says.
        data: The whole document.

    Returns:
        Its claims, or nothing when the document is no complete JSON object. A field of the wrong type is left out.
    """
    found = whole_object(data)
    if found is None:
        return None
    faults = [
        LineFault(0, len(data), "field", f"$.{name}")
        for name, kinds in _FIELDS[placement.kind].items()
        if (value := found.get(name)) is not None and type(value) not in kinds
    ]
    make = _agent if placement.kind is SourceKind.SIDECAR else _run
    return Sidecar([make(placement, found)], faults)


def _text(found: dict[str, Any], name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""


def _flag(found: dict[str, Any], name: str) -> bool:
    return found.get(name) is True


def _agent(placement: Placement, found: dict[str, Any]) -> Claim:
    depth = found.get("spawnDepth")
    body = Body(
        agent=_text(found, "parentAgentId"),
        tool_use=_text(found, "toolUseId"),
        name=_text(found, "name"),
        type=_text(found, "agentType"),
        description=short(_text(found, "description")),
        model=_text(found, "model"),
        depth=depth
        if isinstance(depth, int) and not isinstance(depth, bool) and 0 <= depth < ABSURD_DEPTH
        else -1,
        is_fork=_flag(found, "isFork"),
        in_workflow=_flag(found, "inWorkflowRun"),
        finished=_flag(found, "finished"),
        teammate=_text(found, "taskKind") == "in_process_teammate",
        background=_text(found, "requestShape") == "background",
    )
    return Claim(
        ClaimKind.SIDECAR,
        placement.session_hint,
        child_id(placement.agent_hint),
        0,
        0,
        0,
        Grade.OBSERVED,
        body,
    )


def _run(placement: Placement, found: dict[str, Any]) -> Claim:
    run = _text(found, "runId") or placement.run_hint
    body = Body(
        name=_text(found, "workflowName"),
        description=short(_text(found, "summary")),
        status=_text(found, "status"),
        task=_text(found, "taskId"),
        run=run,
    )
    at = microseconds(_text(found, "timestamp"))
    return Claim(ClaimKind.RUN_STATE, placement.session_hint, run, 0, 0, at, Grade.OBSERVED, body)
