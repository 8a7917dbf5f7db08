"""The fold: one record after the other, each handed to what its type asks for. START HERE in this adapter."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from stemma.model.claim import Body, ClaimKind
from stemma.model.entity import MAIN, Compaction, Status, TurnStatus
from stemma.model.event import EventType
from stemma.model.problem import KindCount, LineFault
from stemma.model.source import Placement, SourceKind
from stemma.model.usage import LARGEST_STORED, SYNTHETIC_MODEL
from stemma.normalize.claude_code import subagents, tools, turns, usage
from stemma.normalize.claude_code.context import Context, touch
from stemma.normalize.claude_code.decode import recover
from stemma.normalize.claude_code.kinds import ATTACHMENTS, SYSTEM_SUBTYPES, TYPES
from stemma.normalize.claude_code.records import Block, Count, Message, Record, decoder
from stemma.normalize.claude_code.state import MOST_AGENTS, FoldState, remember
from stemma.normalize.claude_code.text import (
    child_id,
    is_client_output,
    is_interrupt,
    microseconds,
    peek,
    short,
    typed_command,
)
from stemma.normalize.port import Normalized

_NEW_PROCESS = ("SessionStart:resume", "SessionStart:startup")
"""Hooks that run when a process begins: whatever an earlier one had started is over by then."""

_EXITS = ("exit", "quit")
"""Commands by which a person leaves."""

_OPEN, _CLOSE = b"{}"
_SKILL_BODY = "Base directory for this skill:"


def fold(placement: Placement, memory: FoldState, lines: Iterable[tuple[int, bytes]]) -> Normalized:
    """Fold lines of one transcript or journal into events and claims.

    Args:
        placement: What the source's path says.
        memory: Memory so far, which is carried on. It shares values with what is returned.
        lines: Offset and bytes of each line, in order.

    Returns:
        What the lines say. Bad input becomes faults, never an exception.
    """
    out = Normalized()
    context = Context(placement, memory, out)
    decode = decoder()
    handle = _contained(_journal_record if placement.kind is SourceKind.JOURNAL else _record)
    for offset, line in lines:
        if not line:
            continue
        if line[0] != _OPEN or line[-1] != _CLOSE:
            offset, line = _trimmed(offset, line)  # noqa: PLW2901 - the record without what stands around it
        try:
            record = decode.decode(line)
        except (ValueError, RecursionError):
            found = recover(line, offset, decode)
            out.faults.extend(found.faults)
            for at, length, recovered in found.records:
                context.line = line[at - offset : at - offset + length]
                handle(context, at, length, recovered)
            continue
        context.line = line
        handle(context, offset, len(line), record)
    return out


Handler = Callable[[Context, int, int, Record], None]


def _contained(handle: Handler) -> Handler:
    """The handler, with a fault of its own kept to the record at hand: it is stored, and no session is lost to it."""

    def contained(context: Context, offset: int, length: int, record: Record) -> None:
        try:
            handle(context, offset, length, record)
        except Exception as error:  # noqa: BLE001 - whatever it is, it costs one record and stands in the record
            context.out.faults.append(LineFault(offset, length, "adapter", type(error).__name__))

    return contained


def _trimmed(offset: int, line: bytes) -> tuple[int, bytes]:
    """A line without the white space around it: that may be read apart from the record, and so is no part of it."""
    text = line.lstrip(b" \t\r\x00")
    return offset + len(line) - len(text), text.rstrip(b" \t\r\x00")


def _place(context: Context, offset: int, length: int, record: Record) -> None:
    """Set what every handler reads: where the record is, when it was, which session states it."""
    context.offset, context.length = offset, length
    context.ordinal = context.claims = 0
    context.uuid = record.uuid or ""
    memory = context.state
    at = microseconds(record.timestamp)
    if at:
        context.at, context.own_time = at, True
        memory.last_at = at
    else:
        context.at, context.own_time = memory.last_at, False
    session = record.sessionId
    if session:
        memory.session = session
    else:
        placement = context.placement
        session = memory.session or placement.session_hint or f"agent-{placement.agent_hint}"
    context.session = session


def _record(context: Context, offset: int, length: int, record: Record) -> None:
    _place(context, offset, length, record)
    message = record.message
    kind = record.type or ""
    if context.in_agent_file:
        context.agent = child_id(record.agentId or context.placement.agent_hint)
    elif not record.isSidechain:
        context.agent = MAIN
    else:
        text = _user_text(message) if kind == "user" and message is not None else ""
        context.agent = subagents.agent_of(context, record, text)
    touch(context, record)
    if context.session not in context.state.started or context.agent != MAIN:
        _announce(context)
    handler = _HANDLERS.get(kind)
    if handler is None:
        _count(context, kind, "", known=kind in TYPES)
    else:
        handler(context, record)


def _announce(context: Context) -> None:
    """The first record of a session in a main file, and of an agent anywhere, starts it."""
    memory = context.state
    if context.agent == MAIN:
        remember(memory.started, context.session, 1, MOST_AGENTS)
        if not context.in_agent_file:
            context.emit(EventType.SESSION_STARTED, context.session)
        return
    mark = f"{context.session}/{context.agent}"
    if mark in memory.seen:
        return
    remember(memory.seen, mark, 1, MOST_AGENTS)
    context.emit(EventType.SUBAGENT_STARTED, context.agent)
    if context.placement.kind is SourceKind.AGENT and context.placement.run_hint:
        context.claim(ClaimKind.DIRECTORY, context.agent, Body(run=context.placement.run_hint))


def _count(context: Context, kind: str, subtype: str, *, known: bool) -> None:
    kinds = context.out.kinds
    entry = kinds.get((kind, subtype))
    if entry is None:
        kinds[kind, subtype] = KindCount(known, 1, context.offset, context.offset)
    else:
        entry.count += 1
        entry.last_offset = context.offset
    if not known:
        context.emit(EventType.RECORD_UNKNOWN, name=f"{kind}/{subtype}" if subtype else kind)


def _user_text(message: Message) -> str:
    content = message.content
    if isinstance(content, str):
        return content
    return "\n".join(block.text for block in content or () if block.text and block.type == "text")


def _user(context: Context, record: Record) -> None:
    _count(context, "user", "", known=True)
    context.part.conversation += 1
    message = record.message
    if message is None or record.isCompactSummary:
        return
    content = message.content
    results = False
    if isinstance(content, list):
        for ordinal, block in enumerate(content):
            if block.type == "tool_result":
                results = True
                _tool_result(context, record, block, ordinal)
    text = _user_text(message)
    if is_interrupt(text):
        tools.mark_interrupted(context)
        turns.interrupted(context)
    elif content and not results:
        _prompt(context, record, text)


def _prompt(context: Context, record: Record, text: str) -> None:
    """A user record without tool results: a prompt, or something that the client wrote in the user's name."""
    cause = record.origin.kind if record.origin is not None else None
    if subagents.notified(context, text, "task_notification"):
        turns.open_turn(context, "system", text)
    elif cause == "coordinator":
        turns.open_turn(context, "agent", text)
    elif record.isMeta:
        _meta(context, record, text)
    elif is_client_output(text):
        turns.answered_locally(context)
    else:
        command = typed_command(text)
        if command is not None:
            turns.open_turn(context, "command", f"/{command.name} {command.args}".strip())
            if command.name in _EXITS:
                turns.left(context)
        elif cause == "task-notification":
            turns.open_turn(context, "system", text)
        else:
            turns.open_turn(context, "human" if context.agent == MAIN else "agent", text)


