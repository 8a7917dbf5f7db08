"""Control data: this collector's own history, outside the law that evidence obeys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from stemma.model.source import Skip, TickOutcome, escape_path
from stemma.store.sqlite.writer import Writer


class Epoch(Struct, frozen=True, kw_only=True):
    """The end of one collection pass.

    Attributes:
        ended_at: Time, microseconds.
        state: ``completed`` or ``failed``.
        outcome: Tick outcome.
        sources: Sources that the root holds.
        changed: Sources that had changed.
        removed: Sources that are gone.
        processed: Sources of which something was read.
        failed: Sources that could not be read.
        late: Sources that were gone when they were to be read.
        watermark: Keyed digest of how far the sources go.
        detail: Why it failed, without paths.
    """

    ended_at: int
    state: str
    outcome: TickOutcome
    sources: int = 0
    changed: int = 0
    removed: int = 0
    processed: int = 0
    failed: int = 0
    late: int = 0
    watermark: str = ""
    detail: str = ""


class Control:
    """Writes control tables; every method inside a batch of the writer."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def begin_epoch(self, adapter: str, revision: int, now: int) -> int:
        """Record that a pass begins; the number of its epoch. A pass that never ended has failed."""
        connection = self._writer.connection
        connection.execute(
            "UPDATE epochs SET state = 'failed', outcome = 'stopped', ended_at = ? WHERE state = 'running'",
            (now,),
        )
        number = connection.execute(
            "INSERT INTO epochs (adapter, revision, started_at, ended_at, state, outcome, sources, changed, removed, "
            "processed, failed, late, watermark, first_change, last_change, detail) "
            "VALUES (?, ?, ?, 0, 'running', '', 0, 0, 0, 0, 0, 0, '', (SELECT coalesce(max(sequence), 0) FROM changes), "
            "0, '') RETURNING id",
            (adapter, revision, now),
        ).get
        return int(number)

    def end_epoch(self, number: int, end: Epoch) -> None:
        """Record how a pass ended."""
        self._writer.connection.execute(
            "UPDATE epochs SET ended_at = ?, state = ?, outcome = ?, sources = ?, changed = ?, removed = ?, "
            "processed = ?, failed = ?, late = ?, watermark = ?, detail = ?, "
            "last_change = (SELECT coalesce(max(sequence), 0) FROM changes) WHERE id = ?",
            (end.ended_at, end.state, end.outcome, end.sources, end.changed, end.removed, end.processed, end.failed,
             end.late, end.watermark, end.detail, number),
        )  # fmt: skip

    def note_skips(
        self, instance: int, skips: Iterable[Skip], lifted: Iterable[Skip], now: int
    ) -> None:
        """Record skips with the first and last time seen, and remove those that no longer hold."""
        connection = self._writer.connection
        connection.executemany(
            "INSERT INTO skips VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET detail = excluded.detail, "
            "last_seen = excluded.last_seen",
            [(instance, escape_path(s.relpath), s.reason, s.detail, now, now) for s in skips],
        )
        connection.executemany(
            "DELETE FROM skips WHERE instance = ? AND path = ? AND reason = ?",
            [(instance, escape_path(s.relpath), s.reason) for s in lifted],
        )

    def absent(
        self, instance: int, present: frozenset[str], hidden: Sequence[str], only_slug: str | None
    ) -> list[str]:
        """Paths of sources that were read once and whose files are not there any more, in their printable form.

        Args:
            instance: Number of the installation.
            present: Paths of all files that are there.
            hidden: Paths that could not be looked into: what lies below them may still be there.
            only_slug: The one project that was looked at, or nothing for all.
        """
        there = {escape_path(path) for path in present}
        closed = tuple(f"{escape_path(path)}/" for path in hidden)
        return [
            path
            for path, project in self._writer.connection.execute(
                "SELECT s.path, s.project FROM sources s JOIN checkpoints c ON c.source = s.id "
                "WHERE s.instance = ? AND c.removed_at = 0",
                (instance,),
            )
            if path not in there
            and not f"{path}/".startswith(closed)
            and (only_slug is None or project == only_slug)
        ]

    def mark_removed(self, instance: int, paths: Iterable[str], now: int) -> int:
        """Mark sources whose files are gone; their record stays. How many are newly gone."""
        before = self._writer.connection.total_changes()
        self._writer.connection.executemany(
            "UPDATE checkpoints SET removed_at = ? WHERE removed_at = 0 AND source = "
            "(SELECT id FROM sources WHERE instance = ? AND path = ?)",
            [(now, instance, path) for path in paths],
        )
        return self._writer.connection.total_changes() - before
