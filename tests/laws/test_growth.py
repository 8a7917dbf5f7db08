"""Same evidence, same database: whatever the order and moments of reading, and wherever a crash fell."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from bench.corpus import generate
from tests.laws.trees import (
    SAMPLE,
    Tree,
    at_once,
    content,
    difference,
    grow,
    shared_folder,
    tick,
    tree_of,
    unruly,
    workplace,
    write,
)

from stemma.bootstrap import writing
from stemma.normalize.claude_code.adapter import ClaudeCode
from stemma.store.sqlite.writer import Writer

SCENARIOS = (
    "1.0.128/resume", "1.0.128/parallel", "2.0.60/background", "2.0.60/resume", "2.1.20/resume", "2.1.112/interrupt",
    "2.1.332/agentresume", "2.1.332/interrupt", "2.1.332/resume", "2.1.332/subagent", "2.1.332/tui", "2.1.332/workflow",
)  # fmt: skip


@pytest.fixture
def place() -> Iterator[Path]:
    """A private folder."""
    with workplace() as folder:
        yield folder


@pytest.fixture(scope="session")
def generated() -> Tree:
    """A small generated corpus with forks, resumes, agents and compactions of several clients."""
    with workplace() as folder:
        generate(folder, megabytes=1.5, seed=7)
        return tree_of(folder / "projects")


def holds(place: Path, tree: Tree, seed: int) -> None:
    """Grow a tree with random ticks, reopened databases and replays; compare with one pass, and replay that."""
    rng = random.Random(seed)
    database = place / "grown.db"
    writers = [Writer(database)]

    def moment() -> None:
        if rng.random() < 0.4:
            return
        if rng.random() < 0.3:
            writers[0].close()
            writers[0] = Writer(database)
        if rng.random() < 0.1:
            forget(writers[0])
        tick(writers[0], place)

    grow(place, tree, rng, moment)
    tick(writers[0], place)
    assert tick(writers[0], place) == 0
    writers[0].close()
    expected = at_once(place, place / "once.db")
    assert expected or not tree
    assert difference(content(database), expected) == []


def forget(writer: Writer) -> None:
    """Lose every checkpoint, so that all sources are read again."""
    with writer.batch():
        writer.connection.execute("DELETE FROM checkpoints")


@pytest.mark.parametrize("seed", range(4))
def test_a_grown_sample_equals_one_read_at_once(place: Path, seed: int) -> None:
    """Interleaved appends, ticks at random moments and replays leave no trace in the evidence."""
    holds(place, tree_of(SAMPLE), seed)


@pytest.mark.parametrize("seed", range(12))
def test_a_grown_unruly_sample_equals_one_read_at_once(place: Path, seed: int) -> None:
    """Also when lines are lost, repeated, swapped, glued, torn, undated or stripped of ids."""
    holds(place, unruly(tree_of(SAMPLE), random.Random(seed)), seed)


@pytest.mark.parametrize("seed", range(3))
def test_a_grown_corpus_equals_one_read_at_once(place: Path, generated: Tree, seed: int) -> None:
    """Also for many sessions of several client versions that copy each other's history."""
    holds(place, unruly(generated, random.Random(seed), 0.03), seed)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_grown_client_runs_equal_ones_read_at_once(place: Path, scenario: str) -> None:
    """Also for what real clients wrote."""
    tree = tree_of(shared_folder() / "rig-data" / scenario / "projects")
    assert tree
    holds(place, tree, len(scenario))


def test_runs_of_one_version_grown_together_equal_ones_read_at_once(place: Path) -> None:
    """Also when all sessions of a client share a project and grow at the same time."""
    tree: Tree = {}
    for folder in sorted((shared_folder() / "rig-data" / "2.0.60").glob("*/projects")):
        tree |= tree_of(folder)
    assert len(tree) > 20
    holds(place, unruly(tree, random.Random(1), 0.05), 5)


@pytest.mark.parametrize("seed", range(2))
def test_grown_real_sessions_equal_ones_read_at_once(place: Path, seed: int) -> None:
    """Also for a sample of real sessions, with all files of their projects, that grow at the same time."""
    corpus = tree_of(shared_folder() / "corpus" / "claude" / "projects")
    rng = random.Random(seed)
    projects = sorted({path.partition("/")[0] for path in corpus})
    chosen = rng.sample(projects, min(3, len(projects)))
    tree = {
        path: data
        for path, data in corpus.items()
        if path.partition("/")[0] in chosen and len(data) < 500_000
    }
    assert len(tree) > 2
    holds(place, tree, seed)


