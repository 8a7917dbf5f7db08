"""`stemma ingest`: what it reports, what it calls a failure, and that nothing of it is lost."""

from __future__ import annotations

import multiprocessing
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.builders.records import asked, said, write
from tests.cli.conftest import SAMPLE, Ran

from stemma import pipeline
from stemma.bootstrap import writing
from stemma.collect.contain import Root
from stemma.errors import CollectError, StoreBusy
from stemma.store.sqlite import lock

Run = Callable[..., Ran]


def tree(root: Path) -> Path:
    """Two sessions of one project."""
    return write(
        root / "projects",
        {"-p/s1.jsonl": [asked(), said("m1")], "-p/s2.jsonl": [asked(), said("m2")]},
    )


def test_a_pass_reports_what_it_did(run: Run, tmp_path: Path) -> None:
    """Every number that a script may want is there."""
    found = run("ingest", tree(tmp_path), "--database", tmp_path / "d.db", "--json")
    answer = found.json
    assert found.code == 0
    assert {key: answer[key] for key in ("sources", "read", "failed", "removed", "rewritten")} == {
        "sources": 2,
        "read": 2,
        "failed": 0,
        "removed": 0,
        "rewritten": 0,
    }
    assert answer["rows_written"] > 0
    assert answer["bytes"] == sum(file.stat().st_size for file in tmp_path.rglob("*.jsonl"))
    assert [root["outcome"] for root in answer["roots"]] == ["ingested"]
    assert answer["skips"] == {}
    assert answer["line_faults"] == 0
    assert answer["duplicate_sessions"] == []


def test_a_second_pass_writes_nothing(run: Run, tmp_path: Path) -> None:
    """Replaying is harmless, and says so."""
    arguments = ("ingest", SAMPLE, "--database", tmp_path / "d.db")
    run(*arguments)
    again = run(*arguments, "--json").json
    assert again["rows_written"] == 0
    assert again["roots"][0]["outcome"] == "unchanged"
    assert "nothing new in 20 sources" in run(*arguments).out


def test_the_database_is_the_users_alone(run: Run, tmp_path: Path) -> None:
    """Nobody else may read what people told their agents."""
    run("ingest", SAMPLE, "--database", tmp_path / "new" / "d.db")
    for file in (tmp_path / "new").iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file.name
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_a_named_root_without_transcripts_is_a_failure(run: Run, tmp_path: Path) -> None:
    """The others are read all the same."""
    (tmp_path / "empty").mkdir()
    found = run(
        "ingest", tmp_path / "empty", tree(tmp_path), "--database", tmp_path / "d.db", "--json"
    )
    assert found.code == 1
    assert [root["outcome"] for root in found.json["roots"]] == ["ingested", "no-corpus-root"]
    assert f"{tmp_path / 'empty'}: no-corpus-root" in found.err


def test_without_transcripts_it_says_where_it_looked(run: Run, tmp_path: Path) -> None:
    """A newcomer learns what to do; nothing has failed."""
    found = run("ingest", "--database", tmp_path / "d.db")
    home = tmp_path / "home"
    assert found.code == 0
    assert found.err == (
        f"stemma: no transcripts found; looked in {home}/claude and {home}/.claude.\n"
        "Name a folder: `stemma ingest FOLDER`, or set CLAUDE_CONFIG_DIR.\n"
    )


def test_the_agents_own_folders_are_the_default(run: Run, tmp_path: Path) -> None:
    """CLAUDE_CONFIG_DIR names them, its `projects` or several."""
    tree(tmp_path)
    found = run(
        "ingest",
        "--database",
        tmp_path / "d.db",
        "--json",
        env={"CLAUDE_CONFIG_DIR": str(tmp_path)},
    )
    assert found.json["read"] == 2


