"""`stemma cost compaction`: what lies between compactions adds up to the whole, and the unknown stays unknown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.builders.records import asked, counters, said, split, write
from tests.builders.shared import each
from tests.cli.conftest import Ran

Run = Callable[..., Ran]
Build = Callable[..., Path]


def boundary(before: int, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    """The record of a compaction."""
    meta = {"trigger": "auto", "preTokens": before}
    return {"type": "system", "subtype": "compact_boundary", "compactMetadata": meta, **fields}


ROWS = [
    asked(),
    said("m1", counters(10, 100, 0, 90_000)),
    said("m2", counters(10, 100, 0, 99_990)),
    {**boundary(101_000), "uuid": "b1"},
    said("m3", counters(10, 100, 3000, 1000, **split(1000, 2000))),
    said("m4", counters(10, 100, 0, 4000)),
    {**boundary(50_000), "uuid": "b2"},
]


def test_segments_lie_between_boundaries(run: Run, tmp_path: Path, database: Build) -> None:
    """Prompts before and after, and what the first response after wrote to a cache; after the last, nobody knows."""
    built = database(write(tmp_path / "projects", {"-p/s1.jsonl": ROWS}))
    answer = run("cost", "compaction", "s1", "--database", built, "--json").json
    (main,) = answer["agents"]
    assert (main["session"], main["agent"]) == ("s1", "main")
    assert [one["responses"] for one in main["segments"]] == [2, 2, 0]
    first, second = main["compactions"]
    assert (first["tokens_before"], first["tokens_after"]) == (100_000, 4010)
    assert (first["recorded_before"], first["trigger"]) == (101_000, "auto")
    assert first["rebuild_tokens"] == 3000
    assert first["rebuild_micro_usd"] == 1000 * 6.25 + 2000 * 10
    assert second["tokens_after"] is second["rebuild_micro_usd"] is None
    assert (answer["compactions"], answer["unknown_rebuilds"]) == (2, 1)
    assert answer["rebuild_micro_usd"] == first["rebuild_micro_usd"]
    shown = run("cost", "compaction", "--database", built).out
    assert "auto compaction, prompt 100,000 to 4,010" in shown
    assert "2 compactions · rebuilding caches cost $0.03 + ? · unknown for 1" in shown


def test_segments_add_up_to_the_receipt(run: Run, tmp_path: Path, database: Build) -> None:
    """Each figure is rounded once, so the sum is off by less than one for each."""
    built = database(write(tmp_path / "projects", {"-p/s1.jsonl": ROWS}))
    (main,) = run("cost", "compaction", "--database", built, "--json").json["agents"]
    whole = run("cost", "receipt", "s1/main", "--database", built, "--json").json
    parts = sum(one["micro_usd"] for one in main["segments"])
    assert abs(whole["micro_usd"] - parts) < len(main["segments"])
    told = {one["what"]: one["count"] for one in whole["excluded"]}
    assert told["compaction-calls"] == 2


def test_a_copied_boundary_is_the_origins(run: Run, tmp_path: Path, database: Build) -> None:
    """A fork copies the history with its compactions; it did not compact."""
    history = [{**one, "uuid": f"u{place}"} for place, one in enumerate(ROWS[:5])]
    fork = [*history, asked(), said("m9", timestamp="2026-11-03T12:00:00Z")]
    root = write(tmp_path / "projects", {"-p/s1.jsonl": history, "-p/s2.jsonl": fork})
    answer = run("cost", "compaction", "--database", database(root), "--json").json
    assert [(one["session"], len(one["compactions"])) for one in answer["agents"]] == [("s1", 1)]


def test_no_compaction_is_no_error(run: Run, tmp_path: Path, database: Build) -> None:
    """It costs nothing, and that is known."""
    built = database(write(tmp_path / "projects", {"-p/s1.jsonl": [asked(), said("m1")]}))
    answer = run("cost", "compaction", "--database", built, "--json").json
    assert (answer["compactions"], answer["rebuild_micro_usd"], answer["agents"]) == (0, 0, [])


@pytest.mark.parametrize("rig", each("rig-data/*/compact"))
def test_a_real_client_compacts(run: Run, database: Build, rig: Path) -> None:
    """Every version writes a boundary that is found."""
    answer = run("cost", "compaction", "--database", database(rig / "projects"), "--json").json
    assert answer["compactions"] >= 1
    for one in answer["agents"]:
        assert len(one["segments"]) == len(one["compactions"]) + 1