def _meta(context: Context, record: Record, text: str) -> None:
    if not text.startswith(_SKILL_BODY):
        return
    directory = short(text[len(_SKILL_BODY) :].partition("\n")[0])
    name = directory.rstrip("/").rpartition("/")[2]
    turn = context.turn()
    if record.sourceToolUseID is None and turn is not None and turn.origin == "command":
        context.emit(EventType.SKILL_ACTIVATED, name, "slash_command")
    context.emit(EventType.INSTRUCTION_LOADED, name, "skill_body", directory)


def _names_child(record: Record) -> bool:
    """Whether the result of a call that is in no record may be that of a spawn."""
    head = memoryview(record.toolUseResult)[:2048].tobytes()
    return b'"agentId"' in head or b'"workflowName"' in head


def _tool_result(context: Context, record: Record, block: Block, ordinal: int) -> None:
    execution, text, structured = tools.returned(context, record, block, ordinal)
    name = execution.name
    if name in tools.SPAWNING or (not name and _names_child(record)):
        subagents.spawn_returned(context, record, execution, text)
    elif name == "SendMessage":
        subagents.resumed(context, record, execution)
    elif name == "WebSearch" and execution.message and isinstance(structured, tools.WriteResult):
        searches = _whole(structured.searchCount)
        if searches > 0:
            usage.claim_searches(context, execution.message, execution.tool_use, searches)
    elif name == "Skill":
        done = (
            EventType.SKILL_ACTIVATED if not block.is_error else EventType.SKILL_ACTIVATION_FAILED
        )
        context.emit(done, execution.target, "explicit_tool", turn=execution.turn)


