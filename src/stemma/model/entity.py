"""Entities in the shape in which one source states them, before sources are united."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

MAIN = "main"
"""Agent id of a session's main thread."""


class AgentKind(StrEnum):
    """What an agent is for (DESIGN section 5, closed sets); only the first four are what a user means by subagent."""

    MAIN = "main"
    TASK = "task"
    WORKFLOW = "workflow"
    FORK = "fork"
    TEAMMATE = "teammate"
    COMPACTION = "compaction"
    WARMUP = "warmup"
    SUGGESTION = "suggestion"


HELPER_KINDS = (AgentKind.COMPACTION, AgentKind.WARMUP, AgentKind.SUGGESTION)
"""Agents that the client starts for itself: their tokens count, they are not counted as subagents."""


class Status(StrEnum):
    """The five status words of DESIGN section 3."""

    WORKING = "working"
    WAITING = "waiting"
    COMPLETED = "completed"
    ERROR = "error"
    UNKNOWN = "unknown"


class TurnStatus(StrEnum):
    """How a turn ended, as far as its records say."""

    OPEN = "open"
    COMPLETED = "completed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class ToolStatus(StrEnum):
    """How a tool call ended, as far as its records say."""

    OPEN = "open"
    COMPLETED = "completed"
    FAILED = "failed"
    DENIED = "denied"
    INTERRUPTED = "interrupted"


class Turn(Struct):
    """One prompt and what followed until the agent yielded, as one source states it.

    Attributes:
        offset: Offset of the opening record in its source.
        uuid: Uuid of the opening record (the turn's identity; copies share it), or empty.
        session: Session that the opening record states.
        agent: Whose turn it is.
        origin: ``human``, ``command``, ``system``, ``agent`` or ``unknown``.
        opened_at: Time of the opening record, microseconds.
        last_at: Time of the turn's last record.
        status: How it ended.
        duration: Duration that the client states, microseconds; -1 when it does not.
        prompt: Redacted start of the prompt.
        first_message: Message id of the first response, or empty; its owner owns the turn.
        last_message: Message id of the latest response.
        responses: Distinct consecutive message ids.
        tools: Tool calls.
        errors: Failed tool calls and failed API calls.
        closed: Whether ``turn.completed`` or ``turn.failed`` has been emitted.
    """

    offset: int
    uuid: str
    session: str
    agent: str
    origin: str
    opened_at: int
    last_at: int
    status: TurnStatus = TurnStatus.OPEN
    duration: int = -1
    prompt: str = ""
    first_message: str = ""
    last_message: str = ""
    responses: int = 0
    tools: int = 0
    errors: int = 0
    closed: bool = False


class ToolExecution(Struct):
    """One tool call and its result, as one source states it.

    Attributes:
        offset: Offset of the record with the call (of the result when the call is nowhere).
        ordinal: Position of the call among the record's blocks.
        tool_use: Tool-use id.
        session: Session that the record states.
        agent: Who called.
        turn: Offset of the turn's opening record, or -1.
        name: Tool name, empty when only the result is there.
        action: ``read``, ``created``, ``modified``, ``executed``, ``searched``, ``spawned``, ``skill`` or empty.
        target: Redacted start of what it was about: a path, a command, a query.
        message: Message id of the response that called.
        started_at: Time of the call, 0 when unknown.
        ended_at: Time of the result, 0 while open.
        status: How it ended.
        reason: Why it failed or was denied: ``exit-code``, ``user-rejected``, ``permission-rule``, ``sibling``, …
        exit_code: Exit code that the result states, -1 when none.
        result_bytes: Size of the result's content in the record, -1 while open.
        result_offset: Offset of the record with the result, -1 while open.
    """

    offset: int
    ordinal: int
    tool_use: str
    session: str
    agent: str
    turn: int
    name: str
    action: str = ""
    target: str = ""
    message: str = ""
    started_at: int = 0
    ended_at: int = 0
    status: ToolStatus = ToolStatus.OPEN
    reason: str = ""
    exit_code: int = -1
    result_bytes: int = -1
    result_offset: int = -1


