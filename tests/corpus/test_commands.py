"""The same totals from every command that shows tokens (ACCOUNTING, B07 and B17)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.builders.commands import Commands
from tests.builders.reading import Database
from tests.builders.records import write
from tests.builders.shared import each
from tests.corpus import cases_counters, cases_files, cases_identity
from tests.corpus.cases import Maker

from stemma.model.usage import BUCKETS

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

MAKERS = (*cases_identity.CASES, *cases_counters.CASES, *cases_files.CASES)
SLOW = pytest.mark.slow
FIGURES = (*BUCKETS, "responses", "incomplete", "web_searches")
GROUPINGS = ("day", "model", "project", "session", "agent", "branch")
Figures = dict[str, int]


def figures(found: Any) -> Figures:  # noqa: ANN401 - any JSON
    """The figures among the fields of something."""
    return {name: found[name] for name in FIGURES}


def summed(many: Iterable[Any]) -> Figures:
    """Figures added up."""
    sums: Counter[str] = Counter(dict.fromkeys(FIGURES, 0))
    for one in many:
        sums.update(figures(one))
    return dict(sums)


def check(folder: Path, root: Path) -> None:
    """Take a tree in by command; whatever shows tokens must add up to the same."""
    run = Commands(folder)
    ingested = run.json("ingest", root)
    usage = run.json("usage")
    totals = figures(usage["totals"])
    database = Database(run.database)
    assert totals == figures(database.totals())
    assert usage["totals"]["anomalies"] == len(usage["anomaly_list"]) == len(database.anomalies())
    assert usage["totals"]["skipped_lines"] == len({fault.offset for fault in database.faults()})
    assert ingested["line_faults"] == len(database.faults())
    for grouping in GROUPINGS:
        assert summed(run.json("usage", "--by", grouping)["groups"]) == totals, grouping
    sessions = run.json("sessions", "--limit", 1000)["sessions"]
    assert summed(one["tokens"] for one in sessions) == totals
    for one in sessions:
        assert tree_of(run.json("tree", one["session_id"])) == figures(one["tokens"])
    dumped = [bill for one in run.json("dump")["sessions"] for bill in one["usage"].values()]
    for name in (*BUCKETS, "responses"):
        assert sum(bill[name] for bill in dumped) == totals[name]
    assert run.json("ingest", root)["rows_written"] == 0
    assert run.json("usage") == usage


def tree_of(answer: Any) -> Figures:  # noqa: ANN401 - any JSON
    """Tokens of everything in a tree: each agent's are its own."""
    return summed(walked(answer))


def walked(value: Any) -> Iterable[Any]:  # noqa: ANN401 - any JSON
    """Figures of every agent of a tree's answer, wherever it stands."""
    if isinstance(value, dict):
        if "agent_id" in value and "tokens" in value:
            yield value["tokens"]
        for name, child in value.items():
            if name != "session":
                yield from walked(child)
    elif isinstance(value, list):
        for child in value:
            yield from walked(child)


def some(every: int) -> list[ParameterSet]:
    """All cases; those between every so many are slow together, and left to the slow run."""
    return [
        pytest.param(maker, marks=() if number % every == 0 else SLOW, id=maker.__name__)
        for number, maker in enumerate(MAKERS)
    ]


@pytest.mark.parametrize("maker", some(6))
def test_every_command_agrees_about_a_case(tmp_path: Path, maker: Maker) -> None:
    """Totals, groups, sessions, trees and dump, cold and warm."""
    check(tmp_path, write(tmp_path / "projects", maker().tree))


@SLOW
@pytest.mark.parametrize("case", each("cases/accounting/*"))
def test_every_command_agrees_about_a_shared_case(tmp_path: Path, case: Path) -> None:
    """The same for the shared cases, whose figures another test compares with what is expected."""
    check(tmp_path, case / "projects")


@pytest.mark.parametrize("projects", each("rig-data/2.1.332/*/projects"))
def test_every_command_agrees_about_a_real_run(tmp_path: Path, projects: Path) -> None:
    """With agents, workflows, forks and compactions."""
    check(tmp_path, projects)


@pytest.mark.parametrize("projects", each("corpus/claude/projects"))
def test_every_command_agrees_about_the_corpus(tmp_path: Path, projects: Path) -> None:
    """All real sessions at once."""
    check(tmp_path, projects)
