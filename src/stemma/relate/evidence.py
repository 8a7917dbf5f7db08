"""What is known of one agent, gathered from the store, in the shape that relating and deriving need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from stemma.model.claim import ClaimKind, SourcedClaim
from stemma.model.entity import Participation


class SourcedPart(Struct, frozen=True):
    """A participation and the source that states it.

    Attributes:
        source: Stable name of the source.
        generation: Generation of its bytes.
        project: Project slug of the source's path.
        kind: Kind of the source.
        part: What it says.
    """

    source: str
    generation: int
    project: str
    kind: str
    part: Participation


class MainThread(Struct, frozen=True):
    """What an agent's end may depend on: how far the session's main thread got.

    Attributes:
        process_ended_at: Latest sign that the client's process ended or a new one began; 0 when there is none.
        status: Status of the main thread as of its last record.
        status_reason: Its reason.
        status_at: Time of that record.
        headless: A program drives the client.
        version: Client version.
    """

    process_ended_at: int = 0
    status: str = ""
    status_reason: str = ""
    status_at: int = 0
    headless: bool = False
    version: str = ""


class AgentEvidence(Struct):
    """All evidence about one subagent.

    Attributes:
        session: Its session.
        agent: Its id.
        parts: What transcripts say of it.
        about: Claims with the agent as their subject.
        by_tool: Claims about the tool calls that claims in ``about`` name, by tool-use id.
        by_run: Claims about the workflow runs that claims in ``about`` name, by run id.
        by_prompt: Calls of the session that pass the very prompt that the agent's transcript begins with.
        main: The main thread.
    """

    session: str
    agent: str
    parts: list[SourcedPart] = field(default_factory=list)
    about: list[SourcedClaim] = field(default_factory=list)
    by_tool: dict[str, list[SourcedClaim]] = field(default_factory=dict)
    by_run: dict[str, list[SourcedClaim]] = field(default_factory=dict)
    by_prompt: list[SourcedClaim] = field(default_factory=list)
    main: MainThread = MainThread()

    def of(self, *kinds: ClaimKind) -> Iterator[SourcedClaim]:
        """Claims about the agent of the given kinds; of a sidecar only its latest generation."""
        return (one for one in current(self.about) if one.claim.kind in kinds)

    def tool_uses(self) -> list[str]:
        """Tool-use ids under which the agent was started or resumed, as far as claims name them."""
        found = {one.claim.body.tool_use for one in self.about if one.claim.body.tool_use}
        return sorted(found)

    def prompts(self) -> list[str]:
        """Digests of the prompts that the agent's transcripts begin with."""
        return sorted({one.part.prompt_digest for one in self.parts} - {""})

    def runs(self) -> list[str]:
        """Workflow runs that the agent's claims name."""
        return sorted({one.claim.body.run for one in self.about if one.claim.body.run})


REPLACED_WHOLE = (ClaimKind.SIDECAR, ClaimKind.RUN_STATE)
"""Claims of sources that are replaced whole: a later generation takes the place of an earlier one."""


def current(claims: Iterable[SourcedClaim]) -> list[SourcedClaim]:
    """The claims that facts are made from, in a stable order: all, but of sidecars only the latest generation."""
    ordered = sorted(claims, key=_order)
    latest: dict[str, int] = {}
    for one in ordered:
        if one.claim.kind in REPLACED_WHOLE:
            latest[one.source] = max(latest.get(one.source, -1), one.generation)
    return [
        one
        for one in ordered
        if one.claim.kind not in REPLACED_WHOLE or one.generation == latest[one.source]
    ]


def _order(one: SourcedClaim) -> tuple[int, str, int, int, int]:
    return (one.claim.at, one.source, one.generation, one.claim.offset, one.claim.ordinal)


def latest_parts(parts: Iterable[SourcedPart]) -> list[SourcedPart]:
    """Of each source the participation of its latest generation."""
    latest: dict[str, SourcedPart] = {}
    for one in parts:
        held = latest.get(one.source)
        if held is None or one.generation > held.generation:
            latest[one.source] = one
    return [latest[name] for name in sorted(latest)]
