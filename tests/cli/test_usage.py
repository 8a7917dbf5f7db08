"""`stemma usage`: sums that add up, whatever they are grouped by, and nothing dropped in silence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from tests.builders.records import asked, counters, said, write
from tests.builders.shared import each
from tests.cli.conftest import Ran

from stemma.cli.options import GroupWord, StatusWord
from stemma.model.entity import Status
from stemma.model.usage import BUCKETS
from stemma.store.answers.usage import By

Run = Callable[..., Ran]
Build = Callable[..., Path]

FIGURES = (*BUCKETS, "total", "responses", "incomplete", "web_searches")


def added(groups: list[dict[str, Any]]) -> dict[str, int]:
    """Figures of groups added up."""
    return {name: sum(group[name] for group in groups) for name in FIGURES}


def check_sums(run: Run, database: Path) -> None:
    """Every way to ask for tokens gives the same sums."""
    totals = run("usage", "--database", database, "--json").json["totals"]
    whole = {name: totals[name] for name in FIGURES}
    for by in By:
        answer = run("usage", "--by", by, "--database", database, "--json").json
        assert added(answer["groups"]) == whole, by
        assert answer["totals"] == totals
    listed = run("sessions", "--database", database, "--json").json["sessions"]
    assert added([one["tokens"] for one in listed]) == whole
    for one in listed:
        tree = run("tree", one["session_id"], "--database", database, "--json").json
        agents = [*tree["agents"], *tree["orphans"], *tree["helpers"]]
        agents += [*tree["untraced"], *([tree["main"]] if tree["main"] else [])]
        assert added([agent["tokens"] for agent in agents]) == added([one["tokens"]])


def test_groups_add_up_to_the_totals(run: Run, sample: Path) -> None:
    """Exactly, in every command that shows tokens."""
    check_sums(run, sample)


@pytest.mark.slow
@pytest.mark.parametrize("case", each("cases/accounting/*"))
def test_groups_of_every_case_add_up(run: Run, database: Build, case: Path) -> None:
    """Also of inputs made to deceive."""
    check_sums(run, database(case / "projects"))


@pytest.mark.slow
@pytest.mark.parametrize("corpus", each("corpus/claude"))
def test_groups_of_real_transcripts_add_up(run: Run, database: Build, corpus: Path) -> None:
    """And of transcripts that people published."""
    check_sums(run, database(corpus))


def test_totals_carry_what_is_not_in_them(run: Run, tmp_path: Path, database: Build) -> None:
    """Skipped lines, incomplete responses, anomalies, copies: never dropped in silence."""
    rows: list[dict[str, Any] | bytes] = [
        asked(),
        b"{broken\n",
        said("m1", counters(1, 5), stop=None),
        said("m2", counters(-4, 7)),
        said("m3", counters(10, 20), model="<synthetic>"),
        said("m4", counters(2, 30), timestamp=None),
    ]
    shared = [{**asked(), "uuid": "u"}, {**said("m9", counters(1, 1)), "uuid": "v"}]
    root = write(
        tmp_path / "projects",
        {"-p/s1.jsonl": rows, "-p/s2.jsonl": shared, "-p/s3.jsonl": [*shared, asked(), said("m8")]},
    )
    answer = run("usage", "--by", "model", "--database", database(root), "--json").json
    assert answer["totals"] == snapshot(
        {
            "input": 7,
            "output": 136,
            "cache_write_5m": 0,
            "cache_write_1h": 0,
            "cache_read": 0,
            "total": 143,
            "responses": 4,
            "incomplete": 1,
            "web_searches": 0,
            "skipped_lines": 1,
            "anomalies": 1,
            "split_ids": 0,
            "inherited": 1,
            "undated": 1,
        }
    )
    assert [one["message_id"] for one in answer["anomaly_list"]] == ["m2"]
    assert [group["key"] for group in answer["groups"]] == ["claude-opus-4-8"]


def test_days_are_those_of_the_zone(run: Run, tmp_path: Path, database: Build) -> None:
    """A response late at night belongs to the day of whoever looks."""
    times = {
        "m1": "2026-08-04T02:00:00Z",
        "m2": "2026-11-01T05:30:00Z",
        "m3": "2026-11-01T06:30:00Z",
        "m4": None,
    }
    rows = [said(message, timestamp=time) for message, time in times.items()]
    built = database(write(tmp_path / "projects", {"-p/s1.jsonl": [rows[3], *rows[:3]]}))

    def days(zone: str) -> dict[str, int]:
        found = run("usage", "--by", "day", "--timezone", zone, "--database", built, "--json").json
        return {group["key"]: group["responses"] for group in found["groups"]}

    assert days("America/Denver") == {
        "2026-08-03": 1,
        "2026-10-31": 1,
        "2026-11-01": 1,
        "unknown": 1,
    }
    assert days("America/New_York") == {"2026-08-03": 1, "2026-11-01": 2, "unknown": 1}
    assert days("Asia/Kathmandu") == {"2026-08-04": 1, "2026-11-01": 2, "unknown": 1}
    assert list(days("UTC")) == ["2026-08-04", "2026-11-01", "unknown"]


def test_a_range_has_both_its_ends(run: Run, tmp_path: Path, database: Build) -> None:
    """Days are inclusive, local, and as long as they are; times are taken to the microsecond."""
    times = [
        "2026-10-31T23:59:59.999999Z",
        "2026-11-01T00:00:00Z",
        "2026-11-01T23:59:59.999Z",
        "2026-11-02T00:00:00Z",
    ]
    rows = [said(f"m{number}", timestamp=time) for number, time in enumerate(times)]
    built = database(write(tmp_path / "projects", {"-p/s1.jsonl": rows}))

    def count(*options: str) -> int:
        found = run("usage", *options, "--database", built, "--json").json
        return int(found["totals"]["responses"])

    assert count() == 4
    assert count("--since", "2026-11-01", "--until", "2026-11-01") == 2
    assert count("--since", "2026-11-01T00:00:00Z", "--until", "2026-11-01T00:00:00Z") == 1
    assert count("--until", "2026-11-01T00:00:00+01:00") == 0
    assert count("--until", "2026-10-31") == 1
    assert count("--since", "2026-11-01", "--timezone", "Asia/Tokyo") == 4
    assert count("--since", "2026-11-01", "--timezone", "America/New_York") == 2


def test_a_range_says_what_it_cannot_place(run: Run, tmp_path: Path, database: Build) -> None:
    """A response without a time lies in no range, and is counted as such."""
    rows = [said("m1", timestamp=None), said("m2")]
    built = database(write(tmp_path / "projects", {"-p/s1.jsonl": rows}))
    found = run("usage", "--since", "2020-01-01", "--database", built)
    assert "1 response without a time, not in this range" in found.out


@pytest.mark.parametrize(
    "options",
    [
        ("--since", "yesterday"),
        ("--until", "2026-13-01"),
        ("--since", "2026-11-02", "--until", "2026-11-01"),
        ("--by", "colour"),
    ],
)
def test_what_cannot_be_understood_is_refused(run: Run, sample: Path, options: list[str]) -> None:
    """With exit code 2."""
    assert run("usage", *options, "--database", sample).code == 2


def test_the_table_is_aligned(run: Run, sample: Path) -> None:
    """Numbers to the right, with thousands separators; a footer on what is not in them."""
    found = run("usage", "--by", "model", "--database", sample)
    assert found.out == snapshot("""\
MODEL                     INPUT  OUTPUT  WRITE 5M  WRITE 1H  CACHE READ    TOTAL  RESPONSES
claude-opus-5-5              90   3,342     1,070     5,071     184,400  193,973         17
claude-sonnet-4-6            31     482     1,730         0      58,090   60,333          6
claude-haiku-5-5             36     411     1,526         0      32,330   34,303          8
claude-sonnet-4-20250514     18     368     1,600         0      31,120   33,106          4
───────────────────────────────────────────────────────────────────────────────────────────
total                       175   4,603     5,926     5,071     305,940  321,715         35
0 skipped lines · no incomplete responses · 0 anomalies · 3 copies not counted again
""")


def test_a_narrow_terminal_gets_fewer_columns(run: Run, sample: Path) -> None:
    """And is told so; nothing is wider than the terminal."""
    found = run("usage", "--by", "session", "--database", sample, env={"COLUMNS": "60"})
    assert max(map(len, found.out.splitlines())) <= 60
    assert "shows every bucket" in found.out


def test_the_words_of_the_options_are_those_of_the_model() -> None:
    """They are written down twice, so that help is fast."""
    assert [word.value for word in GroupWord] == [by.value for by in By]
    assert [word.value for word in StatusWord] == [status.value for status in Status]