def _whole(value: Count) -> int:
    try:
        number = int(float(value)) if value is not None else -1
    except (ValueError, OverflowError):
        return -1
    return number if abs(number) <= LARGEST_STORED else -1


def _assistant(context: Context, record: Record) -> None:
    _count(context, "assistant", "", known=True)
    part = context.part
    part.conversation += 1
    message = record.message
    if message is None:
        return
    usage.claim_usage(context, record, message)
    origin = record.requestSessionId
    if origin and origin != context.session:
        context.once(ClaimKind.LINEAGE, origin, Body(name="fork"))
    if record.isApiErrorMessage:
        turns.failed(context)
    elif message.model != SYNTHETIC_MODEL:
        part.type = record.attributionAgent or part.type
        part.model = message.model or part.model
        _response(context, record, message)


def _response(context: Context, record: Record, message: Message) -> None:
    """A record of a real response: it belongs to the turn, and its calls are open until their results come."""
    content = message.content
    blocks = [b for b in content if b.type == "tool_use"] if isinstance(content, list) else []
    turn = turns.responded(
        context, message.id or context.uuid, message.stop_reason, calls_tools=bool(blocks)
    )
    if context.state.denied:
        context.state.denied.pop(context.agent, None)
    if record.isAbortedMidStream:
        turn.status = TurnStatus.INTERRUPTED
    for ordinal, block in enumerate(blocks):
        given = tools.arguments(block)
        tools.called(context, block, given, ordinal, turn)
        if block.name in tools.SPAWNING:
            subagents.spawned(context, block, given)


def _system(context: Context, record: Record) -> None:
    subtype = record.subtype or ""
    _count(context, "system", subtype, known=subtype in SYSTEM_SUBTYPES)
    context.part.conversation += 1
    if subtype in ("compact_boundary", "microcompact_boundary"):
        _compacted(context, record, subtype)
    elif subtype == "local_command":
        turns.answered_locally(context)
    elif subtype == "turn_duration":
        milliseconds = _whole(record.durationMs)
        turns.lasted(context, milliseconds * 1000 if milliseconds >= 0 else -1)


def _compacted(context: Context, record: Record, subtype: str) -> None:
    about = record.compactMetadata
    trigger = (about.trigger if about is not None else None) or (
        "micro" if subtype.startswith("micro") else ""
    )
    before = _whole(about.preTokens) if about is not None else -1
    after = _whole(about.postTokens) if about is not None else -1
    took = (
        _whole(about.durationMs) * 1000
        if about is not None and _whole(about.durationMs) >= 0
        else -1
    )
    context.out.compactions.append(
        Compaction(
            context.offset,
            context.uuid,
            context.session,
            context.agent,
            context.at,
            trigger,
            before,
            after,
            took,
        )
    )
    context.part.compactions += 1
    context.emit(EventType.CONTEXT_COMPACTION_COMPLETED, name=trigger, amount=before)
    context.emit(EventType.SESSION_COMPACTED, context.session, trigger, amount=before)


def _attachment(context: Context, record: Record) -> None:
    about = record.attachment
    kind = (about.type if about is not None else None) or ""
    _count(context, "attachment", kind, known=kind in ATTACHMENTS)
    context.part.conversation += 1
    if about is None or kind != "queued_command":
        return
    prompt = about.prompt if isinstance(about.prompt, str) else _block_text(about.prompt)
    subagents.notified(context, prompt, "task_notification")
    turns.open_turn(context, "system", prompt)


def _block_text(blocks: list[Block] | None) -> str:
    return "\n".join(block.text for block in blocks or () if block.text)


def _queue(context: Context, record: Record) -> None:
    operation = record.operation or ""
    _count(context, "queue-operation", operation, known=True)
    context.part.conversation += 1
    if MAIN not in context.state.turns:
        context.state.queued = True
    if record.content:
        content = peek(record.content) if len(record.content) < _LARGE else ""
        text = content or _first_text(record)
        subagents.notified(context, text, "queue_operation")


