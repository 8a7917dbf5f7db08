"""`stemma cost reconcile`: every difference between the client's bill and ours has a cause from the closed list."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.builders.records import asked, counters, said, write
from tests.builders.shared import each
from tests.cli.conftest import Ran

from stemma.derive.cost.reconcile import Cause

Run = Callable[..., Ran]
Build = Callable[..., Path]

MODEL = "claude-opus-5-5"
BUCKETS = ("input", "output", "cache_write_5m", "cache_write_1h", "cache_read", "web_searches")


def bill(given: int, output: int, usd: float, model: str = MODEL) -> dict[str, Any]:
    """A cost-state record."""
    usage = {
        "inputTokens": given,
        "outputTokens": output,
        "cacheReadInputTokens": 0,
        "cacheCreationInputTokens": 0,
        "cacheCreationEphemeral5mInputTokens": 0,
        "cacheCreationEphemeral1hInputTokens": 0,
        "webSearchRequests": 0,
        "costUSD": usd,
    }
    return {"type": "cost-state", "modelUsage": {model: usage}, "totalCostUSD": usd}


def reconciled(run: Run, database: Path, *arguments: str) -> dict[str, Any]:
    """The answer; in every model the differences add up, in every bucket exactly and in money to the rounding."""
    answer = run("cost", "reconcile", *arguments, "--database", database, "--json").json
    for session in answer["sessions"]:
        for one in session["models"]:
            for bucket in BUCKETS:
                between = one["client"][bucket] - one["ours"][bucket]
                assert between == sum(part["tokens"][bucket] for part in one["differences"])
            money = one["client_micro_usd"] - (one["ours_micro_usd"] or 0)
            explained = sum(part["micro_usd"] for part in one["differences"])
            assert abs(money - explained) <= 1 + len(one["differences"])
            assert {part["cause"] for part in one["differences"]} <= set(Cause)
    assert isinstance(answer, dict)
    return answer


def causes(answer: dict[str, Any]) -> dict[str, list[str]]:
    """Causes by session."""
    return {
        session["session"]: [
            part["cause"] for one in session["models"] for part in one["differences"]
        ]
        for session in answer["sessions"]
    }


@pytest.mark.parametrize("rig", each("rig-data/2.1.332/*"))
def test_no_difference_from_a_real_client_is_unexplained(
    run: Run, database: Build, rig: Path
) -> None:
    """Nor is any a matter of rates or prices: what lies between is what no transcript holds, or copied history."""
    answer = reconciled(run, database(rig / "projects"))
    assert answer["sessions"]
    assert (answer["unexplained"], answer["unreadable_bills"]) == (0, 0)
    found = {cause for some in causes(answer).values() for cause in some}
    assert found <= {Cause.NOT_RECORDED, Cause.COPIED_HISTORY}
    assert bool(found) == (rig.name in ("compact", "resume", "tui"))


@pytest.mark.parametrize("rig", each("rig-data/2.1.332"))
def test_all_runs_together(run: Run, database: Build, rig: Path) -> None:
    """Sessions of different runs do not get into each other's way."""
    answer = reconciled(run, database(*(one / "projects" for one in sorted(rig.iterdir()))))
    assert answer["unexplained"] == 0
    assert answer["agreeing"] == len(answer["sessions"]) - 3
    assert set(answer["causes_micro_usd"]) == {Cause.NOT_RECORDED, Cause.COPIED_HISTORY}


