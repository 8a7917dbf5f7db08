"""An observer for the laws: one collector that looks again and again, and everything that can happen to it."""

from __future__ import annotations

import functools
import os
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.laws.trees import Tree, content, tick

from stemma.bootstrap import find_roots
from stemma.collect.tail import read_blocks
from stemma.model.source import RootSpec, SourceFile, TickOutcome
from stemma.normalize.claude_code.adapter import ClaudeCode
from stemma.normalize.claude_code.locate import place
from stemma.normalize.port import AgentAdapter
from stemma.operate.collector import Collector
from stemma.pipeline import Ingest, Progress
from stemma.store.sqlite.writer import Writer

IN_CI = os.environ.get("CI", "").lower() == "true"
TIMES = int(os.environ.get("STEMMA_LAWS", "1"))
"""How many times as many examples to look at: for a long search by hand."""
SEGMENT = 700
"""Source bytes of one event segment while laws are tested, so that small files have several."""


def examples(number: int) -> settings:
    """Settings of a law: so many examples, the same ones each time in CI."""
    return settings(
        max_examples=number * TIMES,
        deadline=None,
        derandomize=IN_CI,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


class Crash(BaseException):
    """Not an ``Exception``: nothing may take it for bad input."""


class SteppingClock:
    """Time that goes on by some seconds whenever it is asked, so that nothing waits for its turn for long."""

    def __init__(self) -> None:
        self.seconds = 1_800_000_000.0

    def now(self) -> int:
        """See ``Clock.now``."""
        return int(self.monotonic() * 1_000_000)

    def monotonic(self) -> float:
        """See ``Clock.monotonic``."""
        self.seconds += 4
        return self.seconds


class Observer:
    """A writer with a collector for each root, which live until they are reopened.

    Attributes:
        database: The database's file.
        writer: The writer.
    """

    def __init__(self, database: Path, *roots: Path, adapter: AgentAdapter | None = None) -> None:
        self.database = database
        self._roots = roots
        self._adapter = adapter or ClaudeCode()
        self._clock = SteppingClock()
        self.open()

    def open(self) -> None:
        """Begin anew, as after a restart."""
        self.writer = Writer(self.database)
        specs: tuple[RootSpec, ...] = find_roots(self._roots, {}, "/").specs
        self._collectors = [
            Collector(self.writer, self._adapter, place, spec, host="host", clock=self._clock)
            for spec in specs
        ]

    def close(self) -> None:
        """Stop."""
        self.writer.close()

    def reopen(self) -> None:
        """Stop and begin anew."""
        self.close()
        self.open()

    def tick(self) -> int:
        """One pass over every root; the evidence rows that it wrote."""
        before = self.writer.rows_written
        for one in self._collectors:
            outcome = one.tick().outcome
            assert outcome in (TickOutcome.INGESTED, TickOutcome.UNCHANGED), outcome
        return self.writer.rows_written - before

    def forget(self) -> None:
        """Lose every checkpoint, so that all sources are read again."""
        with self.writer.batch():
            self.writer.connection.execute("DELETE FROM checkpoints")

    def crash(self, after: int) -> None:
        """A pass that dies at a write, if it writes so often."""
        left = after
        put = self.writer.put

        def failing(table: str, rows: list[tuple[object, ...]]) -> None:
            nonlocal left
            left -= 1
            if left <= 0:
                raise Crash
            put(table, rows)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(self.writer, "put", failing)
            try:
                self.tick()
            except Crash:
                return

    def settled(self) -> list[str]:
        """The logical dump after everything was read, and read again in vain."""
        for _ in range(3):
            self.tick()
        assert self.tick() == 0
        self.reopen()
        assert self.tick() == 0
        self.close()
        return content(self.database)


@contextmanager
def cut_small(rng: random.Random) -> Iterator[None]:
    """Read files in any order and in small blocks, commit in small batches, keep events in small segments."""
    run = Ingest.run

    def shuffled(
        self: Ingest,
        files: list[SourceFile],
        now: Callable[[], int],
        report: Callable[[Progress], None],
    ) -> None:
        run(self, rng.sample(files, len(files)), now, report)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ingest, "run", shuffled)
        blocks = functools.partial(read_blocks, block_bytes=rng.choice((64, 500, 1 << 20)))
        patch.setattr("stemma.pipeline.read_blocks", blocks)
        patch.setattr("stemma.pipeline.BATCH_STEPS", rng.choice((1, 2, 400)))
        patch.setattr("stemma.store.sqlite.writer.SEGMENT_BYTES", SEGMENT)
        yield


def once(folder: Path, database: Path) -> list[str]:
    """The logical dump after one pass over a finished tree."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stemma.store.sqlite.writer.SEGMENT_BYTES", SEGMENT)
        writer = Writer(database)
        tick(writer, folder)
        writer.close()
    return content(database)


def anything(observer: Observer, rng: random.Random) -> None:
    """What may happen between two appends."""
    chance = rng.random()
    if chance < 0.35:
        return
    if chance < 0.45:
        observer.reopen()
    elif chance < 0.5:
        observer.forget()
        observer.reopen()
    elif chance < 0.65:
        observer.crash(rng.randint(1, 40))
        if rng.random() < 0.5:
            observer.reopen()
    observer.tick()


_SEAM = re.compile(rb"\}|\n|\r")


def append(path: Path, data: bytes, rng: random.Random) -> bytes:
    """Append a beginning of some bytes to a file, cut at a seam as often as inside a line; what is left."""
    seams = [found.end() for found in _SEAM.finditer(data)]
    end = rng.choice(seams) if seams and rng.random() < 0.7 else rng.randint(1, len(data))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(data[:end])
    return data[end:]


def grow_anyhow(folder: Path, tree: Tree, rng: random.Random, moment: Callable[[], None]) -> None:
    """Append the files of a tree below ``folder`` in a random interleaving, with ``moment`` called in between."""
    left = {path: data for path, data in tree.items() if data}
    folder.mkdir(parents=True, exist_ok=True)
    while left:
        path = rng.choice(sorted(left))
        left[path] = append(folder / path, left[path], rng)
        if not left[path]:
            del left[path]
        moment()
