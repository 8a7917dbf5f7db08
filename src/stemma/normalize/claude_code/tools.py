"""Tool calls and their results, and the files that they touch."""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from stemma.model.entity import Status, ToolExecution, ToolStatus, Turn
from stemma.model.event import EventType
from stemma.normalize.claude_code.context import Context
from stemma.normalize.claude_code.decode import salvage
from stemma.normalize.claude_code.records import Block, Record, ToolInput
from stemma.normalize.claude_code.state import MOST_AGENTS, MOST_OPEN_CALLS, remember
from stemma.normalize.claude_code.text import peek, short
from stemma.normalize.claude_code.turns import in_turn

SPAWNING = frozenset({"Task", "Agent", "Workflow"})
"""Tools that start an agent or a workflow of agents."""

ASKING = frozenset({"AskUserQuestion", "ExitPlanMode"})
"""Tools that wait for a person's answer."""

_ACTIONS = {
    "Read": "read", "NotebookRead": "read", "Write": "created", "Edit": "modified", "MultiEdit": "modified",
    "NotebookEdit": "modified", "Bash": "executed", "PowerShell": "executed", "Grep": "searched", "Glob": "searched",
    "LS": "searched", "WebSearch": "searched", "WebFetch": "read", "Task": "spawned", "Agent": "spawned",
    "Workflow": "spawned", "Skill": "skill",
}  # fmt: skip

_inputs = msgspec.json.Decoder(ToolInput)
_EXIT = re.compile(r"(?:Error: )?Exit code (\d{1,9})(?!\d)")


class WriteResult(msgspec.Struct):
    """What a file tool or shell reports beside its text."""

    type: str | None = None
    filePath: str | None = None  # noqa: N815 - the client's own spelling, as below
    interrupted: bool | None = None
    backgroundTaskId: str | None = None  # noqa: N815
    searchCount: int | float | str | None = None  # noqa: N815


Structured = WriteResult | str | list[msgspec.Raw] | None
_writes: msgspec.json.Decoder[Structured] = msgspec.json.Decoder(Structured)


def arguments(block: Block) -> ToolInput:
    """The call's arguments as far as they are read; an argument of an unexpected type is left out."""
    try:
        return _inputs.decode(block.input) if block.input else ToolInput()
    except (ValueError, RecursionError):
        return salvage(block.input, ToolInput)


def target(name: str, given: ToolInput) -> str:
    """What a call is about, in a few words: the path, the command, the query."""
    if name == "Skill":
        return short(given.skill or given.command or given.name)
    text = (
        given.file_path or given.notebook_path or given.command or given.pattern or given.query or given.url
        or given.description or given.skill or given.path or given.to or given.name
    )  # fmt: skip
    return short(text)


def called(context: Context, block: Block, given: ToolInput, ordinal: int, turn: Turn) -> None:
    """A tool call: an open execution until its result comes.

    Args:
        context: The record at hand.
        block: The call.
        given: Its arguments.
        ordinal: Its position among the calls of the record.
        turn: The turn it belongs to; its latest response is the one that calls.
    """
    name = block.name or ""
    identity = block.id or ""
    about = target(name, given)
    execution = ToolExecution(
        offset=context.offset,
        ordinal=ordinal,
        tool_use=identity,
        session=context.session,
        agent=context.agent,
        turn=turn.offset,
        name=name,
        action=_ACTIONS.get(name, ""),
        target=about,
        message=turn.last_message,
        started_at=context.at,
    )
    turn.tools += 1
    context.part.tools += 1
    if identity:
        remember(context.state.calls, identity, execution, MOST_OPEN_CALLS)
    context.out.tools[context.offset, ordinal] = execution
    context.emit(EventType.TOOL_REQUESTED, identity, name, about)
    if name in ASKING:
        context.status(Status.WAITING, "question")
    elif name in SPAWNING:
        context.status(Status.WAITING, "subagent")


class Result(NamedTuple):
    """A tool result with the call that it answers, when the call is known."""

    execution: ToolExecution
    text: str
    structured: Structured