@pytest.mark.parametrize(
    "series", ["768de5d6-9fad-475b-8a4f-dfa7ddc01bb0", "cc432c40-914a-4c1a-a972-0103199a736a"]
)
def test_successive_states_of_a_real_transcript(place: Path, series: str) -> None:
    """A real session read at each of its recorded states equals its last state, as far as states extend each other."""
    states = [
        path.read_bytes()
        for path in sorted((shared_folder() / "corpus" / "growth-series" / series).iterdir())
    ]
    assert len(states) > 2
    extended = all(later.startswith(earlier) for earlier, later in pairwise(states))
    with writing(place / "grown.db") as writer:
        for state in states:
            write(place, {f"p/{series}.jsonl": state})
            tick(writer, place)
            assert tick(writer, place) == 0
    if extended:
        assert difference(content(place / "grown.db"), at_once(place, place / "once.db")) == []
    else:  # a rewritten state begins a generation: the same generations, each read in two steps
        with writing(place / "again.db") as writer:
            for before, state in pairwise([b"", *states]):
                if state.startswith(before):
                    write(place, {f"p/{series}.jsonl": state[: (len(before) + len(state)) // 2]})
                    tick(writer, place)
                write(place, {f"p/{series}.jsonl": state})
                tick(writer, place)
        assert difference(content(place / "grown.db"), content(place / "again.db")) == []


class Crash(BaseException):
    """Not an ``Exception``: nothing may take it for bad input."""


@pytest.mark.parametrize("seed", range(8))
def test_a_crash_anywhere_in_a_pass_leaves_no_trace(
    place: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pass that dies at a random write, again and again, and then runs through, equals one that never died."""
    rng = random.Random(seed)
    write(place, unruly(tree_of(SAMPLE), rng))
    database = place / "crashed.db"
    original = Writer.put
    crashes = 0
    for _ in range(6):
        left = rng.randint(1, 120)

        def put(self: Writer, table: str, rows: list[tuple[object, ...]]) -> None:
            nonlocal left
            left -= 1
            if left <= 0:
                raise Crash
            original(self, table, rows)

        monkeypatch.setattr(Writer, "put", put)
        monkeypatch.setattr("stemma.pipeline.BATCH_STEPS", rng.randint(1, 5))
        try:
            with writing(database) as writer:
                tick(writer, place)
        except Crash:
            crashes += 1
        monkeypatch.undo()
    assert crashes
    with writing(database) as writer:
        tick(writer, place)
    assert difference(content(database), at_once(place, place / "once.db")) == []


COLLECT = """
import sys
from pathlib import Path
from stemma.bootstrap import collect_once
collect_once(Path(sys.argv[1]), [Path(sys.argv[2])], host="host")
"""


@pytest.mark.slow
def test_a_killed_process_leaves_no_trace(place: Path) -> None:
    """Killed with SIGKILL at random moments of a cold pass, and then run through, it equals one that never died."""
    generate(place, megabytes=40, seed=3)
    database = place / "killed.db"
    command = [sys.executable, "-c", COLLECT, str(database), str(place / "projects")]
    rng = random.Random(11)
    killed = 0
    for _ in range(10):
        process = subprocess.Popen(
            command, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        )
        while process.poll() is None and not database.exists():
            time.sleep(0.005)
        time.sleep(rng.random() * 0.2)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
    assert killed
    with writing(database) as writer:
        tick(writer, place)
        assert writer.connection.pragma("integrity_check") == "ok"
    assert difference(content(database), at_once(place, place / "once.db")) == []


def test_the_order_of_directories_does_not_matter(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sources offered in any order, in batches of any size, come to the same."""
    write(place, tree_of(SAMPLE))
    expected = at_once(place, place / "once.db")
    from stemma.pipeline import Ingest  # noqa: PLC0415 - patched below

    original = Ingest.run
    for seed in range(6):
        rng = random.Random(seed)

        def run(
            self: Ingest, files: list[object], now: object, report: object, rng: random.Random = rng
        ) -> None:
            rng.shuffle(files)
            original(self, files, now, report)  # type: ignore[arg-type]  # passed through as given

        monkeypatch.setattr(Ingest, "run", run)
        monkeypatch.setattr("stemma.pipeline.BATCH_STEPS", rng.randint(1, 9))
        with writing(place / f"{seed}.db") as writer:
            tick(writer, place)
        assert difference(content(place / f"{seed}.db"), expected) == []


def test_reading_everything_again_changes_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lost checkpoints and a raised adapter revision cost a re-read and change no evidence but the revision itself."""
    write(place, unruly(tree_of(SAMPLE), random.Random(4)))
    expected = at_once(place, place / "once.db")
    with writing(place / "again.db") as writer:
        assert tick(writer, place) > 0
        assert tick(writer, place) == 0
        forget(writer)
        tick(writer, place)
    assert difference(content(place / "again.db"), expected) == []
    monkeypatch.setattr(ClaudeCode, "revision", ClaudeCode.revision + 1)
    with writing(place / "again.db") as writer:
        assert tick(writer, place) > 0
        assert tick(writer, place) == 0
    changed = difference(content(place / "again.db"), expected)
    assert changed
    assert all(line[2:].startswith("generations ") for line in changed)
