"""Records of every kind, made up: each a function of chance, with few ids, so that whatever can meet does meet."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

Json = dict[str, Any]
SESSIONS = ("s1", "s2", "s3")
AGENTS = ("a1", "a2", "x@team", "acompact-1")
RUNS = ("wf_1", "wf_2")
TOOLS = ("t1", "t2", "t3", "t4", "t5")
PROMPTS = ("Warmup", "look around", "fix it", " ", "key sk-ant-REDACTED0123456789abcdef")
SECRETS = (b"sk-ant-REDACTED0123456789abcdef", b"abcdef0123456789")
"""Parts of what is said that must not be stored."""
VERSIONS = ("1.0.128", "2.0.60", "2.1.20", "2.1.62", "2.1.63", "2.1.332")
TIMES = tuple(
    f"2026-11-03T10:{minute:02d}:{second:02d}.{5 * minute:03d}Z"
    for minute in (0, 1, 2, 30)
    for second in (0, 30)
)


class Where(NamedTuple):
    """The file that a record is written to.

    Attributes:
        session: Session that its path names.
        agent: Agent that its path names, or empty.
    """

    session: str
    agent: str = ""


Build = Callable[[random.Random, Where], Json]
KINDS: dict[str, Build] = {}


def kind(build: Build) -> Build:
    """Register a builder under its name."""
    KINDS[build.__name__] = build
    return build


def some(rng: random.Random, *values: object) -> Any:  # noqa: ANN401 - any JSON value
    """One of some values; repeat one to make it likelier."""
    return rng.choice(values)


def _block(rng: random.Random, name: str, **given: object) -> Json:
    return {"type": "tool_use", "id": rng.choice(TOOLS), "name": name, "input": given}


def _message(rng: random.Random, content: object, **fields: object) -> Json:
    usage = {
        "input_tokens": some(rng, 0, 1, 3, 3, 40, None),
        "output_tokens": some(rng, 1, 5, 50, 50, 51),
        "cache_creation_input_tokens": some(rng, 0, 0, 7),
        "cache_read_input_tokens": some(rng, 0, 9),
    }
    if rng.random() < 0.1:
        usage["input_tokens"] = some(rng, -1, 10**9, 2**63, "7", 1.5)
    if rng.random() < 0.1:
        part = {"type": "advisor_message", "model": "helper", "input_tokens": 2, "output_tokens": 3}
        usage["iterations"] = [part, {"type": "message", "input_tokens": 9}]
    if rng.random() < 0.1:
        usage["server_tool_use"] = {"web_search_requests": rng.randint(0, 2)}
    message = {
        "id": some(rng, "m1", "m2", "m3", "m4", None),
        "model": some(rng, "opus", "opus", "haiku"),
        "stop_reason": some(rng, None, "end_turn", "tool_use"),
        "usage": usage,
        "content": content,
    }
    return {**message, **fields}


def _said(rng: random.Random, content: object, **fields: object) -> Json:
    return {
        "type": "assistant",
        "message": _message(rng, content),
        "requestId": some(rng, None, None, "r1", "r2"),
        **fields,
    }


def _told(rng: random.Random, content: object, **fields: object) -> Json:
    del rng
    return {"type": "user", "message": {"role": "user", "content": content}, **fields}


def _result(rng: random.Random, content: object, **fields: object) -> Json:
    block = {"type": "tool_result", "tool_use_id": rng.choice(TOOLS), "content": content}
    if rng.random() < 0.3:
        block["is_error"] = True
    return _told(rng, [block], **fields)


def _notice(rng: random.Random) -> str:
    status = some(rng, "completed", "failed", "killed", "stopped", "started")
    task, tool = some(rng, *AGENTS, *RUNS), some(rng, *TOOLS, "")
    return f"<task-notification><task-id>{task}</task-id><tool-use-id>{tool}</tool-use-id><status>{status}</status></task-notification>"


@kind
def prompt(rng: random.Random, where: Where) -> Json:
    """A person's prompt, or an agent's task."""
    del where
    cause = some(rng, None, None, {"kind": "coordinator"}, {"kind": "task-notification"})
    return _told(rng, rng.choice(PROMPTS), origin=cause)


@kind
def command(rng: random.Random, where: Where) -> Json:
    """A typed command, its output, a skill's body, or leaving."""
    del where
    texts = (
        "<command-name>/review</command-name><command-args>x</command-args>",
        "<command-name>/exit</command-name>",
        "<local-command-stdout>done</local-command-stdout>",
        "Base directory for this skill: /skills/pdf\nbody",
    )
    return _told(rng, rng.choice(texts), isMeta=some(rng, None, True))


