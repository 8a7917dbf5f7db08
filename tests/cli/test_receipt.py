"""`stemma cost receipt`: whatever is asked for, every line recomputes to the figure, and what is left out is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from tests.builders.records import asked, called, counters, said, split, write
from tests.builders.shared import each
from tests.cli.conftest import Ran

Run = Callable[..., Ran]
Build = Callable[..., Path]


def check(answer: dict[str, Any]) -> None:
    """The arithmetic of a receipt, as a sceptic does it: from price rows and amounts alone."""
    total = Fraction(0)
    for line in answer["lines"]:
        rate = Fraction(line["row_pico_usd"])
        for applied in line["multipliers"]:
            rate *= Fraction(applied["factor"])
        rounded = int(Decimal(rate.numerator) / Decimal(rate.denominator) + Decimal("0.5"))
        assert line["rate_pico_usd"] == rounded
        assert line["pico_usd"] == line["amount"] * rounded
        assert line["provenance"]
        total += line["pico_usd"]
    assert answer["pico_usd"] == total
    micro = int((Decimal(int(total)) / 1_000_000).quantize(Decimal(1), ROUND_HALF_UP))
    assert answer["recomputed_micro_usd"] == micro
    assert answer["micro_usd"] in (micro, None)
    assert answer["rounding_pico_usd"] == micro * 1_000_000 - total
    found = answer["evidence"]
    assert found["priced_responses"] + found["unpriced_responses"] == found["unique_responses"]
    assert found["lines_read"] >= found["unique_responses"]
    assert found["unpriced_tokens"] == sum(
        one["amount"] for one in answer["unpriced"] if one["bucket"] != "web_search"
    )


def receipts(run: Run, database: Path) -> dict[str, list[dict[str, Any]]]:
    """Receipts of every session, agent, day and message, each checked."""
    options = ("--database", database, "--json")
    sessions = run("sessions", *options).json["sessions"]
    groups = run("usage", "--by", "agent", *options).json["groups"]
    days = run("usage", "--by", "day", *options).json["groups"]
    wanted = {
        "session": [one["session_id"] for one in sessions],
        "agent": [f"{one['session']}/{one['key']}" for one in groups],
        "day": [one["key"] for one in days if one["key"] != "unknown"],
    }
    found = {
        kind: [run("cost", "receipt", key, *options).json for key in keys]
        for kind, keys in wanted.items()
    }
    for kind, answers in found.items():
        for answer in answers:
            assert answer["scope"] == kind
            check(answer)
    return found


def test_sessions_agents_and_days_add_up_to_the_same(run: Run, sample: Path) -> None:
    """Exactly, in pico-dollars: there is one figure, whatever it is grouped by."""
    found = receipts(run, sample)
    sums = {kind: sum(one["pico_usd"] for one in answers) for kind, answers in found.items()}
    assert len(set(sums.values())) == 1, sums
    assert sums["session"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("case", each("cases/accounting/*"))
def test_every_case_recomputes_to_its_price(run: Run, database: Build, case: Path) -> None:
    """Through the command, to the exact dollar."""
    built = database(case / "projects")
    expected = json.loads((case / "expected.json").read_text(), parse_float=Decimal)
    sessions = receipts(run, built)["session"]
    total = sum(one["pico_usd"] for one in sessions)
    if isinstance(expected.get("usd"), Decimal | int) and not case.name.startswith("41_"):
        assert Decimal(total).scaleb(-12) == expected["usd"]
    if case.name.startswith("26_"):
        assert [one["micro_usd"] for one in sessions] == [None]
        assert sessions[0]["unpriced"][0]["reason"] == "unknown-model"


def test_a_message_has_a_receipt(run: Run, tmp_path: Path, database: Build) -> None:
    """With both kinds of cache write, a surcharge, and the lines that it was read from."""
    usage = counters(10, 100, 1500, 2000, inference_geo="us", **split(500, 1000))
    rows = [
        asked(),
        said("msg_a", {**usage, "output_tokens": 1}),
        said("msg_a", usage),
        said("msg_b"),
    ]
    built = database(write(tmp_path / "projects", {"-p/s1.jsonl": rows}))
    answer = run("cost", "receipt", "msg_a", "--database", built, "--json").json
    check(answer)
    assert (answer["scope"], answer["key"]) == ("message", "msg_a")
    assert answer["evidence"]["lines_read"] == 2
    assert answer["evidence"]["unique_responses"] == 1
    assert [(one["bucket"], one["amount"]) for one in answer["lines"]] == [
        ("input", 10),
        ("output", 100),
        ("cache_write_5m", 500),
        ("cache_write_1h", 1000),
        ("cache_read", 2000),
    ]
    assert all(one["multipliers"] for one in answer["lines"])
    shown = run("cost", "receipt", "msg_a", "--database", built)
    assert "2 lines read in 1 file · 1 unique response · 1 priced · 0 unpriced" in shown.out
    assert "API-equivalent, recomputed from the lines: the same" in shown.out


def test_what_is_left_out_is_told(run: Run, tmp_path: Path, database: Build) -> None:
    """Anomalies, copies, lower bounds, lines that cannot be read, and what no transcript can hold."""
    rows: list[dict[str, Any] | bytes] = [
        asked(),
        b"{broken\n",
        said("m1", counters(1, 5), stop=None),
        said("m2", counters(-4, 7)),
        said("m3", counters(10, 20), model="<synthetic>"),
        said("m4", counters(10, 20), model="claude-nimbus-9"),
    ]
    shared = [{**asked(), "uuid": "u"}, {**said("m9", counters(1, 1)), "uuid": "v"}]
    root = write(
        tmp_path / "projects",
        {"-p/s1.jsonl": rows, "-p/s2.jsonl": shared, "-p/s3.jsonl": [*shared, asked(), said("m8")]},
    )
    built = database(root)
    answer = run("cost", "receipt", "s1", "--database", built, "--json").json
    check(answer)
    assert {one["what"]: one["count"] for one in answer["excluded"]} == {
        "anomalies": 1,
        "synthetic": 1,
        "incomplete": 1,
        "skipped-lines": 1,
        "helper-calls": None,
    }
    assert answer["evidence"]["unpriced_responses"] == 1
    assert answer["evidence"]["unpriced_tokens"] == 30
    assert answer["grade"] == "derived"
    fork = run("cost", "receipt", "s3", "--database", built, "--json").json
    assert {"what": "inherited", "count": 1}.items() <= fork["excluded"][0].items()
    assert "? for 30 unpriced tokens" in run("cost", "receipt", "s1", "--database", built).out


def test_nothing_priced_is_unknown_and_not_zero(run: Run, tmp_path: Path, database: Build) -> None:
    """A confident $0 would be a lie."""
    rows = [asked(), said("m1", model="claude-nimbus-9")]
    built = database(write(tmp_path / "projects", {"-p/s1.jsonl": rows}))
    answer = run("cost", "receipt", "s1", "--database", built, "--json").json
    assert (answer["micro_usd"], answer["pico_usd"]) == (None, 0)
    shown = run("cost", "receipt", "s1", "--database", built).out
    assert "$0" not in shown
    assert "?  API-equivalent" in shown


def test_an_agent_is_named_by_its_id(run: Run, tmp_path: Path, database: Build) -> None:
    """Alone, by its start, or behind its session; `main` needs its session."""
    root = write(
        tmp_path / "projects",
        {
            "-p/s1.jsonl": [asked(), said("m1", content=[called("t1", "Agent", prompt="go")])],
            "-p/s1/subagents/agent-abc123.jsonl": [
                asked("go", isSidechain=True, agentId="abc123"),
                said("m2", isSidechain=True, agentId="abc123"),
            ],
            "-p/s1/subagents/agent-abc123.meta.json": {"agentType": "Explore", "toolUseId": "t1"},
        },
    )
    built = database(root)
    for name in ("abc123", "abc", "s1/abc1"):
        answer = run("cost", "receipt", name, "--database", built, "--json").json
        assert (answer["scope"], answer["key"], answer["session"]) == ("agent", "abc123", "s1")
        assert answer["evidence"]["unique_responses"] == 1
    assert run("cost", "receipt", "s1/main", "--database", built, "--json").json["agent"] == "main"
    assert run("cost", "receipt", "main", "--database", built).code == 1
    unknown = run("cost", "receipt", "s1/zz", "--database", built)
    assert (unknown.code, unknown.err) == (
        1,
        "stemma: session s1 has no agent whose id begins with 'zz'\n",
    )


def test_an_id_that_means_several_things_is_not_guessed(
    run: Run, tmp_path: Path, database: Build
) -> None:
    """They are listed."""
    root = write(
        tmp_path / "projects",
        {"-p/s11.jsonl": [asked(), said("m1")], "-p/s12.jsonl": [asked(), said("m2")]},
    )
    found = run("cost", "receipt", "s1", "--database", database(root))
    assert found.code == 1
    assert found.err == snapshot("""\
