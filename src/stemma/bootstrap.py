"""The only module that knows concrete parts; builds what the commands use."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from stemma.collect.roots import resolve_roots
from stemma.model.source import RootSpec
from stemma.normalize.claude_code.adapter import ClaudeCode
from stemma.normalize.claude_code.locate import config_roots, place
from stemma.normalize.port import AgentAdapter
from stemma.operate.collector import Collector
from stemma.store.sqlite import lock
from stemma.store.sqlite.trouble import plainly
from stemma.store.sqlite.writer import Writer


class SystemClock:
    """The machine's own time."""

    def now(self) -> int:
        """See ``Clock.now``."""
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        """See ``Clock.monotonic``."""
        return time.monotonic()


class Found(NamedTuple):
    """Roots to observe.

    Attributes:
        specs: What there is.
        missing: Folders that were named and hold nothing of the kind.
        looked: Folders that were looked at, named or not.
    """

    specs: tuple[RootSpec, ...]
    missing: tuple[str, ...]
    looked: tuple[str, ...]


def find_roots(named: Iterable[Path | str], environment: Mapping[str, str], home: str) -> Found:
    """The roots that were named, or the agent's own default places.

    Args:
        named: Folders that a person named; empty for the defaults.
        environment: The environment.
        home: The user's home folder.
    """
    asked = [str(path) for path in named]
    looked = asked or config_roots(environment, home)
    found = resolve_roots(looked)
    is_named = asked or environment.get("CLAUDE_CONFIG_DIR", "").strip(" ,")
    return Found(found.specs, found.missing if is_named else (), tuple(looked))


def open_writer(database: Path) -> Writer:
    """Open the database for writing without keeping others out: for benchmarks, which are alone. See ``writing``."""
    return Writer(database)


def adapters() -> tuple[AgentAdapter, ...]:
    """All adapters."""
    return (ClaudeCode(),)


@contextmanager
def writing(database: Path) -> Iterator[Writer]:
    """The single writer, the database created and migrated as needed.

    Raises:
        StoreBusy: Another process is writing still.
        StoreError: The database cannot be written.
    """
    with lock.writing(database), plainly(database):
        writer = Writer(database)
        try:
            yield writer
        finally:
            writer.close()


def collector(writer: Writer, spec: RootSpec, *, host: str) -> Collector:
    """A collector of one root."""
    return Collector(writer, ClaudeCode(), place, spec, host=host, clock=SystemClock())


def collect_once(database: Path, roots: Iterable[Path], *, host: str = "localhost") -> int:
    """Take in everything under some roots; the number of evidence rows written. For tests and scripts."""
    with writing(database) as writer:
        for spec in find_roots(roots, os.environ, str(Path.home())).specs:
            collector(writer, spec, host=host).tick()
        return writer.rows_written
