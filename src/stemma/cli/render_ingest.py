"""What ``stemma ingest`` shows while it reads, and when it is done."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from stemma.cli.render import counted, path, size
from stemma.operate.once import IngestAnswer
from stemma.pipeline import Progress as SoFar


class Bar:
    """A bar for each root, on standard error."""

    def __init__(self) -> None:
        self._tasks: dict[str, TaskID] = {}
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("sources, {task.fields[read]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True, markup=False, emoji=False),
            transient=True,
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def report(self, root: str, so_far: SoFar, total: int) -> None:
        """Move on."""
        task = self._tasks.get(root)
        if task is None:
            task = self._progress.add_task("reading", total=total, read="")
            self._tasks[root] = task
        self._progress.update(task, completed=so_far.sources, total=total, read=size(so_far.bytes))


def summary(answer: IngestAnswer, elapsed: float) -> Iterator[str]:
    """Lines for people.

    Args:
        answer: What the pass came to.
        elapsed: Seconds that it took.
    """
    for root in answer.roots:
        if root.outcome in ("ingested", "unchanged"):
            yield f"{path(root.root)}: {_root(root.read, root.bytes, root.sources)}"
    if not answer.roots:
        return
    yield f"{counted(answer.rows_written, 'row')} written in {elapsed:.1f} s"
    changes = [
        (
            answer.removed,
            "source is gone, its record stays",
            "sources are gone, their record stays",
        ),
        (answer.rewritten, "source was rewritten", "sources were rewritten"),
        (
            answer.late,
            "source went while it was being read",
            "sources went while they were being read",
        ),
        (answer.failed, "source could not be read", "sources could not be read"),
    ]
    for count, one, many in changes:
        if count:
            yield counted(count, one, many)
    if answer.skips:
        yield "skipped: " + ", ".join(
            f"{count:,} {reason}" for reason, count in answer.skips.items()
        )
    if answer.line_faults:
        yield counted(answer.line_faults, "line or field", "lines or fields") + " could not be read"
    for skip in answer.duplicate_sessions:
        yield f"two projects claim one session: {path(skip.path)}: {skip.detail}"
    if answer.failed or answer.line_faults or answer.skips:
        yield "`stemma doctor` says more"


def _root(read: int, taken: int, sources: int) -> str:
    if not read:
        return f"nothing new in {counted(sources, 'source')}"
    return f"read {size(taken)} from {read:,} of {counted(sources, 'source')}"