class Compaction(Struct, gc=False):
    """The agent rewrote its context: one boundary as the transcript states it.

    Attributes:
        offset: Offset of the boundary record.
        uuid: Its uuid; copies in forks share it.
        session: Session that it states.
        agent: Whose context it was.
        at: Time, microseconds.
        trigger: ``manual``, ``auto`` or ``micro``.
        tokens_before: Context tokens before, -1 when not stated.
        tokens_after: Context tokens after, -1 when not stated.
        duration: How long it took, microseconds, -1 when not stated.
    """

    offset: int
    uuid: str
    session: str
    agent: str
    at: int
    trigger: str
    tokens_before: int
    tokens_after: int
    duration: int


class Participation(Struct):
    """What one source says of one agent of one session, summed up; the part that every record adds to.

    Fields with ``last`` in their rule come from the latest record of the source that states them.

    Attributes:
        session: Upstream session id.
        agent: ``main`` or an agent id.
        first_at: Earliest time of any record, 0 when none has one.
        last_at: Latest time of any record.
        first_offset: Offset of the first record.
        last_offset: Offset of the last record.
        records: Records.
        conversation: Records of a conversation, queued prompts and progress included: 0 means that there is none here.
        prompts: Prompts by a person.
        responses: Distinct consecutive message ids.
        tools: Tool calls.
        api_errors: Final API failures.
        compactions: Compaction boundaries.
        cwd: Working directory, first.
        branch: Git branch, last.
        version: Client version, last.
        entrypoint: How the client was started, last.
        model: Model of the latest response that is no synthetic message.
        type: Agent type that the records attribute to it, last.
        title: Title, by rank and then last; without one, the first command that was typed.
        title_rank: 3 custom, 2 generated, 0 none.
        first_prompt: Redacted start of the first prompt.
        prompt_digest: Digest of the first prompt's exact text, or empty.
        root_session: First session id of the process, where a record states one.
        status: Status of the agent as of the last record.
        status_reason: Its reason.
        status_at: Time of the record that decided it.
        process_ended_at: Time of the latest record that is written when a process ends or a new one begins; 0 when none.
        headless: The first prompt came through the queue, as it does when a program drives the client.
    """

    session: str
    agent: str
    first_at: int = 0
    last_at: int = 0
    first_offset: int = -1
    last_offset: int = -1
    records: int = 0
    conversation: int = 0
    prompts: int = 0
    responses: int = 0
    tools: int = 0
    api_errors: int = 0
    compactions: int = 0
    cwd: str = ""
    branch: str = ""
    version: str = ""
    entrypoint: str = ""
    model: str = ""
    type: str = ""
    title: str = ""
    title_rank: int = 0
    first_prompt: str = ""
    prompt_digest: str = ""
    root_session: str = ""
    status: str = ""
    status_reason: str = ""
    status_at: int = 0
    process_ended_at: int = 0
    headless: bool = False


def extended(old: Participation, new: Participation, /) -> Participation:
    """``old`` followed by ``new`` of the same source, session and agent: associative, in the order of offsets."""
    times = [t for t in (old.first_at, new.first_at) if t]
    return Participation(
        session=old.session,
        agent=old.agent,
        first_at=min(times, default=0),
        last_at=max(old.last_at, new.last_at),
        first_offset=old.first_offset,
        last_offset=new.last_offset,
        records=old.records + new.records,
        conversation=old.conversation + new.conversation,
        prompts=old.prompts + new.prompts,
        responses=old.responses + new.responses,
        tools=old.tools + new.tools,
        api_errors=old.api_errors + new.api_errors,
        compactions=old.compactions + new.compactions,
        cwd=old.cwd or new.cwd,
        branch=new.branch or old.branch,
        version=new.version or old.version,
        entrypoint=new.entrypoint or old.entrypoint,
        model=new.model or old.model,
        type=new.type or old.type,
        title=new.title if new.title_rank >= max(old.title_rank, 1) else old.title or new.title,
        title_rank=max(old.title_rank, new.title_rank),
        first_prompt=old.first_prompt or new.first_prompt,
        prompt_digest=old.prompt_digest or new.prompt_digest,
        root_session=old.root_session or new.root_session,
        status=new.status or old.status,
        status_reason=new.status_reason if new.status else old.status_reason,
        status_at=new.status_at if new.status else old.status_at,
        process_ended_at=max(old.process_ended_at, new.process_ended_at),
        headless=old.headless or new.headless,
    )