@kind
def answer(rng: random.Random, where: Where) -> Json:
    """A response that calls nothing."""
    del where
    return _said(
        rng,
        [{"type": "text", "text": "ok"}],
        isAbortedMidStream=some(rng, None, None, None, True),
        attributionAgent=some(rng, None, "Explore"),
        attributionSkill=some(rng, None, "pdf"),
        requestSessionId=some(rng, None, None, *SESSIONS),
        costUSD=some(rng, None, 0.25),
    )


@kind
def call(rng: random.Random, where: Where) -> Json:
    """A response that calls tools."""
    del where
    blocks = [
        _block(rng, "Bash", command=some(rng, "ls", "export API_KEY=abcdef0123456789")),
        _block(rng, "Write", file_path="/w/a"),
        _block(rng, "Skill", skill="pdf"),
        _block(rng, "WebSearch", query="q"),
        _block(rng, "SendMessage", to="a1"),
        _block(rng, "AskUserQuestion"),
    ]
    return _said(rng, rng.sample(blocks, rng.randint(1, 2)))


@kind
def spawn(rng: random.Random, where: Where) -> Json:
    """A response that starts an agent or a workflow."""
    del where
    given = {
        "prompt": rng.choice(PROMPTS),
        "description": "do",
        "subagent_type": some(rng, "Explore", "fork"),
    }
    block = _block(
        rng,
        some(rng, "Task", "Agent", "Workflow"),
        **given,
        run_in_background=some(rng, True, False),
    )
    return _said(rng, [block])


@kind
def result(rng: random.Random, where: Where) -> Json:
    """A tool's result of any kind: fine, failed, denied, interrupted, with searches."""
    del where
    texts = (
        "fine", "Exit code 3", "The user doesn't want to proceed", "Permission to use Bash denied",
        "[Request interrupted by user for tool use]", "ü" * 300,
    )  # fmt: skip
    about = some(
        rng,
        None,
        {"searchCount": rng.randint(0, 3)},
        {"interrupted": True},
        {"type": "update"},
        "text",
    )
    return _result(
        rng,
        rng.choice(texts),
        toolUseResult=about,
        toolDenialKind=some(rng, None, None, "user-rejected"),
    )


@kind
def spawned(rng: random.Random, where: Where) -> Json:
    """The result of a spawn call, or of a message that started an agent again."""
    del where
    status = some(rng, "completed", "async_launched", "")
    abouts: tuple[Json, ...] = (
        {
            "agentId": rng.choice(AGENTS),
            "status": status,
            "agentType": "Plan",
            "resolvedModel": "haiku",
        },
        {"agentId": rng.choice(AGENTS), "status": status},
        {"runId": rng.choice(RUNS), "taskId": "k1", "workflowName": "w", "status": status},
        {"resumedAgentId": rng.choice(AGENTS)},
    )
    return _result(
        rng, some(rng, "done", f"agentId: {rng.choice(AGENTS)}"), toolUseResult=rng.choice(abouts)
    )


@kind
def notified(rng: random.Random, where: Where) -> Json:
    """The end of a background task: as a prompt, as a queued command, or as a queue operation."""
    del where
    shapes: tuple[Json, ...] = (
        _told(rng, _notice(rng)),
        {"type": "attachment", "attachment": {"type": "queued_command", "prompt": _notice(rng)}},
        {"type": "queue-operation", "operation": "enqueue", "content": _notice(rng)},
        {"type": "queue-operation", "operation": "dequeue"},
    )
    return rng.choice(shapes)