def test_each_cause(run: Run, tmp_path: Path, database: Build) -> None:
    """Equal, a call that is not recorded, another rate, no price, and more than the client knows of."""
    tokens = counters(1000, 100)

    def session(state: dict[str, Any], model: str = MODEL) -> list[dict[str, Any]]:
        return [asked(), said(f"m{len(made)}", tokens, model=model), state]

    made: dict[str, list[dict[str, Any]]] = {}
    made["-p/equal.jsonl"] = session(bill(1000, 100, 0.006))
    made["-p/missing.jsonl"] = session(bill(2000, 100, 0.010))
    made["-p/rate.jsonl"] = session(bill(1000, 100, 0.012))
    unknown = "claude-nimbus-9"
    made["-p/unpriced.jsonl"] = session(bill(1000, 100, 0.012, unknown), unknown)
    made["-p/less.jsonl"] = session(bill(900, 100, 0.005))
    built = database(write(tmp_path / "projects", made))
    answer = reconciled(run, built)
    assert causes(answer) == {
        "equal": [],
        "missing": ["not-recorded"],
        "rate": ["different-rate"],
        "unpriced": ["unpriced"],
        "less": ["unknown"],
    }
    assert (answer["agreeing"], answer["unexplained"], answer["without_bill"]) == (1, 1, 0)
    shown = run("cost", "reconcile", "--database", built).out
    assert "not-recorded: 1,000 tokens, $0.0040" in shown
    assert "5 sessions with a bill of the client's · 1 agree · 1 unexplained" in shown


def test_the_last_bill_counts_and_only_what_it_covers(
    run: Run, tmp_path: Path, database: Build
) -> None:
    """Bills go on across a resume; what a later process did that left no bill is not compared."""
    one = counters(1000, 100)
    rows = [
        asked(),
        said("m1", one, model=MODEL),
        bill(1000, 100, 0.006),
        asked(),
        said("m2", one, model=MODEL),
        bill(2000, 200, 0.012),
        asked(),
        said("m3", one, model=MODEL),
    ]
    built = database(write(tmp_path / "projects", {"-p/s1.jsonl": rows, "-p/s2.jsonl": [asked()]}))
    answer = reconciled(run, built)
    assert causes(answer) == {"s1": []}
    assert answer["sessions"][0]["later_responses"] == 1
    assert answer["without_bill"] == 1
    assert reconciled(run, built, "s2")["without_bill"] == 1


@pytest.mark.parametrize("beside", [1, 8])
def test_a_fork_of_a_fork_carries_both_along(
    run: Run, tmp_path: Path, database: Build, beside: int
) -> None:
    """Each bill starts from its origin's; what the origin did beside the fork is its own, whenever that was."""
    one = counters(1000, 100)

    def row(number: int, hour: int) -> list[dict[str, Any]]:
        time = f"2026-11-03T{hour:02}:30:00Z"
        prompt = {**asked(timestamp=time), "uuid": f"p{number}"}
        response = said(f"m{number}", one, model=MODEL, timestamp=time)
        return [prompt, {**response, "uuid": f"u{number}"}]

    tree = {
        "-p/a.jsonl": [*row(1, 0), *row(9, beside), bill(2000, 200, 0.012)],
        "-p/b.jsonl": [*row(1, 0), *row(2, 2), bill(2000, 200, 0.012)],
        "-p/c.jsonl": [*row(1, 0), *row(2, 2), *row(3, 3), bill(3000, 300, 0.018)],
    }
    found = causes(reconciled(run, database(write(tmp_path / "projects", tree))))
    # Of sessions that began alike, one that holds nothing by itself is taken for the origin (ACCOUNTING, who owns it).
    assert found == {"a": ["copied-history"], "b": [], "c": ["copied-history"]}


def test_a_bill_that_cannot_be_read_is_counted(run: Run, tmp_path: Path, database: Build) -> None:
    """And costs no other session its comparison."""
    odd = {"type": "cost-state", "modelUsage": {MODEL: {"inputTokens": {}}}, "totalCostUSD": 1}
    root = write(
        tmp_path / "projects",
        {
            "-p/s1.jsonl": [asked(), said("m1", model=MODEL), odd],
            "-p/s2.jsonl": [
                asked(),
                said("m2", counters(1000, 100), model=MODEL),
                bill(1000, 100, 0.006),
            ],
        },
    )
    answer = reconciled(run, database(root))
    assert answer["unreadable_bills"] == 1
    assert causes(answer) == {"s2": []}
