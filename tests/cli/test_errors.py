"""What goes wrong is told in a line, with what to do about it, and never as a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from tests.builders.records import asked, said, write
from tests.cli.conftest import Ran

Run = Callable[..., Ran]
Build = Callable[..., Path]

READING = [
    ("sessions",),
    ("tree", "s1"),
    ("usage",),
    ("events", "s1"),
    ("show", "ev_1"),
    ("dump",),
    ("dump", "--all"),
    ("doctor",),
]


def told(found: Ran) -> str:
    """The one line that a failed command prints."""
    assert found.code == 1
    (line,) = found.err.splitlines()
    assert line.startswith("stemma: ")
    return line.removeprefix("stemma: ")


@pytest.mark.parametrize("command", READING)
def test_without_a_database_it_says_what_to_do_first(
    run: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Also where the file is there and empty; reading creates nothing."""
    path = tmp_path / "d.db"
    assert told(run(*command, "--database", path)) == (
        f"there is no database at {path}: run `stemma ingest` first"
    )
    assert not path.exists()
    path.touch()
    assert told(run(*command, "--database", path)) == f"{path} is empty: run `stemma ingest` first"


@pytest.mark.parametrize("command", [one for one in READING if one != ("doctor",)])
def test_a_file_that_is_no_database_is_said_to_be(
    run: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """By every command that reads."""
    path = tmp_path / "d.db"
    path.write_bytes(b"no database" * 500)
    assert "is damaged (file is not a database)" in told(run(*command, "--database", path))


def test_writing_to_it_is_refused_as_well(run: Run, tmp_path: Path) -> None:
    """Nothing is overwritten."""
    path = tmp_path / "d.db"
    path.write_bytes(b"no database" * 500)
    root = write(tmp_path / "projects", {"-p/s1.jsonl": [asked()]})
    told(run("ingest", root, "--database", path))
    assert path.read_bytes().startswith(b"no database")


def test_a_database_of_another_program_is_left_alone(run: Run, tmp_path: Path) -> None:
    """Whatever it holds."""
    path = tmp_path / "d.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    assert told(run("usage", "--database", path)) == f"{path} is a database of another program"


def test_a_newer_database_is_refused(run: Run, tmp_path: Path, database: Build) -> None:
    """It says to upgrade."""
    path = database(write(tmp_path / "projects", {"-p/s1.jsonl": [asked()]}))
    connection = apsw.Connection(str(path))
    connection.execute("INSERT INTO migrations VALUES (999, 'later', 'x')")
    connection.close()
    assert "newer version" in told(run("sessions", "--database", path))


def test_a_damaged_segment_is_told(run: Run, tmp_path: Path, database: Build) -> None:
    """The library finds nothing wrong with such a page."""
    path = database(write(tmp_path / "projects", {"-p/s1.jsonl": [asked(), said("m1")]}))
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE event_segments SET body = x'00'")
    connection.close()
    assert "is damaged" in told(run("events", "s1", "--database", path))


def test_a_session_that_is_not_there_or_not_one(run: Run, sample: Path) -> None:
    """Who is ambiguous gets the candidates."""
    assert "no session's id begins with 'zzz'" in told(run("tree", "zzz", "--database", sample))
    found = run("tree", "", "--database", sample)
    assert "no session's id begins with ''" in told(found)


def test_candidates_are_listed(run: Run, tmp_path: Path, database: Build) -> None:
    """An exact id wins over longer ones that begin with it; case matters only when it must."""
    names = ("ab", "abc", "abd", "Xy")
    root = write(
        tmp_path / "projects",
        {f"-p/{name}.jsonl": [asked(name), said(f"m-{name}")] for name in names},
    )
    built = database(root)
    found = run("tree", "a", "--database", built)
    assert found.code == 1
    assert found.err.splitlines()[0] == "stemma: 3 sessions begin with 'a':"
    assert sorted(line.split()[0] for line in found.err.splitlines()[1:]) == ["ab", "abc", "abd"]
    assert run("tree", "ab", "--database", built, "--json").json["session"]["session_id"] == "ab"
    assert run("tree", "xy", "--database", built, "--json").json["session"]["session_id"] == "Xy"


def test_a_wrong_setting_is_told(run: Run, sample: Path) -> None:
    """With the layer that it comes from."""
    found = run("usage", "--timezone", "Mars/Olympus", "--database", sample)
    assert told(found).startswith("flag --timezone: timezone: 'Mars/Olympus' is not an IANA zone")
    assert "STEMMA_DATABSE" in told(run("usage", env={"STEMMA_DATABSE": "x"}))


def test_options_stand_after_the_command(run: Run) -> None:
    """--database and --json on every one of them."""
    for name in ("ingest", "sessions", "tree", "usage", "events", "show", "dump", "doctor"):
        text = run(name, "--help").out
        assert "--database" in text
        assert "--json" in text
    assert run("--json", "sessions").code == 2


def test_the_program_runs_as_a_module(sample: Path) -> None:
    """And prints characters that its output cannot encode as question marks."""
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "COLUMNS": "80"}
    command = [sys.executable, "-m", "stemma", "tree", "5b8c", "--database", str(sample)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "?? Explore" in done.stdout
    version = [sys.executable, "-m", "stemma", "--version"]
    assert subprocess.run(version, capture_output=True, text=True, check=True).stdout.startswith(
        "stemma "
    )


def test_help_loads_nothing_heavy() -> None:
    """Neither the database nor the renderer."""
    code = (
        "import sys; from typer.testing import CliRunner; from stemma.cli.app import app; "
        "CliRunner().invoke(app, ['--help']); "
        "print(sorted({'apsw', 'msgspec', 'rich', 'zoneinfo'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_closed_pipe_is_no_fault(sample: Path) -> None:
    """`stemma dump | head` ends quietly."""
    command = f"{sys.executable} -m stemma dump --all --database {sample} | head -c 10"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""


@pytest.mark.parametrize(
    "command", [("sessions",), ("tree", "s1"), ("events", "s1"), ("usage", "--by", "session")]
)
def test_transcripts_cannot_command_the_terminal(
    run: Run, tmp_path: Path, database: Build, command: tuple[str, ...]
) -> None:
    """Escape sequences, markup and reordered text in a prompt are shown as what they are: text."""
    evil = "\x1b[2J\x1b]0;owned\x07[bold]loud[/bold]\u202egnp.exe\u2066 \x9b31m\nsecond\tline"
    agent = [{**said("m2"), "isSidechain": True, "agentId": "a\x1b[31m"}]
    root = write(
        tmp_path / "projects",
        {"-p/s1.jsonl": [asked(evil, gitBranch="\x1b[31mred"), said("m1", model="\x1b[1mm")], "-p/s1/subagents/agent-a1.jsonl": agent},
    )  # fmt: skip
    found = run(*command, "--database", database(root))
    assert found.code == 0
    assert not set("\x1b\x07\x9b\u202e\u2066") & set(found.out)
    if command[0] == "sessions":
        assert "[bold]loud[/bold]" in found.out