@kind
def progress(rng: random.Random, where: Where) -> Json:
    """A progress record of an old client, with an agent's response in it, of another agent, or of a new process."""
    del where
    inner = {
        "type": "assistant",
        "uuid": some(rng, "u1", "u2"),
        "timestamp": rng.choice(TIMES),
        "message": _message(rng, []),
    }
    data: tuple[Json, ...] = (
        {"type": "agent_progress", "agentId": rng.choice(AGENTS), "message": inner},
        {"type": "hook_progress", "hookName": some(rng, "SessionStart:resume", "Stop")},
    )
    return {
        "type": "progress",
        "data": rng.choice(data),
        "parentToolUseID": some(rng, None, *TOOLS),
        "agentId": some(rng, None, *AGENTS),
    }


@kind
def sidechain(rng: random.Random, where: Where) -> Json:
    """A record of a subagent inside a session's own file."""
    del where
    shapes: tuple[Json, ...] = (
        _told(rng, rng.choice(PROMPTS)),
        _said(rng, [{"type": "text", "text": "ok"}]),
    )
    agent = some(rng, None, None, None, *AGENTS)
    return {
        **rng.choice(shapes),
        "isSidechain": True,
        "agentId": agent,
        "parentUuid": some(rng, None, "u1", "u2", "u3"),
    }


@kind
def ending(rng: random.Random, where: Where) -> Json:
    """How a turn or a process ends: its cost, an interrupt, a failed call, its duration."""
    del where
    failed = _said(rng, [{"type": "text", "text": "API Error"}], isApiErrorMessage=True)
    failed["message"]["model"] = "<synthetic>"
    shapes: tuple[Json, ...] = (
        {"type": "cost-state", "totalCostUSD": 1.5, "modelUsage": {"opus": {"inputTokens": 3}}},
        _told(rng, [{"type": "text", "text": "[Request interrupted by user]"}]),
        failed,
        {"type": "system", "subtype": "turn_duration", "durationMs": rng.randint(1, 9)},
        {"type": "system", "subtype": "local_command"},
    )
    return rng.choice(shapes)


@kind
def context(rng: random.Random, where: Where) -> Json:
    """What happens to a session's context and name: compaction, titles, links, pointers."""
    del where
    about = {"trigger": some(rng, "auto", "manual"), "preTokens": 900, "postTokens": 90}
    shapes: tuple[Json, ...] = (
        {"type": "system", "subtype": "compact_boundary", "compactMetadata": about},
        _told(rng, "summary", isCompactSummary=True),
        {"type": "ai-title", "aiTitle": some(rng, "one", "two")},
        {"type": "custom-title", "customTitle": some(rng, "three", "four")},
        {"type": "pr-link", "prUrl": "https://example.com/1", "prNumber": 1},
        {"type": "fork-context-ref", "parentSessionId": rng.choice(SESSIONS)},
        {"type": "user", "session_id": rng.choice(SESSIONS), "message": {"content": "cleared"}},
    )
    return rng.choice(shapes)


@kind
def strange(rng: random.Random, where: Where) -> Json:
    """Unknown types, wrong types, records without anything."""
    del where
    shapes: tuple[Json, ...] = (
        {"type": "surprise", "x": 1},
        {"type": "system", "subtype": "surprise"},
        {"type": "file-history-snapshot", "snapshot": {}},
        {"type": "assistant", "message": {"id": 7, "usage": {"output_tokens": {}}}},
        {"type": 3, "message": "none"},
        {},
    )
    return rng.choice(shapes)


@kind
def journal(rng: random.Random, where: Where) -> Json:
    """A line of a workflow's journal."""
    del where
    return {
        "type": some(rng, "launched", "started", "result"),
        "agentId": rng.choice(AGENTS),
        "label": "step",
    }
