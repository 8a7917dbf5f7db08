"""Sidecars: small documents beside transcripts, read whole; a later one replaces an earlier one."""

from __future__ import annotations

from typing import Any

import msgspec

from stemma.model.claim import Body, Claim, ClaimKind
from stemma.model.evidence import Grade
from stemma.model.source import Placement, SourceKind
from stemma.normalize.claude_code.text import microseconds, short

ABSURD_DEPTH = 1000
"""A spawn depth from here on is no statement."""


def read_sidecar(placement: Placement, data: bytes) -> list[Claim] | None:
    """Claims of one sidecar.

    Args:
        placement: What its path says.
        data: The whole document.

    Returns:
        Its claims, or nothing when the document is no complete JSON object. A field of the wrong type is left out.
    """
    try:
        found = msgspec.json.decode(data.lstrip(b"\xef\xbb\xbf"))
    except msgspec.MsgspecError:
        return None
    if not isinstance(found, dict):
        return None
    if placement.kind is SourceKind.SIDECAR:
        return [_agent(placement, found)]
    return [_run(placement, found)]


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
        placement.agent_hint,
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
