"""Subagents: the records that name them, start them, report about them and end them."""

from __future__ import annotations

import re

import msgspec

from stemma.model.claim import Body, ClaimKind
from stemma.model.entity import MAIN, ToolExecution, ToolStatus
from stemma.model.event import EventType
from stemma.model.evidence import Grade
from stemma.normalize.claude_code.context import Context
from stemma.normalize.claude_code.decode import salvage
from stemma.normalize.claude_code.records import Block, Record, ToolInput
from stemma.normalize.claude_code.state import (
    MOST_CHAIN_LINKS,
    MOST_SPAWNS,
    SpawnMemory,
    remember,
)
from stemma.normalize.claude_code.text import child_id, digest, notifications, short


class SpawnOutcome(msgspec.Struct):
    """The structured result of an agent, workflow or message tool."""

    status: str | None = None
    agentId: str | None = None  # noqa: N815 - the client's own spelling, as below
    agent_id: str | None = None
    agentType: str | None = None  # noqa: N815
    resolvedModel: str | None = None  # noqa: N815
    resumedAgentId: str | None = None  # noqa: N815
    runId: str | None = None  # noqa: N815
    taskId: str | None = None  # noqa: N815
    workflowName: str | None = None  # noqa: N815
    description: str | None = None


_outcomes = msgspec.json.Decoder(SpawnOutcome)
_AGENT_ID_LINE = re.compile(r"^agentId: ([\w@.\-]+)", re.MULTILINE)


def spawned(context: Context, block: Block, given: ToolInput) -> None:
    """A call that starts an agent or a workflow: the block that edges are proved by."""
    identity = block.id or ""
    if not identity:
        return
    prompt = digest(given.prompt) if given.prompt else ""
    context.claim(
        ClaimKind.SPAWN_BLOCK,
        identity,
        Body(
            agent=context.agent,
            name=block.name or "",
            type=given.subagent_type or "",
            description=short(given.description or given.name),
            prompt=prompt,
            background=bool(given.run_in_background),
        ),
    )
    spawns = context.state.spawns
    spawns.append(SpawnMemory(identity, prompt, context.agent))
    del spawns[:-MOST_SPAWNS]


def spawn_returned(context: Context, record: Record, execution: ToolExecution, text: str) -> None:
    """The result of a spawn call: names the child, and ends it when the call was a waiting one."""
    outcome = _outcome(record)
    child = outcome.agentId or outcome.agent_id or ""
    if not child and execution.name in ("Task", "Agent", ""):
        named = _AGENT_ID_LINE.search(text)
        child = named.group(1) if named and execution.name else ""
    tool_use = execution.tool_use
    status = outcome.status or ""
    failed = execution.status is not ToolStatus.COMPLETED
    if execution.name or child:
        context.claim(
            ClaimKind.SPAWN_RESULT,
            tool_use,
            Body(agent=context.agent, tool_use=tool_use, status=status, failed=failed,
                 reason=execution.reason if failed else "", run=outcome.runId or ""),
        )  # fmt: skip
    if child:
        context.claim(
            ClaimKind.LAUNCH,
            child,
            Body(agent=context.agent, tool_use=tool_use, status=status, failed=failed,
                 reason=execution.reason if failed else "", type=outcome.agentType or "",
                 model=outcome.resolvedModel or "", description=short(outcome.description)),
        )  # fmt: skip
        if status != "async_launched":
            kind = EventType.SUBAGENT_FAILED if failed else EventType.SUBAGENT_COMPLETED
            context.emit(kind, child, execution.name, turn=execution.turn)
    if outcome.runId:
        context.claim(
            ClaimKind.DISPATCH,
            outcome.runId,
            Body(agent=context.agent, tool_use=tool_use, name=outcome.workflowName or "", task=outcome.taskId or "",
                 run=outcome.runId, status=status),
        )  # fmt: skip


def resumed(context: Context, record: Record, execution: ToolExecution) -> None:
    """A message to a finished agent starts a new run of it."""
    child = _outcome(record).resumedAgentId
    if child:
        context.claim(
            ClaimKind.RESUME, child, Body(agent=context.agent, tool_use=execution.tool_use)
        )


def _outcome(record: Record) -> SpawnOutcome:
    try:
        return _outcomes.decode(record.toolUseResult) if record.toolUseResult else SpawnOutcome()
    except (ValueError, RecursionError):
        return salvage(record.toolUseResult, SpawnOutcome)


def notified(context: Context, text: str, via: str) -> bool:
    """Claims from a task notification; whether the text is one.

    Args:
        context: The record at hand.
        text: The text that may be a notification.
        via: ``task_notification`` or ``queue_operation``: the join path that it proves.
    """
    found = notifications(text)
    for one in found:
        if one.task:
            context.claim(
                ClaimKind.NOTIFICATION,
                one.task,
                Body(
                    agent=context.agent,
                    tool_use=one.tool_use,
                    status=one.status,
                    name=via,
                    task=one.task,
                ),
                grade=Grade.OBSERVED,
            )
    return bool(found)


def progressed(context: Context, record: Record) -> None:
    """Progress records of old clients: what they say of the agent that made progress."""
    data = record.data
    if (
        data is not None
        and data.type == "agent_progress"
        and data.agentId
        and record.parentToolUseID
    ):
        context.once(
            ClaimKind.LAUNCH,
            data.agentId,
            Body(agent=context.agent, tool_use=record.parentToolUseID, status="running"),
        )
    if record.agentId and record.agentId != context.agent and not record.isSidechain:
        context.once(ClaimKind.FOREIGN_PROGRESS, record.agentId, Body(agent=context.agent))


def agent_of(context: Context, record: Record, text: str) -> str:
    """The agent that a record belongs to.

    Args:
        context: The fold; its session is already that of the record.
        record: The record.
        text: Its prompt text when it is a user record, to anchor an inline sidechain.
    """
    if context.in_agent_file:
        return child_id(record.agentId or context.placement.agent_hint)
    if not record.isSidechain:
        return MAIN
    if record.agentId:
        return child_id(record.agentId)
    return _inline_agent(context, record, text)


def _inline_agent(context: Context, record: Record, text: str) -> str:
    """Agent of a sidechain record inside a main file: its chain's, by ``parentUuid``; a root founds a new one."""
    chains = context.state.chains
    agent = chains.get(record.parentUuid or "")
    if agent is None:
        identity = record.uuid or f"{context.offset:x}"
        agent = f"inline-{identity.replace('-', '')[:12]}"
        prompt = digest(text) if text else ""
        anchor = next(
            (s for s in context.state.spawns if s.prompt == prompt and prompt and not s.matched),
            None,
        )
        if anchor is not None:
            anchor.matched = True
        context.claim(
            ClaimKind.INLINE_ROOT,
            agent,
            Body(
                agent=anchor.agent if anchor else "",
                tool_use=anchor.tool_use if anchor else "",
                prompt=prompt,
            ),
            grade=Grade.DERIVED,
        )
    if record.uuid:
        remember(chains, record.uuid, agent, MOST_CHAIN_LINKS)
    return agent
