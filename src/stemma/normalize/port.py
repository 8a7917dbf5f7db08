"""What an adapter for one agent provides, and what it returns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from msgspec import Struct, field

from stemma.model.claim import Claim
from stemma.model.entity import Compaction, Participation, ToolExecution, Turn
from stemma.model.event import PackedEvent
from stemma.model.problem import KindCount, LineFault
from stemma.model.source import Placement
from stemma.model.usage import UsageClaim


class Normalized(Struct):
    """Everything that a stretch of one source's bytes says, as values.

    Turns and tool executions appear whole each time one of their records is read: the later value replaces the earlier
    one under the same key. Participations and kind counts are increments over what earlier stretches said.

    Attributes:
        events: Events in the order of their records.
        usage: Usage claims, merged within the stretch.
        claims: Claims other than usage.
        turns: Turns that changed, by offset of their opening record.
        tools: Tool executions that changed, by offset and ordinal of the call.
        compactions: Compaction boundaries.
        parts: Increments of participation, by session and agent.
        kinds: Increments of record counts, by type and subtype.
        faults: Lines and fields that could not be read.
        state: The adapter's memory after the stretch, serialised.
    """

    events: list[PackedEvent] = field(default_factory=list)
    usage: list[UsageClaim] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    turns: dict[int, Turn] = field(default_factory=dict)
    tools: dict[tuple[int, int], ToolExecution] = field(default_factory=dict)
    compactions: list[Compaction] = field(default_factory=list)
    parts: dict[tuple[str, str], Participation] = field(default_factory=dict)
    kinds: dict[tuple[str, str], KindCount] = field(default_factory=dict)
    faults: list[LineFault] = field(default_factory=list)
    state: bytes = b""


class Capability(Struct, frozen=True):
    """One kind of signal and whether this agent's transcripts carry it.

    Attributes:
        signal: What is asked for, such as ``agent parent``.
        since: First client version known to write it, or empty when none does.
        measured: Whether values are read (true) or estimated (false).
        note: What is missing or to be known, for people.
    """

    signal: str
    since: str
    measured: bool
    note: str


class AgentAdapter(Protocol):
    """Reads one agent's records. Pure: same placement, state and lines, same result."""

    @property
    def agent(self) -> str:
        """Name of the agent product, such as ``claude-code``."""
        ...

    @property
    def revision(self) -> int:
        """Raised whenever the same bytes would yield something else."""
        ...

    def normalize(
        self, placement: Placement, state: bytes, lines: Iterable[tuple[int, bytes]]
    ) -> Normalized:
        """Fold complete lines of a transcript or journal.

        Args:
            placement: What the source's path says.
            state: Memory of the fold so far; empty at the start.
            lines: Offset and bytes of each line, without newlines, in order.

        Returns:
            What the lines say. Never raises for bad input.
        """
        ...

    def whole_length(self, tail: bytes) -> int:
        """How many bytes of an unterminated last line are complete records, and so may be taken before its newline arrives.

        Whatever follows them must not change what they say.
        """
        ...

    def sidecar(self, placement: Placement, data: bytes) -> Normalized | None:
        """Read a whole sidecar document; nothing while it is not complete JSON."""
        ...

    def capabilities(self) -> tuple[Capability, ...]:
        """What this agent's transcripts can and cannot tell."""
        ...
