"""Against the independent reader: who used how many tokens is what the accounting rules say of the same files."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from bench.corpus import CorpusSummary, generate
from tests.builders.reading import Database
from tests.builders.shared import each, need
from tests.oracle import naive

from stemma.model.usage import BUCKETS

if TYPE_CHECKING:
    from pathlib import Path

FIELDS = (*BUCKETS, "responses", "incomplete", "web_searches")
Bill = dict[tuple[str, str, str], dict[str, int]]


def ours(database: Database) -> Bill:
    """Sums per session, agent and model; inline agents as the one sidechain that the naive reader sees."""
    sums: dict[tuple[str, str, str], Counter[str]] = {}
    for (session, agent, model), figures in database.by("session", "agent", "model").items():
        chain = "sidechain" if agent.startswith("inline-") else agent
        sums.setdefault((session, chain, model), Counter()).update(figures)
    return {key: {field: figures[field] for field in FIELDS} for key, figures in sums.items()}


def theirs(report: naive.Report) -> Bill:
    """The same sums of the independent reader."""
    sums: dict[tuple[str, str, str], Counter[str]] = {}
    for one in report.requests:
        figures = sums.setdefault((one.session, one.agent, one.model), Counter())
        figures.update({bucket: getattr(one, bucket) for bucket in BUCKETS})
        figures["responses"] += one.part == "message"
        figures["incomplete"] += one.incomplete
        figures["web_searches"] += one.web_searches
    return {key: {field: figures[field] for field in FIELDS} for key, figures in sums.items()}


def check(folder: Path, projects: Path) -> Database:
    """Read a tree with both readers; every sum, anomaly and fault must agree."""
    database = Database(folder / "stemma.db", projects)
    report = naive.read(projects)
    assert ours(database) == theirs(report)
    assert len(database.anomalies()) == len(report.anomalies)
    assert len(database.faults()) == report.skipped_lines
    return database


def test_every_transcript_of_the_corpus_counts_as_the_rules_say(tmp_path: Path) -> None:
    """The whole tree, per session, agent, model and bucket."""
    (projects,) = need("corpus/claude/projects")
    database = check(tmp_path, projects)
    assert database.totals()["responses"] > 0


@pytest.mark.parametrize("project", each("corpus/claude/projects/*"))
def test_a_project_alone_counts_as_the_rules_say(tmp_path: Path, project: Path) -> None:
    """Without the other projects, copies of whose messages it may hold."""
    alone = tmp_path / "copy"
    for file in project.rglob("*"):
        if file.is_file():
            target = alone / project.name / file.relative_to(project)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
    assert check(tmp_path, alone).rows()


@pytest.mark.parametrize("projects", each("rig-data/[0-9]*/*/projects"))
def test_a_real_client_s_run_counts_as_the_rules_say(tmp_path: Path, projects: Path) -> None:
    """Every scenario of every client version."""
    assert check(tmp_path, projects).rows()


@pytest.mark.parametrize("series", each("corpus/growth-series/*"))
def test_every_state_of_a_growing_session_counts_as_the_rules_say(
    tmp_path: Path, series: Path
) -> None:
    """Each snapshot as if it were all there is."""
    for number, snapshot in enumerate(sorted(series.glob("*.jsonl"))):
        folder = tmp_path / str(number)
        target = folder / "projects" / "p" / f"{series.name}.jsonl"
        target.parent.mkdir(parents=True)
        target.write_bytes(snapshot.read_bytes())
        assert check(folder, folder / "projects").rows()


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, CorpusSummary]:
    """A corpus of 20 MB with the totals that its generator put in."""
    out = tmp_path_factory.mktemp("generated")
    return out, generate(out, megabytes=20, seed=7)


def test_a_generated_corpus_has_the_totals_that_were_put_in(
    tmp_path: Path, generated: tuple[Path, CorpusSummary]
) -> None:
    """By the generator's own account, by the rules, and by ours."""
    out, summary = generated
    figures = check(tmp_path, out / "projects").totals()
    assert figures["responses"] == summary.messages
    assert {bucket: figures[bucket] for bucket in BUCKETS} == {
        bucket: getattr(summary, bucket) for bucket in BUCKETS
    }