def test_one_session_is_read_and_conflicts_of_others_are_told(run: Run, tmp_path: Path) -> None:
    """A flat agent whose session only its records tell is read too."""
    root = write(
        tmp_path / "projects",
        {
            "-a/s1.jsonl": [asked(), said("m1")],
            "-b/s1.jsonl": [asked(), said("m1")],
            "-a/s2.jsonl": [asked(), said("m2")],
            "-a/agent-x.jsonl": [{**said("m3"), "sessionId": "s2", "isSidechain": True}],
        },
    )
    found = run("ingest", root, "--session", "s2", "--database", tmp_path / "d.db", "--json").json
    assert found["read"] == 2
    assert found["session_sources"] == 1
    assert [skip["path"] for skip in found["duplicate_sessions"]] == ["-b/s1.jsonl"]
    listed = run("sessions", "--database", tmp_path / "d.db", "--json").json["sessions"]
    assert [one["session_id"] for one in listed] == ["s2"]


def test_an_id_is_taken_in_the_case_in_which_it_is_written(run: Run, tmp_path: Path) -> None:
    """Two ids that differ in case are two sessions."""
    found = run(
        "ingest", tree(tmp_path), "--session", "S1", "--database", tmp_path / "d.db", "--json"
    )
    assert found.json["session_sources"] == 0
    assert "no file of session S1" in found.err


def test_a_bad_line_is_counted_and_no_failure(run: Run, tmp_path: Path) -> None:
    """It costs that line."""
    write(tmp_path / "projects", {"-p/s1.jsonl": [asked(), b"{broken\n", said("m1")]})
    found = run("ingest", tmp_path, "--database", tmp_path / "d.db", "--json")
    assert found.code == 0
    assert found.json["line_faults"] == 1


def test_a_file_that_cannot_be_read_is_a_failure(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The outcome of its root says so, the others are read, and the next run tries again."""
    opened = pipeline.open_source  # type: ignore[attr-defined]

    def refuse(root: Root, relpath: str) -> object:
        if relpath.endswith("s1.jsonl"):
            raise CollectError("-p/s1.jsonl cannot be opened: Input/output error")
        return opened(root, relpath)

    arguments = ("ingest", tree(tmp_path), "--database", tmp_path / "d.db", "--json")
    with monkeypatch.context() as context:
        context.setattr(pipeline, "open_source", refuse)
        found = run(*arguments)
    assert found.code == 1
    assert (found.json["read"], found.json["failed"]) == (1, 1)
    assert [root["outcome"] for root in found.json["roots"]] == ["read-error"]
    assert "read-error" in found.err
    again = run(*arguments)
    assert (again.code, again.json["read"]) == (0, 1)


def _hold(path: Path, taken: multiprocessing.synchronize.Event) -> None:
    with lock.writing(path):
        taken.set()
        time.sleep(60)


def test_a_second_writer_waits_and_then_gives_up(run: Run, tmp_path: Path) -> None:
    """Two writers would each go on from their own memory of a source."""
    context = multiprocessing.get_context("spawn")
    taken = context.Event()
    other = context.Process(target=_hold, args=(tmp_path / "d.db", taken))
    other.start()
    try:
        assert taken.wait(30)
        with pytest.raises(StoreBusy), lock.writing(tmp_path / "d.db", patience=0.1):
            pass
    finally:
        other.kill()
        other.join()
    assert run("ingest", SAMPLE, "--database", tmp_path / "d.db").code == 0


def test_an_interrupt_leaves_whole_batches(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next run goes on from there, and the result is that of one run."""
    monkeypatch.setattr(pipeline, "BATCH_STEPS", 3)
    calls = 0
    settle = pipeline.settle  # type: ignore[attr-defined]

    def interrupted(*arguments: object) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        settle(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(pipeline, "settle", interrupted)
    first = run("ingest", SAMPLE, "--database", tmp_path / "d.db")
    assert first.code == 130
    assert first.err == (
        "stemma: interrupted; what was read so far is stored, and the next run goes on from there\n"
    )
    assert run("ingest", SAMPLE, "--database", tmp_path / "d.db").code == 0
    run("ingest", SAMPLE, "--database", tmp_path / "whole.db")
    dumps = [
        run("dump", "--all", "--database", tmp_path / name).out for name in ("d.db", "whole.db")
    ]
    assert dumps[0] == dumps[1]


def test_the_lock_is_given_back(tmp_path: Path) -> None:
    """One writer after the other is the usual thing."""
    for _ in range(2):
        with writing(tmp_path / "d.db") as writer:
            assert writer.rows_written == 0
