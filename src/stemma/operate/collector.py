"""One pass over one root: what changed is read, what went is marked, and the pass itself is recorded."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from stemma.collect.contain import Root
from stemma.collect.listing import Place
from stemma.collect.poll import Changes, Poller
from stemma.errors import CollectError, ContainmentError, SourceVanished
from stemma.model.source import RootSpec, SkipReason, SourceFile, TickOutcome, escape_path
from stemma.normalize.port import AgentAdapter
from stemma.pipeline import Ingest, Progress
from stemma.store.sqlite.control import Control, Epoch
from stemma.store.sqlite.writer import Writer


class Clock(Protocol):
    """Time, injected."""

    def now(self) -> int:
        """Wall-clock time in microseconds since 1970, UTC."""
        ...

    def monotonic(self) -> float:
        """Monotonic seconds."""
        ...


class PassReport(Struct, frozen=True):
    """What one pass over one root came to.

    Attributes:
        root: The root.
        outcome: One of the seven tick outcomes.
        detail: More about an outcome that is a failure, without paths.
        sources: Sources that the root holds.
        changed: Sources that had changed.
        removed: Sources that are gone since the last pass.
        read: Sources of which something was read.
        bytes: Bytes read.
        failed: Sources that could not be read.
        late: Sources that were gone when they were to be read.
        rewritten: Sources of which a new generation began.
        rows_written: Rows of evidence tables that changed.
    """

    root: str
    outcome: TickOutcome
    detail: str
    sources: int
    changed: int
    removed: int
    read: int
    bytes: int
    failed: int
    late: int
    rewritten: int
    rows_written: int


_HIDING = (SkipReason.UNREADABLE, SkipReason.SYMLINK, SkipReason.TOO_DEEP)


class Collector:
    """Looks at one root again and again, and takes in what is new."""

    def __init__(  # noqa: PLR0913 - the parts that bootstrap wires
        self,
        writer: Writer,
        adapter: AgentAdapter,
        place: Place,
        spec: RootSpec,
        *,
        host: str,
        clock: Clock,
    ) -> None:
        """Prepare to collect.

        Args:
            writer: The single writer.
            adapter: Reads the agent's records.
            place: Reads paths.
            spec: The root.
            host: Name of this machine in every row that may travel.
            clock: Time.
        """
        self.spec = spec
        self._writer, self._adapter, self._host, self._clock = writer, adapter, host, clock
        self._poller = Poller(spec, place, clock.monotonic)
        self._control = Control(writer)
        self._marks: dict[str, int] = {}
        self._marked = 0
        self._first = True

    def tick(
        self,
        report: Callable[[Progress, int], None] | None = None,
        only: Callable[[SourceFile], bool] | None = None,
    ) -> PassReport:
        """Take in what changed since the last tick; the first tick looks at everything.

        Args:
            report: Told after each batch how far the pass is, and how many sources it has to look at.
            only: Restricts the pass to some sources; others are left for a later one.
        """
        changes = self._poller.poll()
        self._mark(changes)
        if changes.outcome not in (TickOutcome.INGESTED, TickOutcome.UNCHANGED):
            return self._refused(changes)
        told = changes.changed or changes.removed or changes.skips or changes.lifted
        rewritten = (
            changes.verify if changes.verify and not self._is_sound(changes.verify) else None
        )
        if not told and rewritten is None and not self._first:
            return self._report(changes, TickOutcome.UNCHANGED)
        return self._take_in(changes, rewritten, report, only)

    def _take_in(
        self,
        changes: Changes,
        rewritten: SourceFile | None,
        report: Callable[[Progress, int], None] | None,
        only: Callable[[SourceFile], bool] | None,
    ) -> PassReport:
        files = [file for file in changes.changed if only is None or only(file)]
        if rewritten is not None and rewritten not in files:
            files.append(rewritten)
        before = self._writer.rows_written
        started = self._clock.now()
        with self._writer.batch():
            instance = self._writer.instance(self._host, self._adapter.agent, self.spec.path)
            epoch = self._control.begin_epoch(self._adapter.agent, self._adapter.revision, started)
            self._control.note_skips(instance, changes.skips, changes.lifted, started)
            removed = self._control.mark_removed(instance, self._gone(instance, changes), started)
        unread = {file.relpath for file in changes.changed}
        try:
            progress, outcome, detail = self._ingest(files, rewritten, instance, report)
            if outcome is TickOutcome.INGESTED and not progress.late:
                unread -= {file.relpath for file in files}
        finally:
            for relpath in unread:  # whatever a pass did not come to is offered again
                self._poller.again(relpath)
        with self._writer.batch():
            if outcome is TickOutcome.INGESTED and not progress.read and not removed:
                outcome = TickOutcome.UNCHANGED
            self._control.end_epoch(
                epoch,
                Epoch(
                    ended_at=self._clock.now(),
                    state="failed" if outcome is TickOutcome.CONTAINMENT_HALT else "completed",
                    outcome=outcome,
                    sources=len(self._marks),
                    changed=len(files),
                    removed=removed,
                    processed=progress.read,
                    failed=progress.failed,
                    late=progress.late,
                    watermark=f"{self._marked:032x}",
                    detail=detail,
                ),
            )
        return self._report(
            changes,
            outcome,
            detail,
            progress=progress,
            removed=removed,
            rows=self._writer.rows_written - before,
        )

    def _gone(self, instance: int, changes: Changes) -> list[str]:
        """Printable paths of sources whose files are gone: the first time by comparison, then as the poller tells."""
        if not self._first:
            return [escape_path(relpath) for relpath in changes.removed]
        self._first = False
        hidden = [skip.relpath for skip in self._poller.skips() if skip.reason in _HIDING]
        return self._control.absent(instance, self._poller.present(), hidden, self.spec.only_slug)

    def _is_sound(self, file: SourceFile) -> bool:
        """Compare what was consumed of a quiet source in full; what cannot be opened is left for its own turn."""
        try:
            with self._writer.batch(), Root(self.spec.path) as root:
                instance = self._writer.instance(self._host, self._adapter.agent, self.spec.path)
                return Ingest(self._writer, self._adapter, root, instance).is_sound(file)
        except CollectError:
            return True

    def _ingest(
        self,
        files: list[SourceFile],
        rewritten: SourceFile | None,
        instance: int,
        report: Callable[[Progress, int], None] | None,
    ) -> tuple[Progress, TickOutcome, str]:
        progress = Progress()
        try:
            with Root(self.spec.path) as root:
                again = frozenset({rewritten.relpath} if rewritten is not None else ())
                ingest = Ingest(self._writer, self._adapter, root, instance, again)
                progress = ingest.progress
                told = report if report is not None else lambda _progress, _total: None
                ingest.run(files, self._clock.now, lambda so_far: told(so_far, len(files)))
        except SourceVanished as error:
            return progress, TickOutcome.NO_CORPUS_ROOT, str(error)
        except ContainmentError as error:
            return progress, TickOutcome.CONTAINMENT_HALT, str(error)
        except (CollectError, OSError) as error:
            return progress, TickOutcome.READ_ERROR, str(error)
        return progress, TickOutcome.READ_ERROR if progress.failed else TickOutcome.INGESTED, ""

    def _refused(self, changes: Changes) -> PassReport:
        """A root that could not be listed: recorded, so that it is not only logged."""
        now = self._clock.now()
        with self._writer.batch():
            epoch = self._control.begin_epoch(self._adapter.agent, self._adapter.revision, now)
            self._control.end_epoch(
                epoch,
                Epoch(ended_at=now, state="failed", outcome=changes.outcome, detail=changes.detail),
            )
        return self._report(changes, changes.outcome, changes.detail)

    def _report(  # noqa: PLR0913 - the parts of a report
        self,
        changes: Changes,
        outcome: TickOutcome,
        detail: str = "",
        *,
        progress: Progress | None = None,
        removed: int = 0,
        rows: int = 0,
    ) -> PassReport:
        far = progress or Progress()
        return PassReport(
            self.spec.path, outcome, detail, len(self._marks), len(changes.changed), removed, far.read, far.bytes,
            far.failed, far.late, far.rewritten, rows,
        )  # fmt: skip

    def _mark(self, changes: Changes) -> None:
        """Keep the keyed digest of how far each source goes; costs what changed, not what is there."""
        for relpath in changes.removed:
            self._marked -= self._marks.pop(relpath, 0)
        for file in changes.changed:
            text = f"{file.placement.relpath_key}\x00{file.fingerprint.size}"
            keyed = hmac.digest(
                self._host.encode(), text.encode("utf-8", "backslashreplace"), "sha256"
            )
            mark = int.from_bytes(keyed[:16])
            self._marked += mark - self._marks.get(file.relpath, 0)
            self._marks[file.relpath] = mark
        self._marked %= 1 << 128
