"""`stemma statusline`: fast by what it does not load, honest about what it does not know, and never a failure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import platformdirs
import pytest
from tests.builders.records import asked, counters, said, write
from tests.cli.conftest import Ran

from stemma.cli.money import dollars
from stemma.cli.statusline import line
from stemma.settings import this_machine
from stemma.store.limits import MOST_BYTES, Limit, Limits, keep, latest, limits_file

Run = Callable[..., Ran]
Build = Callable[..., Path]

SLOW = (
    "typer",
    "rich",
    "click",
    "platformdirs",
    "typing_extensions",
    "socket",
    "difflib",
    "tomllib",
)
"""What the way of the status line must not load."""


def called(database: Path, given: object = None) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own, as an agent calls it."""
    data = given if isinstance(given, bytes) else json.dumps(given).encode()
    return subprocess.run(
        [sys.executable, "-m", "stemma", "statusline", "--database", str(database)],
        input=data,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )


def ago(hours: float) -> str:
    """A timestamp so long ago."""
    moment = datetime.fromtimestamp(time.time() - hours * 3600, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.000Z"


@pytest.fixture
def busy(tmp_path: Path, database: Build) -> Path:
    """A session that cost a dollar just now, and ten two days ago; another one cost two dollars now."""
    rows = [
        asked(timestamp=ago(50)),
        said("m1", counters(2_000_000, 0), timestamp=ago(50)),
        said("m2", counters(200_000, 0), timestamp=ago(0)),
    ]
    other = [asked(timestamp=ago(0)), said("m3", counters(400_000, 0), timestamp=ago(0))]
    return database(write(tmp_path / "projects", {"-p/s1.jsonl": rows, "-p/s2.jsonl": other}))


def transcript(tmp_path: Path) -> str:
    """Path of the first session's transcript."""
    return str(tmp_path / "projects" / "-p" / "s1.jsonl")


def test_it_loads_only_what_it_needs(sample: Path) -> None:
    """Counted in modules, since time depends on the machine."""
    script = (
        "import sys; from stemma.__main__ import main; main(); "
        "sys.stderr.write(' '.join(name for name, module in sys.modules.items() if module))"
    )
    found = subprocess.run(
        [sys.executable, "-c", script, "statusline", "--database", sample],
        input=b'{"session_id": "5b8c1f0e-2a47-4c19-9d36-7e0f4a61c2d8"}',
        capture_output=True,
        check=True,
    )
    assert b"whole session $" in found.stdout
    loaded = set(found.stderr.decode().split())
    assert "stemma.operate.statusline" in loaded
    assert not {name for name in loaded if name.split(".")[0] in SLOW}
    ours = {name for name in loaded if name.startswith("stemma")}
    assert not {name for name in ours if name.startswith(("stemma.normalize", "stemma.collect"))}
    assert "stemma.derive.cost.user" not in loaded
    assert len(ours) <= 45, sorted(ours)


def test_the_whole_line(busy: Path, tmp_path: Path) -> None:
    """Session, today, block, context: the session's figure is of all its days."""
    given = {
        "session_id": "s1",
        "transcript_path": transcript(tmp_path),
        "context_window": {"used_percentage": 41.6},
    }
    found = called(busy, given)
    assert (found.returncode, found.stderr) == (0, b"")
    parts = found.stdout.decode().rstrip("\n").split(" · ")
    assert parts[:2] == ["whole session $11.00", "today $3.00"]
    assert parts[2].startswith("block ~$3.00 est., ")
    assert parts[2].endswith(" left")
    assert parts[3] == "context 42%"


def test_the_figures_are_those_of_the_reports(run: Run, busy: Path) -> None:
    """One code path: no two surfaces disagree."""
    bill = run("cost", "receipt", "s1", "--database", busy, "--json").json
    assert f"whole session {dollars(bill['micro_usd'])} " in line(b'{"session_id":"s1"}', busy)
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    day = run("cost", "receipt", today, "--database", busy, "--json").json
    assert f"today {dollars(day['micro_usd'])} " in line(b'{"session_id":"s1"}', busy)


def test_a_transcript_that_goes_on_makes_a_floor(busy: Path, tmp_path: Path) -> None:
    """What was not read yet is not there: at least, says the line."""
    path = transcript(tmp_path)
    with Path(path).open("ab") as stream:
        stream.write(b"{}\n")
    found = line(json.dumps({"session_id": "s1", "transcript_path": path}).encode(), busy)
    assert found.startswith("whole session ≥ $11.00 · today ≥ $3.00 · block ~≥ $3.00")


def test_what_is_not_known_is_a_question_mark(busy: Path, tmp_path: Path) -> None:
    """Never $0.00: a session that was not read, no database, no input, a model without a price."""
    assert line(b'{"session_id":"new"}', busy).startswith("whole session ? · today ≥ $3.00")
    nothing = "whole session ? · today ? · block ? · context ?"
    assert line(b"", tmp_path / "none.db") == nothing
    odd = tmp_path / "odd.db"
    odd.write_bytes(b"not a database, but long enough to be taken for one" * 100)
    assert line(b"{}", odd) == nothing


def test_no_price_is_no_zero(tmp_path: Path, database: Build) -> None:
    """Neither for all of it nor for a part."""
    rows = [asked(timestamp=ago(0)), said("m1", model="claude-nimbus-9", timestamp=ago(0))]
    mixed = [*rows[:1], said("m2", counters(200_000, 0), timestamp=ago(50)), rows[1]]
    mixed[2] = {**mixed[2], "message": {**mixed[2]["message"], "id": "m3"}, "requestId": "r3"}
    built = database(write(tmp_path / "projects", {"-p/s1.jsonl": rows, "-p/s2.jsonl": mixed}))
    assert line(b'{"session_id":"s1"}', built).startswith(
        "whole session ? · today ? · block ~? est."
    )
    assert line(b'{"session_id":"s2"}', built).startswith("whole session $1.00 + ? · ")


def test_time_without_a_request_is_no_block(tmp_path: Path, database: Build) -> None:
    """And that is known, where the session's transcript was read to its end."""
    rows = [asked(timestamp=ago(30)), said("m1", timestamp=ago(30))]
    built = database(write(tmp_path / "projects", {"-p/s1.jsonl": rows}))
    assert " · today $0.00 · no block · " in line(b'{"session_id":"s1"}', built)


def test_a_block_follows_the_one_before(tmp_path: Path, database: Build) -> None:
    """Where a block ends depends on where the chain began, as far back as no five hours were free."""
    hours = (7.0, 4.0, 1.0, 0.0)
    rows = [said(f"m{n}", counters(200_000, 0), timestamp=ago(h)) for n, h in enumerate(hours)]
    built = database(
        write(tmp_path / "projects", {"-p/s1.jsonl": [asked(timestamp=ago(7)), *rows]})
    )
    assert "block ~$2.00 est., " in line(b'{"session_id":"s1"}', built)


@pytest.mark.parametrize(
    "given",
    [
        b"",
        b"null",
        b"[1]",
        b"{broken",
        b"\xff\xfe",
        b'{"session_id": 7, "context_window": [], "rate_limits": "much"}',
        b'{"context_window": {"used_percentage": null}, "rate_limits": {"five_hour": {}}}',
        b'{"rate_limits": {"five_hour": {"used_percentage": 1e308, "resets_at": -1e300}}}',
        b'{"session_id": "' + b"x" * 100_000 + b'"}',
    ],
)
def test_nothing_makes_it_fail(busy: Path, given: bytes) -> None:
    """One line, exit code 0, nothing on standard error."""
    found = called(busy, given)
    assert (found.returncode, found.stderr) == (0, b"")
    assert found.stdout.count(b"\n") == 1


def test_a_wrong_setting_does_not_make_it_fail(busy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other commands tell what is wrong."""
    monkeypatch.setenv("STEMMA_TIMEZONE", "Nowhere/Town")
    found = called(busy, {})
    assert (found.returncode, found.stdout, found.stderr) == (0, b"stemma ?\n", b"")


def test_one_odd_field_costs_only_itself(busy: Path) -> None:
    """The others still count."""
    given = b'{"session_id":"s1","rate_limits":[],"context_window":{"used_percentage":7}}'
    found = line(given, busy)
    assert found.startswith("whole session $11.00")
    assert found.endswith("context 7%")


def limits(five: float, left: float = 3600) -> dict[str, Any]:
    """Input with limits."""
    until = time.time() + left
    return {
        "session_id": "s1",
        "rate_limits": {
            "five_hour": {"used_percentage": five, "resets_at": until},
            "seven_day": {"used_percentage": 41, "resets_at": until + 3 * 86_400},
        },
    }


def test_official_limits_are_kept_and_preferred(busy: Path) -> None:
    """In place of the estimate, also when a later call does not state them; until they are reset."""
    found = line(json.dumps(limits(23.5)).encode(), busy)
    assert " · 5h 24%, 59m left · 7d 41%, 3d00h left · " in found
    assert "block" not in found
    assert " · 5h 24%, " in line(b'{"session_id":"s1"}', busy)
    file = limits_file(busy)
    assert file.stat().st_mode & 0o777 == 0o600
    assert len(file.read_text().splitlines()) == 1
    line(json.dumps(limits(99, left=-10)).encode(), busy)
    later = line(b'{"session_id":"s1"}', busy)
    assert "5h" not in later
    assert "block ~" in later
    assert "7d 41%" in later


def test_the_file_of_limits_stays_small(tmp_path: Path) -> None:
    """What did not change is not written again; what is old goes."""
    file = tmp_path / "limits.jsonl"
    for number in range(3000):
        assert keep(file, Limits(number, Limit(number, 10)))
        assert not keep(file, Limits(number + 1, Limit(number, 10)))
    assert file.stat().st_size <= MOST_BYTES + 200
    assert latest(file) == Limits(2999, Limit(2999, 10))
    file.write_bytes(b"{broken\n")
    assert latest(file) is None
    assert latest(tmp_path / "none") is None
    assert not keep(tmp_path / "no folder" / "file", Limits(1))


def test_it_writes_nothing_else(busy: Path) -> None:
    """No file and no row: an agent's turn is no time to write."""
    before = {path.name: path.read_bytes() for path in busy.parent.iterdir() if path.is_file()}
    line(b'{"session_id":"s1"}', busy)
    after = {path.name: path.read_bytes() for path in busy.parent.iterdir() if path.is_file()}
    wal = {f"{busy.name}-wal", f"{busy.name}-shm"}
    assert {k: v for k, v in after.items() if k not in wal} == {
        k: v for k, v in before.items() if k not in wal
    }


def test_the_command_has_help_and_works_from_python(run: Run, busy: Path) -> None:
    """Through the command line of all commands as well."""
    assert "statusLine" in run("statusline", "--help").out
    assert run("statusline", "--database", busy).out.startswith("whole session ?")


@pytest.mark.parametrize("state", ["", "relative", "/absolute"])
def test_our_folders_are_those_of_the_platform(monkeypatch: pytest.MonkeyPatch, state: str) -> None:
    """The short way to them leads to the same place."""
    monkeypatch.setenv("XDG_STATE_HOME", state)
    machine = this_machine()
    assert machine.state_folder == platformdirs.user_state_path("stemma")
    assert machine.config_folder == platformdirs.user_config_path("stemma")
