"""`stemma events` and `stemma show`: every occurrence once, and its record read back without its secrets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from tests.builders.records import answered, asked, called, said, write
from tests.cli.conftest import Ran

Run = Callable[..., Ran]
Build = Callable[..., Path]

RETRY = "5b8c1f0e"


def types(found: Ran) -> list[str]:
    """Types of the listed events."""
    return [event["event_type"] for event in found.json["events"]]


def one_tree(tmp_path: Path) -> Path:
    """A session with a tool call, and a record of an unknown kind."""
    rows = [
        asked("run it"),
        said("m1", content=[called("t1", command="ls")], stop="tool_use"),
        answered("t1"),
        {"type": "novelty", "value": 1},
        said("m2"),
    ]
    return write(tmp_path / "projects", {"-p/s1.jsonl": rows})


def test_events_stand_in_the_order_of_time(run: Run, sample: Path) -> None:
    """Across all transcripts of the session."""
    found = run("events", RETRY, "--database", sample, "--json").json
    times = [event["occurred_at"] or "" for event in found["events"]]
    assert times == sorted(times)
    assert (
        found["matching"] == len(found["events"]) == len({e["event_id"] for e in found["events"]})
    )


def test_an_event_has_its_envelope(run: Run, tmp_path: Path, database: Build) -> None:
    """Everything of DESIGN section 5 that a transcript can tell."""
    root = one_tree(tmp_path)
    found = run(
        "events", "s1", "--type", "tool.completed", "--database", database(root), "--json"
    ).json
    (event,) = found["events"]
    event["source"]["record_locator"]["root"] = "-"
    assert event == snapshot(
        {
            "event_id": "ev_62a88f2fe4407e403619",
            "event_type": "tool.completed",
            "occurred_at": "2026-11-03T10:00:02.000000Z",
            "timestamp_origin": "source",
            "session_id": "s1",
            "turn_id": "-p/s1.jsonl:0",
            "agent_id": "main",
            "source": {
                "adapter": "claude-code",
                "adapter_version": 1,
                "record_locator": {
                    "root": "-",
                    "path": "-p/s1.jsonl",
                    "generation": 0,
                    "offset": 690,
                    "length": 244,
                },
                "source_event_id": "-p/s1.jsonl:2",
            },
            "evidence": {"grade": "observed", "confidence": 1.0, "basis": "the record itself"},
            "payload": {
                "subject": "t1",
                "name": "Bash",
                "summary": None,
                "amount": 1000000,
                "unit": "microseconds",
            },
        }
    )


def test_events_can_be_chosen(run: Run, sample: Path) -> None:
    """By type, by agent or the start of its id, and the newest of them."""
    base = ("events", RETRY, "--database", sample, "--json")
    assert set(types(run(*base, "--type", "tool.failed"))) == {"tool.failed"}
    mine = run(*base, "--agent", "a33c").json["events"]
    assert {event["agent_id"] for event in mine} == {"a33c3369b3d160b20"}
    every = types(run(*base))
    last = run(*base, "--limit", "3")
    assert types(last) == every[-3:]
    assert last.json["matching"] == len(every)


def test_records_of_unknown_kinds_are_no_events_but_reachable(
    run: Run, tmp_path: Path, database: Build
) -> None:
    """Only who asks for them sees them."""
    built = database(one_tree(tmp_path))
    assert "record.unknown" not in types(run("events", "s1", "--database", built, "--json"))
    found = run("events", "s1", "--type", "record.unknown", "--database", built, "--json")
    assert [event["payload"]["name"] for event in found.json["events"]] == ["novelty"]


def test_an_unknown_type_is_refused_with_a_hint(run: Run, sample: Path) -> None:
    """A typing error is no empty list."""
    found = run("events", RETRY, "--type", "tool.fail", "--database", sample)
    assert found.code == 2
    assert "tool.failed" in found.err


def test_a_rewritten_source_repeats_nothing(run: Run, tmp_path: Path) -> None:
    """What stands in both generations appears once, what stands in the older one alone stays."""
    base = ("--database", tmp_path / "d.db")
    rows = [asked("one"), said("m1"), asked("two"), said("m2")]
    root = write(tmp_path / "projects", {"-p/s1.jsonl": rows})
    run("ingest", root, *base)
    before = run("events", "s1", *base, "--json").json["events"]
    write(root, {"-p/s1.jsonl": [rows[0], rows[1]]})
    assert run("ingest", root, *base, "--json").json["rewritten"] == 1
    after = run("events", "s1", *base, "--json").json["events"]
    assert {event["event_id"] for event in before} <= {event["event_id"] for event in after}
    ids = [event["event_id"] for event in after]
    assert len(ids) == len(set(ids))
    assert {e["source"]["record_locator"]["generation"] for e in after} == {0, 1}


def test_ids_are_the_same_in_every_database(run: Run, tmp_path: Path) -> None:
    """They depend on the evidence alone."""
    root = one_tree(tmp_path)
    found = []
    for name in ("a.db", "b.db"):
        run("ingest", root, "--database", tmp_path / name)
        found.append(run("events", "s1", "--database", tmp_path / name, "--json").json["events"])
    assert found[0] == found[1]


def test_an_event_is_found_by_the_start_of_its_id(run: Run, sample: Path) -> None:
    """With and without its prefix, in all sessions and in one."""
    event = run("events", RETRY, "--database", sample, "--json").json["events"][7]
    for text in (event["event_id"], event["event_id"][:12], event["event_id"][3:12]):
        assert run("show", text, "--database", sample, "--json").json["event"] == event
        found = run("show", text, "--session", RETRY, "--database", sample, "--json")
        assert found.json["event"] == event


def test_a_start_that_many_ids_share_lists_them(run: Run, sample: Path) -> None:
    """Nobody guesses."""
    found = run("show", "ev_", "--database", sample)
    assert found.code == 1
    assert "events begin with 'ev_'" in found.err
    assert found.err.count("  session ") == 10
    assert run("show", "ev_ffffffffffffffffffff", "--database", sample).code == 1


def shown(run: Run, root: Path, database: Path, kind: str) -> Ran:
    """The first event of a type, with its record."""
    run("ingest", root, "--database", database)
    found = run("events", "s1", "--type", kind, "--database", database, "--json").json["events"]
    return run("show", found[0]["event_id"], "--database", database, "--json")


def test_the_record_is_read_back(run: Run, tmp_path: Path) -> None:
    """Through its locator."""
    root = one_tree(tmp_path)
    found = shown(run, root, tmp_path / "d.db", "tool.requested").json
    assert found["raw_state"] == "read"
    assert found["raw"] == json.loads((root / "-p/s1.jsonl").read_bytes().splitlines()[1])


def test_secrets_are_taken_out_of_it(run: Run, tmp_path: Path) -> None:
    """By key and by form, at any depth; numbers of tokens stay."""
    arguments: dict[str, Any] = {
        "token": "abcdefgh12345678",
        "refreshTokens": ["one-of-them"],
        "max_tokens": "4096",
        "api_key": "zzzz",
        "headers": [{"name": "Authorization", "value": "Basic Zm9vOmJhcg=="}],
        "env": {"DB_PASSWORD": "hunter2", "pin": 1, "password": 123456},
        "command": "curl -H 'Authorization: Bearer abcdefghijklmnop123' https://u:secretpw@h/",
        "note": "sk-ant-REDACTED",
    }
    rows = [asked(), said("m1", content=[called("t1", **arguments)], stop="tool_use")]
    root = write(tmp_path / "projects", {"-p/s1.jsonl": rows})
    found = shown(run, root, tmp_path / "d.db", "tool.requested")
    for secret in (
        "abcdefgh1234",
        "one-of-them",
        "zzzz",
        "Zm9v",
        "hunter2",
        "123456",
        "mnop123",
        "secretpw",
        "AAAABBBB",
    ):
        assert secret not in found.out, secret
    raw = found.json["raw"]
    assert raw["message"]["usage"]["output_tokens"] == 100
    given = raw["message"]["content"][0]["input"]
    assert given["max_tokens"] == "4096"
    assert given["env"]["pin"] == 1


@pytest.mark.parametrize(
    ("change", "state"),
    [
        (lambda path: path.unlink(), "source removed"),
        (lambda path: path.write_bytes(b"x" * 4000), "source rewritten"),
        (lambda path: path.write_bytes(b""), "source rewritten"),
        (lambda path: path.write_bytes(path.read_bytes().replace(b"-p/s1.jsonl:1", b"-p/s1.jsonl:9")), "source rewritten"),
        (lambda path: (path.rename(path.with_suffix(".x")), path.symlink_to(path.with_suffix(".x"))), "unreadable"),
        (lambda path: path.parent.parent.rename(path.parent.parent.with_name("moved")), "source removed"),
    ],
)  # fmt: skip
def test_a_record_that_is_gone_is_said_to_be(
    run: Run, tmp_path: Path, change: Callable[[Path], object], state: str
) -> None:
    """The event stays; other bytes are never passed off as its record."""
    root = one_tree(tmp_path)
    base = ("--database", tmp_path / "d.db")
    run("ingest", root, *base)
    events = run("events", "s1", "--type", "tool.requested", *base, "--json").json["events"]
    change(root / "-p/s1.jsonl")
    found = run("show", events[0]["event_id"], *base, "--json")
    assert found.code == 0
    assert (found.json["raw_state"], found.json["raw"]) == (state, None)
    assert found.json["event"] == events[0]


def test_a_source_known_to_be_gone_is_said_to_be_since_when(run: Run, tmp_path: Path) -> None:
    """As the collector noticed it."""
    root = one_tree(tmp_path)
    base = ("--database", tmp_path / "d.db")
    run("ingest", root, *base)
    (root / "-p/s1.jsonl").unlink()
    (root / "-p/s2.jsonl").write_bytes(b"{}\n")
    run("ingest", root, *base)
    (event,) = run("events", "s1", "--type", "tool.requested", *base, "--json").json["events"]
    found = run("show", event["event_id"], *base)
    assert "record: source removed (its file has been gone since 20" in found.out


def test_the_timeline_fits_the_terminal(run: Run, sample: Path) -> None:
    """A line for each event, one for each day."""
    found = run("events", RETRY, "--limit", "6", "--database", sample, env={"COLUMNS": "80"})
    assert max(map(len, found.out.splitlines())) <= 80
    assert found.out == snapshot("""\
39 earlier events not listed
TIME      TYPE              AGENT  ABOUT                   GRADE     EVENT
2026-11-18
09:24:23  context.compact…  main   manual (17,555 tokens)  observed  ev_bfadedfe
09:24:23  session.compact…  main   manual (17,555 tokens)  derived   ev_e315cc47
09:24:23  turn.started      main   command /compact        observed  ev_e28203a2
09:24:43  turn.completed    main   completed (0.0s)        derived   ev_909091ba
09:24:43  turn.started      main   human Write the commi…  observed  ev_3c2eceb7
09:24:46  turn.completed    main   completed (2.9s)        derived   ev_964fa6a4
""")


def test_one_event_in_text(run: Run, sample: Path) -> None:
    """Everything that JSON has, for people."""
    event = run("events", RETRY, "--type", "tool.failed", "--database", sample, "--json").json[
        "events"
    ][0]
    found = run("show", event["event_id"], "--database", sample)
    for part in (
        event["event_id"],
        "tool.failed",
        "Read",
        "File does not exist.",
        "observed",
        "record: read",
    ):
        assert part in found.out
