"""What a database holds after taking in some trees, as plain values."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from stemma.bootstrap import collect_once
from stemma.derive.usage import STATE_ANOMALY, STATE_INCOMPLETE, STATE_SYNTHETIC
from stemma.model.usage import BUCKETS
from stemma.store.sqlite.connection import connect
from stemma.store.sqlite.dump import dump
from stemma.store.sqlite.neutral import neutral

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import apsw


class Row(NamedTuple):
    """One counted request or billed part of one."""

    message: str
    request: int
    part: str
    session: str
    agent: str
    model: str
    state: int
    web_searches: int
    first_at: int
    input: int
    output: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int


class Fault(NamedTuple):
    """A stored line fault."""

    path: str
    offset: int
    length: int
    reason: str
    detail: str


_ROWS = (
    "SELECT u.message_id, u.request, u.part_kind, s.text, a.text, m.text, u.state, u.web_searches, u.first_at, u.input, "
    "u.output, u.cache_write_5m, u.cache_write_1h, u.cache_read FROM usage u JOIN names s ON s.id = u.session "
    "JOIN names a ON a.id = u.agent JOIN names m ON m.id = u.model ORDER BY u.message_id, u.request, u.part"
)
_FAULTS = (
    "SELECT s.path, f.offset, f.length, f.reason, f.detail FROM line_faults f JOIN sources s ON s.id = f.source "
    "ORDER BY s.path, f.offset, f.reason, f.detail"
)


class Database:
    """A database that took in some trees.

    Attributes:
        path: Its file.
        connection: A connection that only reads.
    """

    def __init__(self, path: Path, *roots: Path) -> None:
        self.path = path
        self.rows_written = collect_once(path, roots) if roots else 0
        self.connection: apsw.Connection = connect(path, writer=False)
        ours = [fault for fault in self.faults() if fault.reason == "adapter"]
        assert not ours, f"the adapter failed: {ours}"

    def rows(self) -> list[Row]:
        """Every row of usage, also what is in no total."""
        return [Row(*row) for row in self.connection.execute(_ROWS)]

    def counted(self) -> list[Row]:
        """Rows that totals are made of."""
        return [row for row in self.rows() if not row.state & (STATE_ANOMALY | STATE_SYNTHETIC)]

    def anomalies(self) -> list[Row]:
        """Rows that are listed and in no total."""
        return [row for row in self.rows() if row.state & STATE_ANOMALY]

    def faults(self) -> list[Fault]:
        """Every line fault."""
        return [Fault(*row) for row in self.connection.execute(_FAULTS)]

    def totals(self) -> dict[str, int]:
        """Sums over everything."""
        return totals(self.counted())

    def by(self, *fields: str) -> dict[tuple[str, ...], dict[str, int]]:
        """Sums for each combination of the given fields."""
        groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
        for row in self.counted():
            groups[tuple(getattr(row, name) for name in fields)].append(row)
        return {key: totals(group) for key, group in groups.items()}

    def neutral(self) -> dict[str, Any]:
        """The neutral shape, as ``stemma dump --json`` prints it."""
        return {"sessions": neutral(self.connection)}

    def dump(self) -> dict[str, list[dict[str, Any]]]:
        """The logical dump, by table."""
        tables: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for table, values in dump(self.connection):
            tables[table].append(values)
        return dict(tables)


def totals(rows: Iterable[Row]) -> dict[str, int]:
    """Buckets, responses, incomplete responses and web searches of some rows."""
    sums: Counter[str] = Counter(
        dict.fromkeys((*BUCKETS, "responses", "incomplete", "web_searches"), 0)
    )
    for row in rows:
        for bucket in BUCKETS:
            sums[bucket] += getattr(row, bucket)
        sums["responses"] += row.part == "message"
        sums["incomplete"] += bool(row.state & STATE_INCOMPLETE)
        sums["web_searches"] += row.web_searches
    return dict(sums)
