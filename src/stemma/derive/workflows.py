"""Workflow runs as entities with a name."""

from __future__ import annotations

from msgspec import Struct

from stemma.model.claim import ClaimKind, SourcedClaim
from stemma.model.entity import MAIN
from stemma.model.evidence import Grade
from stemma.relate.evidence import current


class WorkflowRun(Struct, frozen=True):
    """One run of a workflow script.

    Attributes:
        run: Its id.
        name: Name of the workflow, empty when no record states it.
        agent: Agent that ran it.
        agent_grade: How sure that is: ``main`` is only derived where no dispatch record names the run.
        tool_use: Call that started it, or empty.
        task: Its background task id, or empty.
        status: Status word of its own summary, else of its dispatch.
        started_at: Time of its dispatch, 0 unknown.
    """

    run: str
    name: str
    agent: str
    agent_grade: Grade
    tool_use: str
    task: str
    status: str
    started_at: int


def derive_run(run: str, claims: list[SourcedClaim], members: bool) -> WorkflowRun | None:  # noqa: FBT001 - one flag, named at the call
    """The run that the claims speak of.

    Args:
        run: Its id.
        claims: Claims with the run as their subject.
        members: Whether any agent's transcript or journal lies in the run's directory.
    """
    ordered = current(claims)
    dispatches = [one.claim for one in ordered if one.claim.kind is ClaimKind.DISPATCH]
    states = [one.claim.body for one in ordered if one.claim.kind is ClaimKind.RUN_STATE]
    if not dispatches and not states and not members:
        return None
    first = dispatches[0] if dispatches else None
    bodies = [*states, *(one.body for one in dispatches)]
    return WorkflowRun(
        run=run,
        name=next((body.name for body in bodies if body.name), ""),
        agent=first.body.agent if first is not None else MAIN,
        agent_grade=Grade.OBSERVED if first is not None else Grade.DERIVED,
        tool_use=first.body.tool_use if first is not None else "",
        task=next((body.task for body in bodies if body.task), ""),
        status=next((body.status for body in bodies if body.status), ""),
        started_at=first.at if first is not None else 0,
    )
