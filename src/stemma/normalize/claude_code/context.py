"""What every handler of a record works with: the memory, the output, and the record at hand."""

from __future__ import annotations

from stemma.model.claim import Body, Claim, ClaimKind
from stemma.model.entity import MAIN, Participation, Turn
from stemma.model.event import ADAPTER, EventType, PackedEvent
from stemma.model.evidence import Grade
from stemma.model.source import Placement, SourceKind
from stemma.normalize.claude_code.records import Record
from stemma.normalize.claude_code.state import MOST_AGENTS, FoldState, remember
from stemma.normalize.claude_code.text import child_id
from stemma.normalize.port import Normalized

_OF_AGENTS = frozenset(
    {ClaimKind.LAUNCH, ClaimKind.JOURNAL, ClaimKind.NOTIFICATION, ClaimKind.FOREIGN_PROGRESS, ClaimKind.RESUME}
)  # fmt: skip


class Context:
    """One fold over a stretch of one source.

    Attributes:
        placement: What the source's path says.
        state: Memory carried from record to record.
        out: What has been found so far.
        in_agent_file: Whether the source is an agent's own transcript.
        offset: Offset of the record at hand.
        length: Its length.
        line: The line it stands on.
        at: Its time, or the last time known.
        own_time: Whether ``at`` is the record's own.
        session: The session it belongs to.
        agent: The agent it belongs to.
        uuid: Its uuid, or empty.
        ordinal: Number of events emitted for it.
        claims: Number of claims made for it.
    """

    __slots__ = (
        "agent", "at", "claims", "in_agent_file", "length", "line", "offset", "ordinal", "out", "own_time", "part", "parts",
        "placement", "session", "state", "uuid",
    )  # fmt: skip

    def __init__(self, placement: Placement, state: FoldState, out: Normalized) -> None:
        self.placement = placement
        self.state = state
        self.out = out
        self.in_agent_file = placement.kind is SourceKind.AGENT
        self.parts: dict[tuple[str, str], Participation] = out.parts
        self.part: Participation = Participation("", "")
        self.offset = self.length = self.at = self.ordinal = self.claims = 0
        self.own_time = False
        self.line = b""
        self.session = self.agent = self.uuid = ""

    def emit(  # noqa: PLR0913 - the optional fields of an event
        self,
        kind: EventType,
        subject: str = "",
        name: str = "",
        summary: str = "",
        *,
        amount: int = -1,
        turn: int = -2,
    ) -> None:
        """Add an event of the record at hand; ``turn`` defaults to the agent's current turn."""
        if turn == -2:  # noqa: PLR2004 - not given
            current = self.state.turns.get(self.agent)
            turn = current.offset if current is not None else -1
        self.out.events.append(
            PackedEvent(
                self.offset, self.length, self.ordinal, kind, self.at, 0 if self.own_time else ADAPTER,
                self.session, self.agent, turn, self.uuid, subject, name, summary, amount,
            )
        )  # fmt: skip
        self.ordinal += 1

    def claim(
        self,
        kind: ClaimKind,
        subject: str,
        body: Body,
        *,
        grade: Grade = Grade.OBSERVED,
        session: str = "",
    ) -> None:
        """Add a claim of the record at hand."""
        if subject == MAIN and kind in _OF_AGENTS:
            subject = child_id(subject)
        self.out.claims.append(
            Claim(
                kind,
                session or self.session,
                subject,
                self.offset,
                self.claims,
                self.at,
                grade,
                body,
            )
        )
        self.claims += 1

    def once(self, kind: ClaimKind, subject: str, body: Body) -> None:
        """Make a claim that many records repeat only the first time in a source."""
        mark = f"{self.session}/{kind}:{subject}:{body.tool_use}:{body.name}"
        seen = self.state.seen
        if mark not in seen:
            remember(seen, mark, 1, MOST_AGENTS)
            self.claim(kind, subject, body)

    def turn(self) -> Turn | None:
        """The current turn of the record's agent."""
        return self.state.turns.get(self.agent)

    def status(self, word: str, reason: str = "") -> None:
        """State what the record says about the status of its agent."""
        part = self.part
        part.status, part.status_reason, part.status_at = word, reason, self.at

    def is_main(self) -> bool:
        """Whether the record belongs to the session's main thread."""
        return self.agent == MAIN


def touch(context: Context, record: Record) -> None:
    """Add the record at hand to the participation of its agent."""
    key = (context.session, context.agent)
    part = context.parts.get(key)
    if part is None:
        part = context.parts[key] = Participation(context.session, context.agent)
    context.part = part
    part.records += 1
    if context.own_time:
        at = context.at
        if not part.first_at or at < part.first_at:
            part.first_at = at
        part.last_at = max(part.last_at, at)
    if part.first_offset < 0:
        part.first_offset = context.offset
    part.last_offset = context.offset
    if record.cwd and not part.cwd:
        part.cwd = record.cwd
    if record.gitBranch:
        part.branch = record.gitBranch
    if record.version:
        part.version = record.version
    if record.entrypoint:
        part.entrypoint = record.entrypoint
    root = record.session_id
    if root and root != context.session:
        part.root_session = part.root_session or root
        context.once(ClaimKind.LINEAGE, root, Body(name="clear"))
