"""Bad input degrades to the smallest unit: damage to one record, field, sidecar or file changes that and nothing else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from tests.builders.reading import Database
from tests.builders.records import (
    Record,
    answered,
    asked,
    at,
    called,
    counters,
    line,
    said,
    split,
    write,
)
from tests.builders.shared import need
from tests.corpus.damage import DOCUMENTS, LINES, OTHERS, Damage, walk
from tests.corpus.unharmed import Comparison, Dump
from tests.corpus.zone import Zone, zone_of

from stemma.model.source import Placement, SourceKind
from stemma.normalize.claude_code.adapter import ClaudeCode

FEW = (
    "2.1.332/subagent",
    "2.1.332/workflow",
    "2.1.20/background",
    "1.0.128/parallel",
    "2.1.112/interrupt",
)
SMALL = 150_000
REASONS = {"json", "not-an-object", "oversize", "field"}


class Bench:
    """A tree, its dump, and what happens to it when one of its files is damaged."""

    def __init__(self, folder: Path, source: Path, below: Path) -> None:
        self.folder = folder
        self.root = folder / "projects"
        shutil.copytree(source, self.root / below)
        self.before = Database(folder / "before.db", self.root).dump()
        self.tried = 0

    def files(self, most: int) -> list[Path]:
        """Files to damage."""
        every = [path for path in sorted(self.root.rglob("*.json*")) if path.is_file()]
        return [path for path in every if 0 < path.stat().st_size <= most]

    def damage(self, path: Path, kinds: Sequence[Damage], seeds: range) -> list[str]:
        """Damage a file in some ways, one after the other; what was harmed that should not be."""
        data = path.read_bytes()
        wrong = []
        for kind in kinds:
            for seed in seeds:
                label = f"{path.name} {kind.__name__} {seed}"
                new = kind(data, Random(label))
                if new != data:
                    path.write_bytes(new)
                    wrong += [f"{label}: {what}" for what in self.harm(path, data, new)]
        path.write_bytes(data)
        return wrong

    def harm(self, path: Path, old: bytes, new: bytes) -> list[str]:
        """What differs outside the damage, and what of the damage itself is not stored as a fault."""
        self.tried += 1
        database = Database(self.folder / f"{self.tried}.db", self.root)
        after = database.dump()
        database.connection.close()
        for left in self.folder.glob(f"{self.tried}.db*"):
            left.unlink()
        zone = zone_of(path.relative_to(self.root).as_posix(), old, new)
        return [*Comparison(self.before, after, zone).run(), *silent(self.before, after, zone, new)]


def silent(before: Dump, after: Dump, zone: Zone, new: bytes) -> list[str]:
    """Lines of the zone that are no JSON, are complete, and left neither a fault nor a record."""
    faults = [row for row in after.get("line_faults", ()) if row["source"]["path"] == zone.path]
    wrong = [
        f"bad fault: {row}" for row in faults if row["reason"] not in REASONS or row["length"] < 0
    ]
    wrong += [
        f"fault elsewhere: {row}" for row in faults if not zone.holds(row["offset"], new=True)
    ]
    if not zone.path.endswith(".jsonl") or faults:
        return wrong
    lines = [
        one
        for one in new[zone.start : zone.end].split(b"\n")[:-1]
        if one.strip(b"\0 \t\r\xef\xbb\xbf")
    ]
    broken = sum(not readable(one) for one in lines)
    lost = records(before, zone.path) - zone.old + len(lines) - records(after, zone.path)
    return [*wrong, f"no fault for {broken} broken lines"] if broken and lost > 0 else wrong


def readable(text: bytes) -> bool:
    """Whether a line is a JSON object."""
    try:
        return isinstance(json.loads(text.decode("utf-8", "replace"), strict=False), dict)
    except (ValueError, RecursionError):
        return False


def records(dump: Dump, path: str) -> int:
    """Records read from a source."""
    rows = dump.get("record_kinds", ())
    return sum(row["count"] for row in rows if row["source"]["path"] == path)


def check(folder: Path, sources: list[tuple[Path, Path]], most: int, seeds: int) -> None:
    """Damage every file of some trees in every way."""
    wrong = []
    for number, (source, below) in enumerate(sources):
        bench = Bench(folder / str(number), source, below)
        for path in bench.files(most):
            kinds = LINES if path.suffix == ".jsonl" else DOCUMENTS
            wrong += bench.damage(path, kinds, range(seeds))
    assert not wrong


def runs(*names: str) -> list[tuple[Path, Path]]:
    """The rig's runs of the given names; all when none is given."""
    every = need("rig-data/[0-9]*/*/projects")
    chosen = [one for one in every if not names or "/".join(one.parts[-3:-1]) in names]
    assert chosen
    return [(one, Path()) for one in chosen]


