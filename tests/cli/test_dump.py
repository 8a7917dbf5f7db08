"""`stemma dump`: the record for scripts."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import SAMPLE, Ran

from stemma.store.sqlite.writer import EVIDENCE_TABLES

Run = Callable[..., Ran]


def test_the_neutral_shape_is_always_json(run: Run, sample: Path) -> None:
    """With and without --json."""
    plain = run("dump", "--database", sample)
    assert plain.out == run("dump", "--json", "--database", sample).out
    sessions = plain.json["sessions"]
    assert [one["session_id"] for one in sessions] == sorted(one["session_id"] for one in sessions)
    assert set(sessions[0]) == {"session_id", "agents", "usage"}


def test_everything_is_one_object_a_line(run: Run, sample: Path) -> None:
    """Every row names its table; tables stand in their order, rows sorted."""
    lines = run("dump", "--all", "--database", sample).out.splitlines()
    tables = [json.loads(line)["table"] for line in lines]
    order = [EVIDENCE_TABLES.index(table) for table in tables]
    assert order == sorted(order)
    assert {"sessions", "agents", "edges", "usage", "event_segments", "claims"} <= set(tables)


def test_equal_evidence_dumps_alike(run: Run, sample: Path, tmp_path: Path) -> None:
    """Whatever the database."""
    run("ingest", SAMPLE, "--database", tmp_path / "other.db")
    dumps = [
        run("dump", "--all", "--database", path).out for path in (sample, tmp_path / "other.db")
    ]
    first, second = (
        [line.replace('"host":"localhost"', "") for line in one.splitlines()] for one in dumps
    )
    assert len(first) == len(second)


def test_a_file_appears_whole_and_private(run: Run, sample: Path, tmp_path: Path) -> None:
    """Nothing is printed then."""
    target = tmp_path / "out.json"
    found = run("dump", "--output", target, "--database", sample)
    assert found.out == ""
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert json.loads(target.read_bytes())["sessions"]
    assert [path.name for path in tmp_path.glob("*out.json*")] == ["out.json"]


def test_a_file_that_cannot_be_written_is_refused(run: Run, sample: Path, tmp_path: Path) -> None:
    """Without a traceback."""
    found = run("dump", "--output", tmp_path / "no" / "out.json", "--database", sample)
    assert found.code == 2
    assert "cannot be written" in found.err
