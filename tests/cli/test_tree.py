"""`stemma tree`: who hangs below whom, and what is said of those who hang nowhere."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from inline_snapshot import snapshot
from tests.builders.records import asked, at, called, said, write
from tests.cli.conftest import Ran

Run = Callable[..., Ran]
Build = Callable[..., Path]

RETRY = "5b8c1f0e"


def agent_file(agent: str, second: float, message: str) -> list[dict[str, object]]:
    """A transcript of an agent that starts at a second."""
    first = {**asked(f"do {agent}"), "isSidechain": True, "agentId": agent, "timestamp": at(second)}
    last = {**said(message), "isSidechain": True, "agentId": agent, "timestamp": at(second + 1)}
    return [first, last]


def spawning(*calls: str, second: float = 0) -> list[dict[str, object]]:
    """A main thread that starts agents."""
    blocks = [called(call, "Agent", description=f"task {call}", prompt=call) for call in calls]
    return [
        {**asked(), "timestamp": at(second)},
        *(
            {**said(f"m-{call}", content=[block], stop="tool_use"), "timestamp": at(second + 1)}
            for call, block in zip(calls, blocks, strict=True)
        ),
    ]


def test_the_tree_of_the_sample(run: Run, sample: Path) -> None:
    """Type, description, model, status, tokens and edge of every agent."""
    found = run("tree", RETRY, "--database", sample, env={"COLUMNS": "140"})
    assert found.out == snapshot("""\
Retry failed payments
session 5b8c1f0e-2a47-4c19-9d36-7e0f4a61c2d8
/home/ada/checkout · retry-payments · opus-5-5 · claude-code 2.1.332 cli
2026-11-18 09:12 to 2026-11-18 09:24 · active 39s of 12m42s · 4 prompts · 1 compaction
146,928 tokens in 16 responses, all agents together
forked into c4e7a913-6d58-4b02-8f21-9ab35d70e614 · 3 responses inherited · observed: records name the requesting session

AGENT                                  MODEL      STATUS                TOKENS  EDGE                     ID
main                                   opus-5-5   completed · finished    115k
├─ Explore: Survey callers of charge   haiku-5-5  completed · finished   8,660  tool_use observed        a33c3369b3d160b20
└─ general-purpose: Write retry tests  opus-5-5   completed · finished   14.4k  tool_use observed        a876360004c44741e
   └─ Explore: Find temporary errors   haiku-5-5  completed · finished   8,545  sidecar_parent observed  a97efdbbb645cc31f
""")


def test_the_tree_in_a_narrow_terminal(run: Run, sample: Path) -> None:
    """Two lines each; a workflow run is a node with its name, its agents are a wave."""
    found = run("tree", "e85f", "--database", sample, env={"COLUMNS": "80"})
    assert max(map(len, found.out.splitlines())) <= 80
    assert found.out == snapshot("""\
Check links of two chapters
session e85f04c2-37ba-4d91-92e6-0fa7c1b8d463
/home/ada/docs-site · link-check · opus-5-5 · claude-code 2.1.332 cli
2026-11-20 14:31 to 2026-11-20 14:31 · active 6.7s of 15s · 1 prompt
55,736 tokens in 7 responses, all agents together

AGENT                                             STATUS                TOKENS
main                                              completed · finished   38.6k
│  opus-5-5
└─ workflow link-check                            completed
   │  run observed · wf_4c1d77a0-9e2
   ├─ ∥1 workflow-subagent (workflow): guide      completed · finished   8,549
   │     haiku-5-5 · directory derived · a00203d87fc0fbfcc
   └─ ∥1 workflow-subagent (workflow): reference  completed · finished   8,549
         haiku-5-5 · directory derived · a1145ffe631b8397c
