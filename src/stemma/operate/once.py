"""One pass over several roots, and what it came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from msgspec import Struct

from stemma.model.source import SourceFile, TickOutcome
from stemma.operate.collector import Collector, PassReport
from stemma.pipeline import Progress
from stemma.store.answers.health import SkippedPath
from stemma.store.sqlite.read_health import faults, is_duplicate, skips
from stemma.store.sqlite.writer import Writer

FAILURES = frozenset(
    {TickOutcome.READ_ERROR, TickOutcome.CONTAINMENT_HALT, TickOutcome.NO_CORPUS_ROOT}
)
"""Outcomes that mean that something of a root was not read."""


class RootOutcome(Struct, kw_only=True):
    """What the pass over one root came to.

    Attributes:
        root: The folder; as it was named when there is none.
        outcome: One of the seven tick outcomes.
        detail: More about a failure.
        sources: Sources that the root holds.
        changed: Sources that had changed.
        read: Sources of which something was read.
        bytes: Bytes read.
        failed: Sources that could not be read.
        removed: Sources found gone.
        rewritten: Sources of which a new generation began.
        late: Sources that were gone when they were to be read.
        rows_written: Rows of evidence that changed.
    """

    root: str
    outcome: str
    detail: str | None = None
    sources: int = 0
    changed: int = 0
    read: int = 0
    bytes: int = 0
    failed: int = 0
    removed: int = 0
    rewritten: int = 0
    late: int = 0
    rows_written: int = 0


class IngestAnswer(Struct, kw_only=True):
    """What ``stemma ingest`` answers; counts are sums over the roots.

    Attributes:
        rows_written: Rows of evidence that changed; 0 when there was nothing new.
        bytes: Bytes read.
        sources: Sources that the roots hold.
        changed: Sources that had changed.
        read: Sources of which something was read.
        failed: Sources that could not be read.
        removed: Sources found gone; their record stays.
        rewritten: Sources of which a new generation began.
        late: Sources that were gone when they were to be read.
        skips: Paths of these roots that are not read, by reason.
        line_faults: Records and fields of these roots that could not be read, in the sources as they are now.
        roots: Each root.
        duplicate_sessions: Projects that claim a session of another one, whatever the pass was restricted to.
        session_id: The session that the pass was restricted to.
        session_sources: Sources of that session that were looked at.
    """

    rows_written: int
    bytes: int
    sources: int
    changed: int
    read: int
    failed: int
    removed: int
    rewritten: int
    late: int
    skips: dict[str, int]
    line_faults: int
    roots: list[RootOutcome]
    duplicate_sessions: list[SkippedPath]
    session_id: str | None = None
    session_sources: int | None = None

    @property
    def failures(self) -> list[RootOutcome]:
        """Roots of which something was not read."""
        return [root for root in self.roots if root.outcome in FAILURES]


class Session:
    """Restricts a pass to the sources of one session.

    An agent's transcript beside the sessions names no session in its path: only reading it tells, so it is let through.

    Attributes:
        session_id: Its id.
        seen: Paths that name the session.
    """

    def __init__(self, session_id: str) -> None:
        """Prepare to restrict.

        Args:
            session_id: Its id, in the case in which it is written.
        """
        self.session_id = session_id
        self.seen: set[tuple[str, str]] = set()

    def __call__(self, file: SourceFile) -> bool:
        """Whether a source is to be read."""
        if file.placement.session_hint == self.session_id:
            self.seen.add((file.root, file.relpath))
            return True
        return not file.placement.session_hint


def ingest(
    writer: Writer,
    collectors: Iterable[Collector],
    *,
    missing: Iterable[str] = (),
    only: Session | None = None,
    report: Callable[[str, Progress, int], None] | None = None,
) -> IngestAnswer:
    """Take in what is new under some roots.

    Args:
        writer: The single writer.
        collectors: One for each root.
        missing: Folders that were named and hold nothing of the kind.
        only: Restricts the pass to one session.
        report: Told the root, how far its pass is, and how many sources it has to look at.
    """
    outcomes, observed = [], set()
    for collector in collectors:
        path = collector.spec.path
        observed.add(path)
        told = (lambda so_far, total, root=path: report(root, so_far, total)) if report else None
        outcomes.append(_outcome(collector.tick(report=told, only=only)))
    outcomes += [
        RootOutcome(
            root=path,
            outcome=TickOutcome.NO_CORPUS_ROOT,
            detail="no transcripts are laid out there",
        )
        for path in missing
    ]
    skipped = [skip for skip in skips(writer.connection) if skip.root in observed]
    return IngestAnswer(
        **_summed(outcomes),
        skips=dict(sorted(Counter(skip.reason for skip in skipped).items())),
        line_faults=sum(fault.root in observed for fault in faults(writer.connection)),
        roots=outcomes,
        duplicate_sessions=[skip for skip in skipped if is_duplicate(skip)],
        session_id=only.session_id if only is not None else None,
        session_sources=len(only.seen) if only is not None else None,
    )


_ADDED = (
    "rows_written",
    "bytes",
    "sources",
    "changed",
    "read",
    "failed",
    "removed",
    "rewritten",
    "late",
)


def _summed(outcomes: list[RootOutcome]) -> dict[str, int]:
    return {name: sum(getattr(outcome, name) for outcome in outcomes) for name in _ADDED}


def _outcome(report: PassReport) -> RootOutcome:
    return RootOutcome(
        root=report.root,
        outcome=report.outcome,
        detail=report.detail or None,
        **{name: getattr(report, name) for name in _ADDED},
    )