stemma: more than one id begins with 's1':
  session s11
  session s12
""")


def test_a_day_is_that_of_the_zone(run: Run, tmp_path: Path, database: Build) -> None:
    """A response of two in the morning, UTC, is of the day before in Denver; a day without any is an error."""
    rows = [asked(), said("m1", timestamp="2026-08-04T02:00:00Z")]
    built = database(write(tmp_path / "projects", {"-p/s1.jsonl": rows}))
    options = ("--database", built, "--timezone", "America/Denver")
    assert run("cost", "receipt", "2026-08-03", *options).code == 0
    assert run("cost", "receipt", "2026-08-04", *options).code == 1


def test_the_users_prices_show(run: Run, sample: Path, tmp_path: Path) -> None:
    """With their provenance: one override, in every report."""
    folder = tmp_path / "home" / "stemma"
    folder.mkdir()
    (folder / "prices.toml").write_text('[models."claude-opus-5-5"]\noutput = 1000\n')
    day = run("usage", "--by", "day", "--database", sample, "--json").json["groups"][0]["key"]
    for wanted in (day, "5b8c1f0e"):
        answer = run("cost", "receipt", wanted, "--database", sample, "--json").json
        check(answer)
        rows = [
            one
            for one in answer["lines"]
            if (one["model"], one["bucket"]) == ("claude-opus-5-5", "output")
        ]
        assert all(one["rate_pico_usd"] == 1_000_000_000 for one in rows)
        assert all(
            "user" in one["provenance"] or "prices.toml" in one["provenance"] for one in rows
        )
    (folder / "prices.toml").write_text("[models\n")
    assert run("cost", "receipt", day, "--database", sample).code == 1
