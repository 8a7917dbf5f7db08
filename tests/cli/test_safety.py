"""What a command must never do: overwrite the record, adopt another program's file, print or keep what is hostile."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
from tests.cli.conftest import Run

HOSTILE = "sid\u001b[31mred\nline"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2"


def transcript(tmp_path: Path) -> Path:
    """A root with one session whose id and branch are hostile."""
    folder = tmp_path / "projects" / "p"
    folder.mkdir(parents=True)
    record = {
        "type": "user", "uuid": "a", "sessionId": HOSTILE, "timestamp": "2026-11-03T10:00:00.000Z",
        "gitBranch": f"fix/{SECRET}", "cwd": f"/w/{SECRET}", "message": {"role": "user", "content": "hello"},
    }  # fmt: skip
    (folder / "11111111-1111-4111-8111-111111111111.jsonl").write_text(json.dumps(record) + "\n")
    return tmp_path / "projects"


def test_a_dump_never_replaces_the_database_or_what_is_no_file(
    run: Run, sample: Path, tmp_path: Path
) -> None:
    """The record may be all that is left of transcripts that are gone."""
    before = sample.read_bytes()
    for name in ("stemma.db", "stemma.db-wal", "stemma.db-lock"):
        assert run("dump", "--database", sample, "--output", sample.with_name(name)).code != 0
    assert sample.read_bytes() == before
    link = tmp_path / "link"
    link.symlink_to(sample)
    assert run("dump", "--database", sample, "--output", link).code != 0
    assert link.is_symlink()
    assert run("dump", "--database", sample, "--output", tmp_path / "out.json").code == 0
    assert json.loads((tmp_path / "out.json").read_text())["sessions"]


def test_another_programs_database_is_refused(run: Run, tmp_path: Path) -> None:
    """And left as it is."""
    other = tmp_path / "other.db"
    apsw.Connection(str(other)).execute("CREATE TABLE x (a)")
    found = run("ingest", transcript(tmp_path), "--database", other)
    assert found.code == 1
    assert "another program" in found.err
    assert [
        name for (name,) in apsw.Connection(str(other)).execute("SELECT name FROM sqlite_schema")
    ] == ["x"]


def test_a_hostile_session_id_cannot_draw_on_the_terminal(run: Run, tmp_path: Path) -> None:
    """No escape sequence and no line break of an id reaches the output."""
    database = tmp_path / "a.db"
    run("ingest", transcript(tmp_path), "--database", database)
    listed = run("sessions", "--database", database)
    shown = run("tree", HOSTILE, "--database", database)
    assert listed.code == shown.code == 0
    for found in (listed, shown):
        assert "\u001b" not in found.out
        assert "red\nline" not in found.out


def test_branches_and_folders_are_redacted_before_they_are_stored(run: Run, tmp_path: Path) -> None:
    """A secret in a branch name or a path stands in no file of the database."""
    database = tmp_path / "a.db"
    run("ingest", transcript(tmp_path), "--database", database)
    for path in tmp_path.glob("a.db*"):
        assert SECRET.encode() not in path.read_bytes()


def test_agent_types_and_names_are_redacted_before_they_are_stored(
    run: Run, tmp_path: Path
) -> None:
    """A sidecar states them freely, so they are texts like any other."""
    root = transcript(tmp_path)
    folder = root / "p" / "s1" / "subagents"
    folder.mkdir(parents=True)
    stated = {"agentType": f"kind {SECRET}", "name": f"name {SECRET}", "description": SECRET}
    (folder / "agent-a1.meta.json").write_text(json.dumps(stated))
    database = tmp_path / "a.db"
    assert run("ingest", root, "--database", database).code == 0
    connection = apsw.Connection(str(database))
    assert connection.execute("SELECT count(*) FROM claims WHERE kind = 'sidecar'").get == 1
    for path in tmp_path.glob("a.db*"):
        assert SECRET.encode() not in path.read_bytes()


def test_days_outside_the_calendar_are_refused(run: Run, sample: Path) -> None:
    """With a message, not a traceback."""
    for day in ("0001-01-01", "9999-12-31"):
        for zone in ("Asia/Kathmandu", "America/Denver"):
            found = run("usage", "--since", day, "--timezone", zone, "--database", sample)
            assert found.code in (0, 2)
