"""Accounting cases: the shared ones, and many more of the same kinds, with figures that a person worked out."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from tests.builders.reading import Database
from tests.builders.records import write
from tests.builders.shared import each
from tests.corpus import cases_counters, cases_files, cases_identity
from tests.corpus.cases import Bill, Maker
from tests.oracle import naive

MAKERS = (*cases_identity.CASES, *cases_counters.CASES, *cases_files.CASES)
PLAUSIBLE = Bill(3, 100, responses=1)


def name(maker: Maker) -> str:
    """The test id of a case."""
    return maker.__name__


def bill_of(database: Database) -> Bill:
    """The totals of a database."""
    return Bill(**database.totals())


@pytest.mark.parametrize("case", each("cases/accounting/*"))
def test_a_shared_case_has_its_token_figures(tmp_path: Path, case: Path) -> None:
    """As its expected.json states them; where it states null, the implausible response alone is missing and listed."""
    expected = json.loads((case / "expected.json").read_text())
    database = Database(tmp_path / "stemma.db", case / "projects")
    bill = bill_of(database)
    if expected["input"] is None:
        assert bill == PLAUSIBLE
        assert [row.message for row in database.anomalies()] == ["msg_2"]
        return
    figures = {
        "input": bill.input,
        "output": bill.output,
        "cache_write": bill.cache_write_5m + bill.cache_write_1h,
        "cache_read": bill.cache_read,
    }
    assert figures == {key: expected[key] for key in figures}
    assert not database.anomalies()
    assert len(database.faults()) == case.name.startswith(
        "36_"
    )  # the torn line, which ends in a newline


@pytest.mark.parametrize("case", each("cases/accounting/12_*"))
def test_the_shared_case_of_web_searches_has_three(tmp_path: Path, case: Path) -> None:
    """Its price says so: ten dollars a thousand searches."""
    assert bill_of(Database(tmp_path / "stemma.db", case / "projects")).web_searches == 3


@pytest.mark.parametrize("maker", MAKERS, ids=name)
def test_a_case_has_the_figures_worked_out_by_hand(tmp_path: Path, maker: Maker) -> None:
    """Totals, owners, agents, anomalies and faults."""
    case = maker()
    database = Database(tmp_path / "stemma.db", write(tmp_path / "projects", case.tree))
    assert bill_of(database) == case.bill
    assert len(database.anomalies()) == case.anomalies
    assert len(database.faults()) == case.faults
    if case.sessions:
        assert output_by(database, "session") == dict(case.sessions)
    if case.agents:
        assert output_by(database, "agent") == dict(case.agents)


@pytest.mark.parametrize("maker", [m for m in MAKERS if m().naive], ids=name)
def test_the_independent_reader_finds_the_same(tmp_path: Path, maker: Maker) -> None:
    """The figures are no copy of what the program happens to do."""
    case = maker()
    report = naive.read(write(tmp_path / "projects", case.tree))
    figures = naive.totals(report.requests)
    searches = sum(one.web_searches for one in report.requests)
    incomplete = sum(one.incomplete for one in report.requests)
    assert Bill(**figures, web_searches=searches, incomplete=incomplete) == case.bill
    assert len(report.anomalies) == case.anomalies
    assert report.skipped_lines == case.faults
    if case.sessions:
        owned: Counter[str] = Counter()
        for one in report.requests:
            owned[one.session] += one.output
        assert +owned == Counter(case.sessions)


@pytest.mark.parametrize("maker", MAKERS, ids=name)
def test_sessions_add_up_to_the_whole(tmp_path: Path, maker: Maker) -> None:
    """Rule 4: and every row of usage belongs to a session that is there."""
    database = Database(tmp_path / "stemma.db", write(tmp_path / "projects", maker().tree))
    sums: Counter[str] = Counter()
    for figures in database.by("session").values():
        sums.update(figures)
    assert +sums == +Counter(database.totals())
    listed = {one["session_id"] for one in database.neutral()["sessions"]}
    assert {row.session for row in database.counted()} <= listed


@pytest.mark.parametrize("maker", MAKERS, ids=name)
def test_reading_a_case_again_changes_nothing(tmp_path: Path, maker: Maker) -> None:
    """B17: cold and warm are equal; no row is written."""
    root = write(tmp_path / "projects", maker().tree)
    cold = Database(tmp_path / "stemma.db", root)
    before = cold.dump()
    warm = Database(tmp_path / "stemma.db", root)
    assert warm.rows_written == 0
    assert warm.dump() == before


def output_by(database: Database, field: str) -> dict[str, int]:
    """Output tokens by owner or agent."""
    return {
        key[0]: figures["output"]
        for key, figures in database.by(field).items()
        if figures["output"]
    }