∥ agents with one number started at once, in no order
""")


def test_the_tree_as_json(run: Run, sample: Path) -> None:
    """Depth and edges are rows of the record."""
    tree = run("tree", RETRY, "--database", sample, "--json").json
    agents = [(one["agent_id"], one["depth"], one["edge"]["parent"]) for one in tree["agents"]]
    assert agents == [
        ("a33c3369b3d160b20", 1, "main"),
        ("a876360004c44741e", 1, "main"),
        ("a97efdbbb645cc31f", 2, "a876360004c44741e"),
    ]
    assert tree["main"]["depth"] == 0
    assert tree["orphans"] == tree["helpers"] == []
    assert {link["kind"] for link in tree["descendants"]} >= {"fork"}


def test_lineage_stands_in_the_head(run: Run, sample: Path) -> None:
    """Where the session comes from, and how many responses it holds of it."""
    tree = run("tree", "c4e7", "--database", sample, "--json").json
    (fork,) = [link for link in tree["lineage"] if link["kind"] == "fork"]
    assert fork["session_id"].startswith(RETRY)
    assert fork["inherited"] == tree["session"]["inherited"] == 3
    assert "forked from 5b8c1f0e" in run("tree", "c4e7", "--database", sample).out


def test_tokens_of_agents_add_up_to_those_of_the_session(run: Run, sample: Path) -> None:
    """Parents never include what is below them."""
    for session in ("5b8c", "e85f", "2d94", "7a3d"):
        tree = run("tree", session, "--database", sample, "--json").json
        every = [tree["main"], *tree["agents"], *tree["orphans"], *tree["helpers"]]
        assert sum(one["tokens"]["total"] for one in every) == tree["session"]["tokens"]["total"]


def test_orphans_are_shown_as_such(run: Run, tmp_path: Path, database: Build) -> None:
    """No proof, no edge; what hangs below an orphan stays below it."""
    root = write(
        tmp_path / "projects",
        {
            "-p/s1.jsonl": [asked(), said("m1")],
            "-p/s1/subagents/agent-a1.jsonl": agent_file("a1", 1, "m2"),
            "-p/s1/subagents/agent-a2.jsonl": agent_file("a2", 2, "m3"),
            "-p/s1/subagents/agent-a2.meta.json": {"agentType": "Explore", "parentAgentId": "a1"},
        },
    )
    built = database(root)
    tree = run("tree", "s1", "--database", built, "--json").json
    assert [one["agent_id"] for one in tree["orphans"]] == ["a1", "a2"]
    assert tree["agents"] == []
    assert [one["depth"] for one in tree["orphans"]] == [None, None]
    shown = run("tree", "s1", "--database", built).out
    assert "orphans: no record proves who started them" in shown
    assert "└─ Explore" in shown


def test_a_cycle_among_edges_is_no_trap(run: Run, tmp_path: Path, database: Build) -> None:
    """Two sidecars that name each other are told as they are."""
    root = write(
        tmp_path / "projects",
        {
            "-p/s1.jsonl": [asked(), said("m1")],
            "-p/s1/subagents/agent-a1.jsonl": agent_file("a1", 1, "m2"),
            "-p/s1/subagents/agent-a1.meta.json": {"agentType": "x", "parentAgentId": "a2"},
            "-p/s1/subagents/agent-a2.jsonl": agent_file("a2", 2, "m3"),
            "-p/s1/subagents/agent-a2.meta.json": {"agentType": "x", "parentAgentId": "a1"},
        },
    )
    built = database(root)
    tree = run("tree", "s1", "--database", built, "--json").json
    assert sorted(one["agent_id"] for one in tree["orphans"]) == ["a1", "a2"]
    assert "of a2" in run("tree", "s1", "--database", built).out


def test_a_deep_chain_is_drawn(run: Run, tmp_path: Path, database: Build) -> None:
    """Nobody promises how deep a tree is."""
    files: dict[str, object] = {"-p/s1.jsonl": [asked(), said("m0")]}
    for number in range(1, 60):
        folder = f"-p/s1/subagents/agent-a{number}"
        files[f"{folder}.jsonl"] = agent_file(f"a{number}", number, f"m{number}")
        parent = f"a{number - 1}" if number > 1 else "main"
        files[f"{folder}.meta.json"] = {"agentType": "x", "parentAgentId": parent}
    built = database(write(tmp_path / "projects", files))  # type: ignore[arg-type]
    tree = run("tree", "s1", "--database", built, "--json").json
    assert [one["depth"] for one in tree["agents"]] == list(range(1, 60))
    assert run("tree", "s1", "--database", built).code == 0


def test_siblings_too_close_to_order_are_a_wave(run: Run, tmp_path: Path, database: Build) -> None:
    """Neighbours less than 10 ms apart chain; one that is alone is in none."""
    starts = {"a1": 10.000, "a2": 10.009, "a3": 10.018, "a4": 10.028, "a5": 11.0}
    files: dict[str, object] = {"-p/s1.jsonl": [asked(), said("m0")]}
    for agent, second in starts.items():
        folder = f"-p/s1/subagents/agent-{agent}"
        files[f"{folder}.jsonl"] = agent_file(agent, second, f"m-{agent}")
        files[f"{folder}.meta.json"] = {"agentType": "x", "parentAgentId": "main"}
    built = database(write(tmp_path / "projects", files))  # type: ignore[arg-type]
    tree = run("tree", "s1", "--database", built, "--json").json
    assert {one["agent_id"]: one["wave"] for one in tree["agents"]} == {
        "a1": 1,
        "a2": 1,
        "a3": 1,
        "a4": None,
        "a5": None,
    }


def test_who_waits_for_a_busy_agent_is_not_silent(
    run: Run, tmp_path: Path, database: Build
) -> None:
    """The watchdog looks at the agents below as well."""
    now = datetime.now(UTC).isoformat()
    busy = {
        **said("m2", content=[called("t9")], stop="tool_use"),
        "isSidechain": True,
        "agentId": "a1",
    }
    root = write(
        tmp_path / "projects",
        {
            "-p/s1.jsonl": spawning("t1"),
            "-p/s1/subagents/agent-a1.jsonl": [{**busy, "timestamp": now}],
            "-p/s1/subagents/agent-a1.meta.json": {"agentType": "x", "toolUseId": "t1"},
        },
    )
    tree = run("tree", "s1", "--database", database(root), "--json").json
    assert tree["main"]["status"]["reason"] != "no end seen"
    assert tree["agents"][0]["status"]["status"] == "working"


def test_a_session_without_its_main_thread_has_a_tree(
    run: Run, tmp_path: Path, database: Build
) -> None:
    """Only agents of it are there."""
    root = write(
        tmp_path / "projects", {"-p/s1/subagents/agent-a1.jsonl": agent_file("a1", 1, "m1")}
    )
    built = database(root)
    tree = run("tree", "s1", "--database", built, "--json").json
    assert tree["main"] is None
    assert tree["session"]["completeness"] == "no-main"
    assert tree["session"]["active_us"] is None
    assert "main (no transcript)" in run("tree", "s1", "--database", built).out
