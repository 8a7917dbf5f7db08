"""Evidence for the laws, made up: records of every kind that share few ids, so that whatever can meet does meet.

A record is drawn as a kind and a number; the number seeds every choice inside it. Shrinking then drops records from files and
files from trees, and what is left of a failing example can be read.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import strategies as st
from tests.laws.trees import Tree

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


def _some(rng: random.Random, *values: object) -> Any:  # noqa: ANN401 - any JSON value
    return rng.choice(values)


def _block(rng: random.Random, name: str, **given: object) -> Json:
    return {"type": "tool_use", "id": rng.choice(TOOLS), "name": name, "input": given}


def _message(rng: random.Random, content: object, **fields: object) -> Json:
    usage = {
        "input_tokens": _some(rng, 0, 1, 3, 3, 40, None),
        "output_tokens": _some(rng, 1, 5, 50, 50, 51),
        "cache_creation_input_tokens": _some(rng, 0, 0, 7),
        "cache_read_input_tokens": _some(rng, 0, 9),
    }
    if rng.random() < 0.1:
        usage["input_tokens"] = _some(rng, -1, 10**9, 2**63, "7", 1.5)
    if rng.random() < 0.1:
        part = {"type": "advisor_message", "model": "helper", "input_tokens": 2, "output_tokens": 3}
        usage["iterations"] = [part, {"type": "message", "input_tokens": 9}]
    if rng.random() < 0.1:
        usage["server_tool_use"] = {"web_search_requests": rng.randint(0, 2)}
    message = {
        "id": _some(rng, "m1", "m2", "m3", "m4", None),
        "model": _some(rng, "opus", "opus", "haiku"),
        "stop_reason": _some(rng, None, "end_turn", "tool_use"),
        "usage": usage,
        "content": content,
    }
    return {**message, **fields}


def _said(rng: random.Random, content: object, **fields: object) -> Json:
    return {
        "type": "assistant",
        "message": _message(rng, content),
        "requestId": _some(rng, None, None, "r1", "r2"),
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
    status = _some(rng, "completed", "failed", "killed", "stopped", "started")
    task, tool = _some(rng, *AGENTS, *RUNS), _some(rng, *TOOLS, "")
    return f"<task-notification><task-id>{task}</task-id><tool-use-id>{tool}</tool-use-id><status>{status}</status></task-notification>"


@kind
def prompt(rng: random.Random, where: Where) -> Json:
    """A person's prompt, or an agent's task."""
    del where
    cause = _some(rng, None, None, {"kind": "coordinator"}, {"kind": "task-notification"})
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
    return _told(rng, rng.choice(texts), isMeta=_some(rng, None, True))


@kind
def answer(rng: random.Random, where: Where) -> Json:
    """A response that calls nothing."""
    del where
    return _said(
        rng,
        [{"type": "text", "text": "ok"}],
        isAbortedMidStream=_some(rng, None, None, None, True),
        attributionAgent=_some(rng, None, "Explore"),
        attributionSkill=_some(rng, None, "pdf"),
        requestSessionId=_some(rng, None, None, *SESSIONS),
        costUSD=_some(rng, None, 0.25),
    )


@kind
def call(rng: random.Random, where: Where) -> Json:
    """A response that calls tools."""
    del where
    blocks = [
        _block(rng, "Bash", command=_some(rng, "ls", "export API_KEY=abcdef0123456789")),
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
        "subagent_type": _some(rng, "Explore", "fork"),
    }
    block = _block(
        rng,
        _some(rng, "Task", "Agent", "Workflow"),
        **given,
        run_in_background=_some(rng, True, False),
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
    about = _some(
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
        toolDenialKind=_some(rng, None, None, "user-rejected"),
    )


@kind
def spawned(rng: random.Random, where: Where) -> Json:
    """The result of a spawn call, or of a message that started an agent again."""
    del where
    status = _some(rng, "completed", "async_launched", "")
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
        rng, _some(rng, "done", f"agentId: {rng.choice(AGENTS)}"), toolUseResult=rng.choice(abouts)
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
        "uuid": _some(rng, "u1", "u2"),
        "timestamp": rng.choice(TIMES),
        "message": _message(rng, []),
    }
    data: tuple[Json, ...] = (
        {"type": "agent_progress", "agentId": rng.choice(AGENTS), "message": inner},
        {"type": "hook_progress", "hookName": _some(rng, "SessionStart:resume", "Stop")},
    )
    return {
        "type": "progress",
        "data": rng.choice(data),
        "parentToolUseID": _some(rng, None, *TOOLS),
        "agentId": _some(rng, None, *AGENTS),
    }


@kind
def sidechain(rng: random.Random, where: Where) -> Json:
    """A record of a subagent inside a session's own file."""
    del where
    shapes: tuple[Json, ...] = (
        _told(rng, rng.choice(PROMPTS)),
        _said(rng, [{"type": "text", "text": "ok"}]),
    )
    agent = _some(rng, None, None, None, *AGENTS)
    return {
        **rng.choice(shapes),
        "isSidechain": True,
        "agentId": agent,
        "parentUuid": _some(rng, None, "u1", "u2", "u3"),
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
    about = {"trigger": _some(rng, "auto", "manual"), "preTokens": 900, "postTokens": 90}
    shapes: tuple[Json, ...] = (
        {"type": "system", "subtype": "compact_boundary", "compactMetadata": about},
        _told(rng, "summary", isCompactSummary=True),
        {"type": "ai-title", "aiTitle": _some(rng, "one", "two")},
        {"type": "custom-title", "customTitle": _some(rng, "three", "four")},
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
        "type": _some(rng, "launched", "started", "result"),
        "agentId": rng.choice(AGENTS),
        "label": "step",
    }


def record(rng: random.Random, name: str, where: Where) -> Json:
    """One record with the envelope of its file: mostly as it should be, now and then incomplete or misplaced."""
    body = KINDS[name](rng, where)
    envelope = {
        "uuid": _some(rng, f"u{rng.randint(1, 9)}", f"u{rng.randint(1, 99)}", None),
        "timestamp": _some(rng, *TIMES, None),
        "sessionId": _some(rng, where.session, where.session, where.session, *SESSIONS, None),
        "agentId": _some(rng, where.agent or None, where.agent or None, None),
        "version": _some(rng, *VERSIONS, None),
        "cwd": _some(rng, "/w", "/v", None),
        "gitBranch": _some(rng, "main", "topic", None),
        "entrypoint": _some(rng, "cli", None),
        "isSidechain": True if where.agent else None,
    }
    return {key: value for key, value in {**envelope, **body}.items() if value is not None}


def line(rng: random.Random, name: str, where: Where) -> bytes:
    """One record as a stretch of a file: mostly a line, now and then repeated, glued, torn, dressed up or garbage."""
    text = json.dumps(
        record(rng, name, where), separators=(",", ":"), ensure_ascii=rng.random() < 0.5
    ).encode()
    shapes = (
        text + b"\n", text + b"\n", text + b"\n", text + b"\n", text + b"\r\n", text + b"\n" + text + b"\n", text,
        text + b" ", text[: rng.randint(1, len(text))] + b"\n", b"\xef\xbb\xbf" + text + b"\n", b"\x00\x00" + text + b"\n",
        text + b" \x00\t\n", b"\n \r\n" + text + b"\n", b"not json\n" + text + b"\n", text + b"\xff{]\n", b"[1]\n" + text + b"\n",
    )  # fmt: skip
    return rng.choice(shapes)


def sidecar(rng: random.Random) -> bytes:
    """A document beside an agent's transcript."""
    fields = {
        "agentType": _some(rng, "Explore", "fork", None), "toolUseId": _some(rng, *TOOLS, None),
        "parentAgentId": _some(rng, "a1", "a2", None, None), "description": _some(rng, "do", None),
        "finished": _some(rng, True, None), "isFork": _some(rng, True, None, None), "model": _some(rng, "haiku", "inherit", None),
        "taskKind": _some(rng, "in_process_teammate", None, None), "spawnDepth": _some(rng, 1, None, "deep"),
    }  # fmt: skip
    return json.dumps({key: value for key, value in fields.items() if value is not None}).encode()


def run_state(rng: random.Random) -> bytes:
    """The summary of a workflow run."""
    found = {
        "runId": _some(rng, *RUNS, None),
        "workflowName": "w",
        "status": "completed",
        "timestamp": rng.choice(TIMES),
    }
    return json.dumps(found).encode()


FILES: dict[str, Where] = {
    "p/s1.jsonl": Where("s1"),
    "p/s2.jsonl": Where("s2"),
    "q/s1.jsonl": Where("s1"),
    "p/agent-a1.jsonl": Where("s1", "a1"),
    "p/s1/subagents/agent-a1.jsonl": Where("s1", "a1"),
    "p/s1/subagents/agent-a2.jsonl": Where("s1", "a2"),
    "p/s3/subagents/agent-a1.jsonl": Where("s3", "a1"),
    "p/s1/subagents/workflows/wf_1/agent-a2.jsonl": Where("s1", "a2"),
    "p/s1/subagents/workflows/wf_1/journal.jsonl": Where("s1"),
}
DOCUMENTS: dict[str, Callable[[random.Random], bytes]] = {
    "p/s1/subagents/agent-a1.meta.json": sidecar,
    "p/s1/subagents/agent-a2.meta.json": sidecar,
    "p/s1/workflows/wf_1.json": run_state,
}
NUMBERS = st.integers(0, 1 << 16)


def transcripts(path: str, most: int = 10) -> st.SearchStrategy[bytes]:
    """The bytes of one transcript or journal."""
    names = st.sampled_from(
        ["journal"] if path.endswith("journal.jsonl") else sorted(set(KINDS) - {"journal"})
    )
    drawn = st.lists(st.tuples(names, NUMBERS), min_size=1, max_size=most)
    return drawn.map(
        lambda chosen: b"".join(line(random.Random(n), name, FILES[path]) for name, n in chosen)
    )


@st.composite
def trees(draw: st.DrawFn, most: int = 10) -> Tree:
    """A projects folder: a few of the files, each with a few records."""
    tree: Tree = {}
    for path in draw(st.lists(st.sampled_from(sorted(FILES)), min_size=1, max_size=5, unique=True)):
        tree[path] = draw(transcripts(path, most))
    for path in draw(st.lists(st.sampled_from(sorted(DOCUMENTS)), max_size=2, unique=True)):
        tree[path] = DOCUMENTS[path](random.Random(draw(NUMBERS)))
    return tree
