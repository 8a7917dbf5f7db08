"""Claims: what the evidence says, kept as grow-only sets keyed by content (DESIGN section 2).

Every claim is the content of one record at one place; a fact is a function of the set of claims under its key.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec
from msgspec import Struct

from stemma.model.evidence import Grade


class ClaimKind(StrEnum):
    """The closed set of what claims speak of; ``subject`` is what each is keyed by inside its session."""

    SPAWN_BLOCK = "spawn_block"
    """A materialised call that starts an agent or workflow; subject: tool-use id."""
    SPAWN_RESULT = "spawn_result"
    """The result of such a call; subject: tool-use id."""
    LAUNCH = "launch"
    """A parent-side record that names the child it started; subject: child agent id."""
    SIDECAR = "sidecar"
    """The sidecar beside an agent's transcript; subject: agent id."""
    DIRECTORY = "directory"
    """The agent's transcript lies in a workflow's directory; subject: agent id."""
    DISPATCH = "dispatch"
    """The record that names a workflow run as started; subject: run id."""
    RUN_STATE = "run_state"
    """What a workflow's own summary file says; subject: run id."""
    JOURNAL = "journal"
    """A workflow journal line about an agent; subject: agent id."""
    NOTIFICATION = "notification"
    """A task notification or queue operation about a background task; subject: task id."""
    FOREIGN_PROGRESS = "foreign_progress"
    """A progress record in another agent's transcript that carries this agent's id; subject: agent id."""
    RESUME = "resume"
    """A message that started a finished agent again; subject: agent id."""
    INLINE_ROOT = "inline_root"
    """First record of an inline sidechain; subject: the derived agent id."""
    CONTEXT_REF = "context_ref"
    """A forked agent's pointer to the context it copied; subject: agent id."""
    LINEAGE = "lineage"
    """The session that a session says it comes from; subject: that other session."""
    RECORDED_TOTAL = "recorded_total"
    """The client's own running totals; subject: the constant ``cost-state``."""
    PR_LINK = "pr_link"
    """A pull request that the client linked; subject: its URL."""


class Body(Struct, omit_defaults=True, gc=False):
    """What a claim says. One flat shape for all kinds: a kind leaves empty what it does not state.

    Attributes:
        agent: Agent whose transcript holds the record, or the parent that a sidecar names.
        tool_use: Tool-use id that the record names.
        name: Tool name, workflow name, lineage kind, or pull-request number.
        type: Agent type.
        description: Short description, redacted.
        prompt: Digest of the exact prompt text, to match an inline sidechain with its call.
        model: Model that the record states for the agent.
        status: Status word as the source wrote it.
        reason: Why, as far as the source says.
        run: Workflow run id.
        task: Background task id.
        depth: Spawn depth as the source states it; -1 when it does not.
        is_fork: The agent copies its parent's context.
        in_workflow: The agent runs inside a workflow.
        finished: The sidecar says that the agent finished.
        teammate: The agent is a member of a team.
        background: The call asked for a background agent.
        failed: The result is an error.
        json: A small document kept verbatim (recorded totals).
    """

    agent: str = ""
    tool_use: str = ""
    name: str = ""
    type: str = ""
    description: str = ""
    prompt: str = ""
    model: str = ""
    status: str = ""
    reason: str = ""
    run: str = ""
    task: str = ""
    depth: int = -1
    is_fork: bool = False
    in_workflow: bool = False
    finished: bool = False
    teammate: bool = False
    background: bool = False
    failed: bool = False
    json: str = ""


class Claim(Struct, gc=False):
    """One claim with its grade and its locator inside the source that made it.

    Attributes:
        kind: What it speaks of.
        session: Upstream session id it belongs to.
        subject: Key inside the session, as ``ClaimKind`` says.
        offset: Byte offset of the record.
        ordinal: Position among the claims of one record.
        at: Time in microseconds, 0 when unknown.
        grade: How sure it is.
        body: What it says.
    """

    kind: ClaimKind
    session: str
    subject: str
    offset: int
    ordinal: int
    at: int
    grade: Grade
    body: Body


class SourcedClaim(Struct, frozen=True, gc=False):
    """A claim as it comes back from the store.

    Attributes:
        source: Path of the source inside its root: a stable name, unlike the store's internal number.
        generation: Generation of the source's bytes.
        claim: The claim.
    """

    source: str
    generation: int
    claim: Claim


def encode_body(body: Body) -> str:
    """The stored form: JSON with defaults left out, keys in the order of the struct."""
    return msgspec.json.encode(body).decode()


def decode_body(text: str | bytes) -> Body:
    """The inverse of ``encode_body``."""
    return msgspec.json.decode(text, type=Body)
