"""`stemma cost savings`: an estimate that says so, gains and losses apart, and who is in no sum."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.builders.records import asked, called, counters, said, write
from tests.cli.conftest import Ran

Run = Callable[..., Ran]
Build = Callable[..., Path]


def agent(name: str, tool: str | None, *replies: dict[str, Any]) -> dict[str, Any]:
    """The files of one subagent."""
    base = f"-p/s1/subagents/agent-{name}"
    rows = [asked("go", isSidechain=True, agentId=name)]
    rows += [{**one, "isSidechain": True, "agentId": name} for one in replies]
    meta = {"agentType": "Explore", **({"toolUseId": tool} if tool else {})}
    return {f"{base}.jsonl": rows, f"{base}.meta.json": meta}


def tree(tmp_path: Path) -> Path:
    """A session on Opus that delegates: to a cheaper model, to a dearer one, and in ways that say nothing."""
    calls = [called(f"t{number}", "Agent", prompt="go") for number in range(5)]
    tokens = counters(1000, 1000)
    return write(
        tmp_path / "projects",
        {
            "-p/s1.jsonl": [asked(), said("m0", content=calls, model="claude-opus-4-8")],
            **agent("a0", "t0", said("m1", tokens, model="claude-haiku-4-5")),
            **agent("a1", "t1", said("m2", tokens, model="claude-opus-4-1")),
            **agent("a2", "t2", said("m3", tokens, model="claude-nimbus-9")),
            **agent("a3", "t3"),
            **agent("a4", None, said("m4", tokens)),
            **agent(
                "a5", "t4", said("m5", counters(0, 5), model="<synthetic>"), said("m6", tokens)
            ),
        },
    )


def test_gains_and_losses_are_told_apart(run: Run, tmp_path: Path, database: Build) -> None:
    """Haiku instead of Opus gains 24,000 micro-dollars, Opus 4.1 instead of 4.8 loses 60,000; nothing is clamped."""
    built = database(tree(tmp_path))
    answer = run("cost", "savings", "s1", "--database", built, "--json").json
    assert answer["is_estimate"] is True
    found = {one["agent"]: one["saving_micro_usd"] for one in answer["agents"]}
    assert found == {"a0": 24_000, "a1": -60_000, "a5": 0}
    assert {one["spawned_by"] for one in answer["agents"]} == {"claude-opus-4-8"}
    assert answer["gains_micro_usd"] == 24_000
    assert answer["losses_micro_usd"] == 60_000
    assert answer["net_micro_usd"] == -36_000
    assert (
        answer["counterfactual_micro_usd"] - answer["actual_micro_usd"] == answer["net_micro_usd"]
    )
    assert {one["agent"]: one["reason"] for one in answer["skipped"]} == {
        "a2": "unpriced-actual",
        "a3": "no-usage",
        "a4": "no-spawning-response",
    }
    assert answer["skipped_agent_ids"] == ["a2", "a3", "a4"]
    assert run("cost", "savings", "--database", built, "--json").json["agents"] == answer["agents"]


def test_people_are_told_that_it_is_an_estimate(run: Run, tmp_path: Path, database: Build) -> None:
    """With the rule, and why some agents are in no sum."""
    shown = run("cost", "savings", "--database", database(tree(tmp_path))).out
    assert "estimate: net -$0.04 · gains $0.02 · losses $0.06 · 3 agents cost" in shown
    assert "1 agent in no sum: no-spawning-response" in shown
    assert "nothing is clamped" in shown


def test_savings_are_in_no_receipt(run: Run, tmp_path: Path, database: Build) -> None:
    """An agent's receipt states what it cost, on the model that it ran on."""
    built = database(tree(tmp_path))
    answer = run("cost", "savings", "--database", built, "--json").json
    for one in answer["agents"]:
        bill = run("cost", "receipt", f"s1/{one['agent']}", "--database", built, "--json").json
        assert bill["micro_usd"] == one["actual_micro_usd"]


def test_a_session_without_agents_saves_nothing(run: Run, tmp_path: Path, database: Build) -> None:
    """And that is no error."""
    built = database(write(tmp_path / "projects", {"-p/s1.jsonl": [asked(), said("m1")]}))
    answer = run("cost", "savings", "--database", built, "--json").json
    assert (answer["agents"], answer["skipped"], answer["net_micro_usd"]) == ([], [], 0)
    assert run("cost", "savings", "nobody", "--database", built).code == 1