_LARGE = 400


def _first_text(record: Record) -> str:
    try:
        value = msgspec.json.decode(record.content)
    except (ValueError, RecursionError):
        return ""
    return value if isinstance(value, str) else ""


def _progress(context: Context, record: Record) -> None:
    data = record.data
    _count(context, "progress", (data.type if data is not None else None) or "", known=True)
    context.part.conversation += 1
    subagents.progressed(context, record)
    if data is not None and data.hookName in _NEW_PROCESS and context.own_time:
        context.part.process_ended_at = max(context.part.process_ended_at, context.at)
    inner = data.message if data is not None else None
    if data is None or inner is None or inner.type != "assistant" or inner.message is None:
        return
    if inner.message.usage is None:
        return
    agent, at, own = context.agent, context.at, context.own_time
    context.agent = child_id(data.agentId) if data.agentId else agent
    inner_at = microseconds(inner.timestamp)
    context.at, context.own_time = inner_at or at, own or bool(inner_at)
    embedded = Record(
        uuid=inner.uuid, requestId=inner.requestId, isSidechain=True, version=record.version
    )
    usage.claim_usage(context, embedded, inner.message, via="progress", uuid=inner.uuid or "")
    context.agent, context.at, context.own_time = agent, at, own


def _cost_state(context: Context, record: Record) -> None:
    """Written when a process ends: the client's own bill, and the sign that nothing of that process runs any more."""
    _count(context, "cost-state", "", known=True)
    totals = '{"modelUsage":%s,"totalCostUSD":%s}' % (  # noqa: UP031 - JSON braces
        bytes(record.modelUsage or b"{}").decode("utf-8", "replace"),
        msgspec.json.encode(record.totalCostUSD).decode(),
    )
    context.claim(ClaimKind.RECORDED_TOTAL, "cost-state", Body(json=totals))
    part = context.part
    part.process_ended_at = max(part.process_ended_at, context.at)
    turn = context.turn()
    if turn is None or turn.status is TurnStatus.COMPLETED:
        context.status(Status.COMPLETED, "finished")
    elif turn.status is TurnStatus.OPEN:
        context.status(Status.ERROR, "interrupted")


def _title(context: Context, record: Record) -> None:
    kind = record.type or ""
    _count(context, kind, "", known=True)
    rank, title = (3, record.customTitle) if kind == "custom-title" else (2, record.aiTitle)
    part = context.part
    if title and rank >= part.title_rank:
        part.title, part.title_rank = short(title), rank


def _pr_link(context: Context, record: Record) -> None:
    _count(context, "pr-link", "", known=True)
    if record.prUrl:
        context.claim(ClaimKind.PR_LINK, record.prUrl, Body(name=str(_whole(record.prNumber))))


def _context_ref(context: Context, record: Record) -> None:
    _count(context, "fork-context-ref", "", known=True)
    if context.agent != MAIN:
        context.claim(
            ClaimKind.CONTEXT_REF,
            context.agent,
            Body(is_fork=True, name=record.parentSessionId or ""),
        )


_HANDLERS: dict[str, Callable[[Context, Record], None]] = {
    "user": _user,
    "assistant": _assistant,
    "system": _system,
    "attachment": _attachment,
    "queue-operation": _queue,
    "progress": _progress,
    "cost-state": _cost_state,
    "ai-title": _title,
    "custom-title": _title,
    "pr-link": _pr_link,
    "fork-context-ref": _context_ref,
}


def _journal_record(context: Context, offset: int, length: int, record: Record) -> None:
    """A line of a workflow's journal: which agents its run started, and which gave a result."""
    _place(context, offset, length, record)
    context.session = context.placement.session_hint
    context.agent = MAIN
    kind = record.type or ""
    known = kind in ("launched", "started", "result")
    kinds = context.out.kinds
    entry = kinds.setdefault((f"journal:{kind}", ""), KindCount(known, 0, offset, offset))
    entry.count += 1
    entry.last_offset = offset
    if known and record.agentId:
        run = context.placement.run_hint
        context.claim(
            ClaimKind.JOURNAL,
            record.agentId,
            Body(run=run, status=kind, description=short(record.label), in_workflow=True),
        )