def returned(context: Context, record: Record, block: Block, ordinal: int) -> Result:
    """A tool result: closes its call, or stands alone where the call is in no record."""
    identity = block.tool_use_id or ""
    turn = in_turn(context)
    execution = context.state.calls.pop(identity, None)
    if execution is None:
        execution = ToolExecution(
            offset=context.offset,
            ordinal=ordinal,
            tool_use=identity,
            session=context.session,
            agent=context.agent,
            turn=turn.offset,
            name="",
        )
    failed = bool(block.is_error)
    name = execution.name
    text = peek(block.content) if failed or name in SPAWNING or not name else ""
    structured = _structured(record, name)
    execution.ended_at = context.at
    execution.result_bytes = len(block.content)
    execution.result_offset = context.offset
    execution.status, execution.reason, execution.exit_code = _ending(
        record, text, structured, failed=failed
    )
    if name == "Write" and isinstance(structured, WriteResult) and structured.type == "update":
        execution.action = "modified"
    context.out.tools[execution.offset, execution.ordinal] = execution
    _announce(context, execution, text)
    if execution.status is ToolStatus.COMPLETED:
        context.status(Status.WORKING)
    else:
        turn.errors += execution.status is ToolStatus.FAILED
        context.status(Status.WORKING)
        if execution.status is ToolStatus.DENIED:
            remember(context.state.denied, context.agent, execution, MOST_AGENTS)
    return Result(execution, text, structured)


def _structured(record: Record, name: str) -> Structured:
    # What Read returns is the file itself: never worth a second decode.
    if not record.toolUseResult or name in ("Read", "Grep", "Glob"):
        return None
    try:
        return _writes.decode(record.toolUseResult)
    except (ValueError, RecursionError):
        return salvage(record.toolUseResult, WriteResult)


_INTERRUPT = "[Request interrupted by user"
_DENIALS = (
    ("user-rejected", re.compile(r"The user doesn't want to (?:proceed|take this action)")),
    (
        "permission-rule",
        re.compile(
            r"Permission to use |Claude requested permissions |This command requires approval|"
            r"[^\n]{1,300} (?:was blocked\. For security, Claude Code|needs approval\.)"
        ),
    ),
)
"""How clients before 2.1.210, which state no kind, word a denial; matched at the start of the result."""


class _Ending(NamedTuple):
    status: ToolStatus
    reason: str
    exit_code: int


def _ending(record: Record, text: str, structured: object, *, failed: bool) -> _Ending:
    if not failed:
        if isinstance(structured, WriteResult) and structured.interrupted:
            return _Ending(ToolStatus.INTERRUPTED, "interrupted", -1)
        background = isinstance(structured, WriteResult) and bool(structured.backgroundTaskId)
        return _Ending(ToolStatus.COMPLETED, "background" if background else "", -1)
    code = _exit_code(text)
    if text.startswith(_INTERRUPT) or text.endswith(f"{_INTERRUPT} for tool use]"):
        return _Ending(ToolStatus.INTERRUPTED, "interrupted", code)
    denial = record.toolDenialKind or next(
        (kind for kind, form in _DENIALS if form.match(text)), ""
    )
    if denial:
        return _Ending(ToolStatus.DENIED, denial, -1)
    if text.startswith("<tool_use_error>Sibling tool call errored"):
        return _Ending(ToolStatus.FAILED, "sibling", -1)
    return _Ending(ToolStatus.FAILED, "exit-code" if code >= 0 else "tool-error", code)


def _exit_code(text: str) -> int:
    found = _EXIT.match(text)
    return int(found.group(1)) if found else -1


_ENDINGS = {
    ToolStatus.COMPLETED: EventType.TOOL_COMPLETED,
    ToolStatus.FAILED: EventType.TOOL_FAILED,
    ToolStatus.DENIED: EventType.TOOL_DENIED,
    ToolStatus.INTERRUPTED: EventType.TOOL_FAILED,
}
_FILE_EVENTS = {
    "read": EventType.FILE_READ,
    "created": EventType.FILE_CREATED,
    "modified": EventType.FILE_MODIFIED,
}


def _announce(context: Context, execution: ToolExecution, text: str) -> None:
    elapsed = execution.ended_at - execution.started_at if execution.started_at else -1
    kind = _ENDINGS[execution.status]
    summary = short(text) if execution.status is not ToolStatus.COMPLETED else ""
    context.emit(
        kind, execution.tool_use, execution.name, summary, amount=elapsed, turn=execution.turn
    )
    if execution.status is ToolStatus.COMPLETED and execution.name != "WebFetch":
        file_event = _FILE_EVENTS.get(execution.action)
        if file_event is not None and execution.target:
            context.emit(file_event, execution.target, execution.name, turn=execution.turn)


def mark_interrupted(context: Context) -> None:
    """The interrupt marker after a denial means that the call was interrupted, not denied."""
    execution = context.state.denied.pop(context.agent, None)
    if execution is not None:
        execution.status, execution.reason = ToolStatus.INTERRUPTED, "interrupted"
        context.out.tools[execution.offset, execution.ordinal] = execution
