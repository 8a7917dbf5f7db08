"""`stemma sessions`: which are listed, in which order, and what is said of each."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from inline_snapshot import snapshot
from tests.builders.records import answered, asked, at, called, said, write
from tests.cli.conftest import Ran

Run = Callable[..., Ran]
Build = Callable[..., Path]


def titles(found: Ran) -> list[str]:
    """Titles of the listed sessions."""
    return [one["title"] for one in found.json["sessions"]]


def test_the_newest_stand_first(run: Run, sample: Path) -> None:
    """By their last record."""
    found = run("sessions", "--database", sample, "--json")
    assert titles(found) == snapshot(
        [
            "Check links of two chapters",
            "Settings of the renewal job",
            "Queue for failed payments",
            "Retry failed payments",
            "Collect the screenshots that show the old logo. Meanwhile update the footer.",
            "Is the shipping cost rounded the same way everywhere?",
        ]
    )


def test_a_session_says_all_there_is_to_say(run: Run, sample: Path) -> None:
    """Unknown is null, times are text, counts are numbers."""
    (found,) = run(
        "sessions", "--project", "CHECKOUT", "--until", "2025-12-31", "--database", sample, "--json"
    ).json["sessions"]
    found["host"] = "-"
    assert found == snapshot(
        {
            "session_id": "7a3d2c91-5e80-46f7-a1b9-d24c60f8e357",
            "title": "Is the shipping cost rounded the same way everywhere?",
            "title_basis": "first prompt",
            "project": "-home-ada-checkout",
            "cwd": "/home/ada/checkout",
            "branch": "main",
            "model": "claude-sonnet-4-20250514",
            "host": "-",
            "product": "claude-code",
            "client_version": "1.0.128",
            "entrypoint": None,
            "completeness": "main",
            "started_at": "2025-10-02T13:27:09.905000Z",
            "last_at": "2025-10-02T13:27:21.705000Z",
            "wall_us": 11800000,
            "active_us": 11800000,
            "prompts": 1,
            "agents": 1,
            "helper_agents": 0,
            "compactions": 0,
            "api_errors": 0,
            "inherited": 0,
            "tokens": {
                "input": 18,
                "output": 368,
                "cache_write_5m": 1600,
                "cache_write_1h": 0,
                "cache_read": 31120,
                "total": 33106,
                "responses": 4,
                "incomplete": 0,
                "web_searches": 0,
            },
            "sources": 1,
            "sources_removed": 0,
            "status": {
                "status": "waiting",
                "reason": "turn-done",
                "grade": "derived",
                "basis": "the main thread's last record",
                "at": "2025-10-02T13:27:21.705000Z",
                "stored_status": "waiting",
            },
        }
    )


def test_sessions_can_be_chosen(run: Run, sample: Path) -> None:
    """By project, time, status and number; the number of all that fit is told."""
    base = ("sessions", "--database", sample, "--json")
    assert len(titles(run(*base, "--project", "docs-site"))) == 2
    assert titles(run(*base, "--since", "2026-11-19", "--until", "2026-11-19")) == [
        "Settings of the renewal job"
    ]
    assert len(titles(run(*base, "--status", "waiting"))) == 2
    limited = run(*base, "--limit", "1")
    assert len(titles(limited)) == 1
    assert limited.json["matching"] == 6
    assert len(titles(run(*base, "--limit", "0"))) == 6


def test_helpers_are_not_counted_as_subagents(run: Run, tmp_path: Path, database: Build) -> None:
    """They have a figure of their own; their tokens count."""
    helper = [{**said("m2"), "isSidechain": True, "agentId": "acompact-1"}]
    root = write(
        tmp_path / "projects",
        {"-p/s1.jsonl": [asked(), said("m1")], "-p/s1/subagents/agent-acompact-1.jsonl": helper},
    )
    (found,) = run("sessions", "--database", database(root), "--json").json["sessions"]
    assert (found["agents"], found["helper_agents"]) == (0, 1)
    assert found["tokens"]["responses"] == 2


def test_active_time_is_that_of_turns(run: Run, tmp_path: Path, database: Build) -> None:
    """What the client states, else first to last record; waiting for the person does not count."""
    stated = {"type": "system", "subtype": "turn_duration", "durationMs": 2500}
    root = write(
        tmp_path / "projects",
        {
            "-p/s1.jsonl": [
                {**asked("one"), "timestamp": at(0)},
                {**said("m1"), "timestamp": at(2)},
                {**stated, "timestamp": at(3)},
                {**asked("two"), "timestamp": at(100)},
                {**said("m2"), "timestamp": at(104)},
            ]
        },
    )
    (found,) = run("sessions", "--database", database(root), "--json").json["sessions"]
    assert found["active_us"] == 2_500_000 + 4_000_000
    assert found["wall_us"] == 104_000_000


def test_time_is_not_active_twice(run: Run, tmp_path: Path, database: Build) -> None:
    """A notification is written with the time at which it came, behind records of the turn that it came into."""
    note = "<task-notification><task-id>a1</task-id><status>completed</status></task-notification>"
    root = write(
        tmp_path / "projects",
        {
            "-p/s1.jsonl": [
                {**asked("one"), "timestamp": at(0)},
                {**said("m1", content=[called("t1")], stop="tool_use"), "timestamp": at(1)},
                {**answered("t1"), "timestamp": at(8)},
                {**asked(note), "timestamp": at(4)},
                {**said("m2"), "timestamp": at(9)},
            ]
        },
    )
    (found,) = run("sessions", "--database", database(root), "--json").json["sessions"]
    assert found["active_us"] == found["wall_us"] == 9_000_000


def test_a_copied_turn_counts_where_it_was_made(run: Run, tmp_path: Path, database: Build) -> None:
    """A fork begins with its own first turn."""
    shared = [
        {**asked("one"), "uuid": "u1", "timestamp": at(0)},
        {**said("m1"), "uuid": "u2", "timestamp": at(5)},
    ]
    own = [
        {**asked("two"), "uuid": "u3", "timestamp": at(100)},
        {**said("m2"), "uuid": "u4", "timestamp": at(101)},
    ]
    root = write(tmp_path / "projects", {"-p/s1.jsonl": shared, "-p/s2.jsonl": [*shared, *own]})
    listed = run("sessions", "--database", database(root), "--json").json["sessions"]
    found = {one["session_id"]: one for one in listed}
    assert found["s1"]["active_us"] == 5_000_000
    assert found["s2"]["active_us"] == 1_000_000
    assert found["s2"]["wall_us"] == 1_000_000
    assert found["s2"]["inherited"] == 1
    assert found["s2"]["tokens"]["responses"] == 1


def test_a_session_in_two_projects_counts_its_turns_once(
    run: Run, tmp_path: Path, database: Build
) -> None:
    """The evidence of both is united."""
    rows = [
        {**asked("one"), "uuid": "u1", "timestamp": at(0)},
        {**said("m1"), "uuid": "u2", "timestamp": at(5)},
    ]
    root = write(tmp_path / "projects", {"-a/s1.jsonl": rows, "-b/s1.jsonl": rows})
    (found,) = run("sessions", "--database", database(root), "--json").json["sessions"]
    assert (found["project"], found["active_us"], found["sources"]) == ("-a", 5_000_000, 2)


def test_silence_is_shown_as_not_knowing(run: Run, tmp_path: Path, database: Build) -> None:
    """The record keeps what the evidence says."""
    calls = said("m1", content=[called("t1")], stop="tool_use")
    old = write(tmp_path / "projects", {"-p/s1.jsonl": [asked(), calls]})
    now = datetime.now(UTC).isoformat()
    write(old, {"-p/s2.jsonl": [asked(timestamp=now), {**calls, "timestamp": now}]})
    listed = run("sessions", "--database", database(old), "--json").json["sessions"]
    found = {one["session_id"]: one["status"] for one in listed}
    assert found["s1"] == {
        "status": "unknown",
        "reason": "no end seen",
        "grade": "inferred",
        "basis": "silent for longer than the watchdog's window",
        "at": "2026-11-03T10:00:01.000000Z",
        "stored_status": "working",
    }
    assert found["s2"]["status"] == "working"
    assert found["s2"]["stored_status"] == "working"


def test_a_source_that_is_gone_is_marked(run: Run, tmp_path: Path) -> None:
    """Its record stays."""
    root = write(tmp_path / "projects", {"-p/s1.jsonl": [asked(), said("m1")]})
    write(root, {"-p/s2.jsonl": [asked("other"), said("m2")]})
    base = ("--database", tmp_path / "d.db")
    run("ingest", root, *base)
    (root / "-p/s1.jsonl").unlink()
    run("ingest", root, *base)
    found = {one["session_id"]: one for one in run("sessions", *base, "--json").json["sessions"]}
    assert found["s1"]["sources_removed"] == found["s1"]["sources"] == 1
    assert found["s1"]["tokens"]["responses"] == 1
    assert "hi (source removed)" in run("sessions", *base).out


def test_a_narrow_terminal_gets_two_lines(run: Run, sample: Path) -> None:
    """Nothing is wider than the terminal."""
    found = run("sessions", "--database", sample, env={"COLUMNS": "80"})
    lines = found.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[:3] == snapshot(
        [
            "SESSION   TITLE                                   LAST         TOKENS  STATUS",
            "e85f04c2  Check links of two chapters             11-20 14:31   55.7k  completed",
            "          /hom…docs-site · link-check · opus-5-5 · 2 agents · active 6.7s of 15s",
        ]
    )


def test_a_wide_one_gets_one(run: Run, sample: Path) -> None:
    """With a head for every column."""
    found = run("sessions", "--database", sample, env={"COLUMNS": "180"})
    lines = found.out.splitlines()
    assert lines[0].split() == [
        "SESSION", "LAST", "TITLE", "PROJECT", "BRANCH", "MODEL", "AGENTS", "ACTIVE", "WALL", "TOKENS", "STATUS",
    ]  # fmt: skip
    assert len(lines) == 7
    assert max(map(len, lines)) <= 180
