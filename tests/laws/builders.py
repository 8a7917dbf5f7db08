"""Evidence for the laws, made up: lines, files and trees of the records that ``kinds.py`` builds.

A record is drawn as a kind and a number; the number seeds every choice inside it. Shrinking then drops records from files and
files from trees, and what is left of a failing example can be read.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable

from hypothesis import strategies as st
from tests.laws.kinds import (
    KINDS,
    RUNS,
    SESSIONS,
    TIMES,
    TOOLS,
    VERSIONS,
    Json,
    Where,
    some,
)
from tests.laws.trees import Tree


def record(rng: random.Random, name: str, where: Where) -> Json:
    """One record with the envelope of its file: mostly as it should be, now and then incomplete or misplaced."""
    body = KINDS[name](rng, where)
    envelope = {
        "uuid": some(rng, f"u{rng.randint(1, 9)}", f"u{rng.randint(1, 99)}", None),
        "timestamp": some(rng, *TIMES, None),
        "sessionId": some(rng, where.session, where.session, where.session, *SESSIONS, None),
        "agentId": some(rng, where.agent or None, where.agent or None, None),
        "version": some(rng, *VERSIONS, None),
        "cwd": some(rng, "/w", "/v", None),
        "gitBranch": some(rng, "main", "topic", None),
        "entrypoint": some(rng, "cli", None),
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
        "agentType": some(rng, "Explore", "fork", None), "toolUseId": some(rng, *TOOLS, None),
        "parentAgentId": some(rng, "a1", "a2", None, None), "description": some(rng, "do", None),
        "finished": some(rng, True, None), "isFork": some(rng, True, None, None), "model": some(rng, "haiku", "inherit", None),
        "taskKind": some(rng, "in_process_teammate", None, None), "spawnDepth": some(rng, 1, None, "deep"),
    }  # fmt: skip
    return json.dumps({key: value for key, value in fields.items() if value is not None}).encode()


def run_state(rng: random.Random) -> bytes:
    """The summary of a workflow run."""
    found = {
        "runId": some(rng, *RUNS, None),
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