def projects() -> list[tuple[Path, Path]]:
    """The projects of the corpus."""
    return [(one, Path(one.name)) for one in need("corpus/claude/projects/*")]


@pytest.mark.parametrize("name", FEW)
def test_damage_to_a_run_with_agents_stays_where_it_is(tmp_path: Path, name: str) -> None:
    """Every file of some runs, transcripts, sidecars and journals, in every way."""
    check(tmp_path, runs(name), SMALL, 1)


@pytest.mark.parametrize("number", range(4))
def test_damage_to_a_session_of_the_corpus_stays_where_it_is(tmp_path: Path, number: int) -> None:
    """Small files of every project, in every way."""
    check(tmp_path, projects()[number::4], SMALL, 1)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(8))
def test_damage_to_any_run_stays_where_it_is(tmp_path: Path, number: int) -> None:
    """Every file of every run."""
    check(tmp_path, runs()[number::8], 10**9, 2)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(8))
def test_damage_to_any_session_of_the_corpus_stays_where_it_is(tmp_path: Path, number: int) -> None:
    """Every file of every project, also the large ones."""
    check(tmp_path, projects()[number::8], 10**9, 3)


ADVISOR = {"type": "advisor_message", "model": "m", "input_tokens": 1}
PLACE = Placement(SourceKind.MAIN, "p", "s1", "", "", "p/s1.jsonl")
TREE: dict[str, list[Record | bytes]] = {
    "p/s1.jsonl": [
        asked("look", cwd="/w", gitBranch="main", promptId="x"),
        said(
            "msg_1",
            counters(1, 2),
            content=[called("t1", "Task", prompt="go", subagent_type="x"), called("t2")],
        ),
        answered("t2", {"stdout": "x", "interrupted": False}),
        answered(
            "t1", {"status": "completed", "agentId": "a1", "agentType": "x", "totalTokens": 9}
        ),
        {
            "type": "system",
            "subtype": "compact_boundary",
            "compactMetadata": {"trigger": "auto", "preTokens": 9},
        },
        {
            "type": "attachment",
            "attachment": {"type": "queued_command", "prompt": [{"type": "text", "text": "x"}]},
        },
        {"type": "queue-operation", "operation": "enqueue", "content": "x"},
        {
            "type": "progress",
            "data": {"type": "agent_progress", "agentId": "a1", "message": {"type": "x"}},
        },
        {"type": "cost-state", "modelUsage": {"m": {"inputTokens": 1}}, "totalCostUSD": 0.5},
        {"type": "pr-link", "prNumber": 1, "prUrl": "https://x"},
        {"type": "custom-title", "customTitle": "t"},
        said(
            "msg_2",
            counters(3, 4, iterations=[{"type": "advisor_message", "input_tokens": 1}]),
            costUSD=0.1,
        ),
        said("msg_3", counters(5, 6)),
    ],
    "p/s1/subagents/agent-a1.jsonl": [
        asked("go", isSidechain=True, agentId="a1"),
        said("msg_4", agentId="a1"),
    ],
}


@pytest.mark.parametrize("number", range(len(TREE["p/s1.jsonl"])))
def test_any_field_may_be_of_another_type(tmp_path: Path, number: int) -> None:
    """Each value of each kind of record, replaced by some other types of JSON."""
    retype(tmp_path, number, every=6)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(TREE["p/s1.jsonl"])))
def test_any_field_may_be_of_any_other_type(tmp_path: Path, number: int) -> None:
    """Each value of each kind of record, replaced by each other type of JSON."""
    retype(tmp_path, number, every=1)


