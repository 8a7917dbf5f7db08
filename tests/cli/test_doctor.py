"""`stemma doctor`: everything that was not read is told, with its reason."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from tests.builders.records import asked, said, write
from tests.cli.conftest import Ran

from stemma.bootstrap import writing
from stemma.collect.quarantine import fail
from stemma.model.source import Fingerprint

Run = Callable[..., Ran]


def ailing(run: Run, tmp_path: Path) -> Path:
    """A record of a tree in which much is wrong."""
    root = write(
        tmp_path / "projects",
        {
            "-a/s1.jsonl": [asked(), b"{broken\n", said("m1"), {"type": "novelty"}, b'{"torn'],
            "-b/s1.jsonl": [asked(), said("m1")],
            "-a/s2.jsonl": [asked(), said("m2")],
            "-a/s1/subagents/agent-a1.jsonl": [
                {**said("m3"), "isSidechain": True, "agentId": "a1"}
            ],
        },
    )
    (root / "-a" / "notes.txt").write_text("x")
    (root / "-a" / "link.jsonl").symlink_to("/etc/passwd")
    database = tmp_path / "d.db"
    run("ingest", root, "--database", database)
    (root / "-a/s2.jsonl").unlink()
    run("ingest", root, "--database", database)
    with writing(database) as writer, writer.batch():
        state = msgspec.msgpack.encode(
            fail(None, Fingerprint(1, 2, 3, 4, 5), "no such thing: /a/b")
        )
        writer.put_control("quarantine", [(1, "-a/bad.jsonl", state)])
    return database


def examined(run: Run, database: Path) -> dict[str, Any]:
    """The state as JSON."""
    answer: dict[str, Any] = run("doctor", "--database", database, "--json").json
    return answer


def test_everything_that_is_wrong_is_told(run: Run, tmp_path: Path) -> None:
    """With places and reasons."""
    found = examined(run, ailing(run, tmp_path))
    assert found["database"]["integrity"] == []
    (installation,) = found["installations"]
    assert (installation["sources"], installation["removed"], installation["present"]) == (
        4,
        1,
        True,
    )
    assert [one["path"] for one in found["removed_sources"]] == ["-a/s2.jsonl"]
    assert found["removed_sources"][0]["removed_at"].startswith("20")
    assert [one["outcome"] for one in found["epochs"]] == ["ingested", "ingested"]
    assert found["skips"] == {"duplicate-session": 1, "non-artifact": 1, "symlink": 1}
    assert found["line_faults"] == {"json": 1}
    assert [(one["path"], one["reason"]) for one in found["faults"]] == [("-a/s1.jsonl", "json")]
    assert [one["type"] for one in found["unknown_kinds"]] == ["novelty"]
    assert [one["path"] for one in found["duplicate_sessions"]] == ["-b/s1.jsonl"]
    assert [one["agent_id"] for one in found["orphans"]] == ["a1"]
    assert [(one["path"], one["bytes"]) for one in found["pending"]] == [("-a/s1.jsonl", 6)]
    (parked,) = found["quarantine"]
    assert (parked["reason"], parked["will_retry"], parked["parked"]) == (
        "no such thing: <path>",
        "next-pass",
        False,
    )


def test_what_is_not_supported_is_told_with_its_reason(run: Run, sample: Path) -> None:
    """Absence of a signal is not its being zero."""
    signals = examined(run, sample)["signals"]
    missing = [one for one in signals if not one["supported"]]
    assert missing
    assert all(one["note"] and one["since"] is None for one in missing)
    assert {one["signal"] for one in signals} >= {"token usage per response", "permission waiting"}


def test_settings_are_told_with_their_origin(run: Run, sample: Path) -> None:
    """Who wonders why finds out."""
    found = {one["key"]: (one["value"], one["origin"]) for one in examined(run, sample)["settings"]}
    assert found["database"] == (str(sample), "flag --database")
    assert found["timezone"] == ("UTC", "environment STEMMA_TIMEZONE")
    assert found["watchdog_minutes"] == ("10", "default")


def test_the_report_fits_the_terminal(run: Run, tmp_path: Path) -> None:
    """In text as well."""
    database = ailing(run, tmp_path)
    narrow, wide = (
        run("doctor", "--database", database, env={"COLUMNS": columns}) for columns in ("80", "140")
    )
    assert narrow.code == wide.code == 0
    assert max(map(len, narrow.out.splitlines())) <= 80
    assert max(map(len, wide.out.splitlines())) <= 140
    for part in (
        "sound",
        "novelty",
        "symlink: 1",
        "-b/s1.jsonl",
        "next-pass",
        "sessions that two projects claim",
    ):
        assert part in wide.out


def test_examples_are_listed_and_all_of_them_on_request(run: Run, tmp_path: Path) -> None:
    """A list of a thousand paths helps nobody who did not ask for it."""
    root = write(tmp_path / "projects", {"-a/s1.jsonl": [asked(), said("m1")]})
    for number in range(9):
        (root / "-a" / f"notes{number}.txt").write_text("x")
    run("ingest", root, "--database", tmp_path / "d.db")
    short = run("doctor", "--database", tmp_path / "d.db").out
    assert "… and 6 more" in short
    long = run("doctor", "--verbose", "--database", tmp_path / "d.db").out
    assert all(f"notes{number}.txt" in long for number in range(9))


def test_a_damaged_database_is_a_failure(run: Run, sample: Path, tmp_path: Path) -> None:
    """What is wrong is printed, and what to do."""
    broken = tmp_path / "broken.db"
    data = bytearray(sample.read_bytes())
    for page in range(2, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    broken.write_bytes(data)
    found = run("doctor", "--database", broken)
    assert found.code == 1
    assert "DAMAGED" in found.out
    assert "restore a copy" in found.out
    answer = run("doctor", "--database", broken, "--json")
    assert answer.code == 1
    assert answer.json["database"]["integrity"]
    broken.write_bytes(b"this is no database at all, and long enough to be read as one" * 40)
    assert run("doctor", "--database", broken, "--json").json["database"]["integrity"] == [
        "file is not a database"
    ]