def retype(folder: Path, number: int, *, every: int) -> None:
    """Replace each value of one record by others; what is harmed that should not be fails the test."""
    write(folder / "made", TREE)
    bench = Bench(folder / "bench", folder / "made", Path())
    path = bench.root / "p" / "s1.jsonl"
    data = path.read_bytes()
    lines = data.split(b"\n")
    wrong = []
    for place in range(len(list(walk(json.loads(lines[number]))))):
        for other in OTHERS[place % every :: every]:
            record = json.loads(lines[number])
            holder, key = list(walk(record))[place]
            if type(holder[key]) is type(other):
                continue
            holder[key] = other
            new = b"\n".join([*lines[:number], line(record)[:-1], *lines[number + 1 :]])
            path.write_bytes(new)
            wrong += [f"{key} = {other!r}: {what}" for what in bench.harm(path, data, new)]
    assert not wrong


def test_a_field_of_the_wrong_type_costs_that_field_alone(tmp_path: Path) -> None:
    """The record's tokens count, and the fault names the field."""
    row = said("msg_1", counters(1, 2), cwd=5)
    database = Database(tmp_path / "stemma.db", write(tmp_path / "projects", {"p/s1.jsonl": [row]}))
    assert database.totals()["output"] == 2
    (fault,) = database.faults()
    assert (fault.path, fault.offset, fault.reason, fault.detail) == (
        "p/s1.jsonl",
        0,
        "field",
        "$.cwd",
    )
    assert fault.length == len((tmp_path / "projects/p/s1.jsonl").read_bytes()) - 1


def test_a_wrong_type_elsewhere_leaves_counters_and_calls(tmp_path: Path) -> None:
    """Of any field outside the usage, its response counts as before; inside, all other counters do."""
    usage = counters(
        3,
        4,
        10,
        20,
        iterations=[ADVISOR],
        server_tool_use={"web_search_requests": 2},
        **split(4, 6),
    )
    blocks = [{"type": "text", "text": "x"}, called("t1", "Task", prompt="go", subagent_type="x")]
    row = said(
        "msg_1",
        usage,
        content=blocks,
        costUSD=0.1,
        cwd="/w",
        error=None,
        origin={"kind": "human"},
        data={},
    )
    row |= {
        "sessionId": "s1",
        "uuid": "u1",
        "timestamp": at(0),
        "attributionSkill": "s",
        "toolUseResult": {"a": 1},
    }
    before = ClaudeCode().normalize(PLACE, b"", [(0, line(row)[:-1])])
    for place in range(len(list(walk(row)))):
        for other in OTHERS:
            damaged = json.loads(json.dumps(row))
            holder, key = list(walk(damaged))[place]
            if type(holder[key]) is type(other) or key in ("type", "message", "id"):
                continue
            holder[key] = other
            after = ClaudeCode().normalize(PLACE, b"", [(0, line(damaged)[:-1])])
            assert not [fault for fault in after.faults if fault.detail == "$"]
            if key != "usage" and "input_tokens" not in holder:
                assert after.usage[0].output == before.usage[0].output
            if (
                holder is not damaged["message"]["content"]
                and key != "content"
                and "name" not in holder
            ):
                assert [one.name for one in after.tools.values()] == ["Task"]


def test_a_sidecar_s_field_of_the_wrong_type_costs_that_field_alone(tmp_path: Path) -> None:
    """Its other fields hold, and the fault is stored."""
    tree: dict[str, list[Record | bytes] | Record] = {
        **TREE,
        "p/s1/subagents/agent-a1.meta.json": {
            "agentType": 7,
            "toolUseId": "t1",
            "description": "d",
        },
    }
    database = Database(tmp_path / "stemma.db", write(tmp_path / "projects", tree))
    (agent,) = [one for one in database.dump()["agents"] if one["agent"] == "a1"]
    assert (agent["type"], agent["description"]) == ("x", "d")
    (fault,) = database.faults()
    assert (fault.reason, fault.detail) == ("field", "$.agentType")


def test_a_broken_sidecar_costs_nothing_of_its_agent_s_transcript(tmp_path: Path) -> None:
    """Cut in the middle: the agent is there, with the parent that the result record proves."""
    root = write(tmp_path / "projects", TREE)
    (root / "p/s1/subagents/agent-a1.meta.json").write_text('{"agentType": "x", "toolUs')
    database = Database(tmp_path / "stemma.db", root)
    (session,) = database.neutral()["sessions"]
    assert session["agents"] == [
        {"agent_id": "a1", "parent": "main", "type": "x", "status": "completed"}
    ]
    assert [fault.reason for fault in database.faults()] == ["json"]
