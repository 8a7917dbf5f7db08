"""The record's own state, section by section."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from datetime import tzinfo

from rich.console import Console
from rich.text import Text

from stemma.cli.render import (
    GAP,
    Cell,
    Column,
    clean,
    console,
    joined,
    moment,
    number,
    path,
    size,
    table,
)
from stemma.store.answers.health import Health

_EXAMPLES = 3
_PASSES = 3


class _Report:
    """Prints sections, and of long lists only the start unless everything was asked for."""

    def __init__(self, out: Console, zone: tzinfo | None, *, verbose: bool) -> None:
        self.out, self.zone, self.verbose = out, zone, verbose

    def head(self, title: str) -> None:
        self.out.print()
        self.out.print(Text(title, style="bold"))

    def rows(
        self, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], most: int | None = None
    ) -> None:
        """A table of at most so many rows, indented."""
        listed = rows if self.verbose or most is None else rows[:most]
        if listed:
            for line in table(columns, listed, self.out.width - 2):
                self.out.print(Text("  ").append_text(line))
        if len(listed) < len(rows):
            self.out.print(
                Text(f"  … and {len(rows) - len(listed):,} more: --verbose lists all", style="dim")
            )

    def none(self, words: str) -> None:
        self.out.print(Text(f"  {words}", style="dim"))


_PATH = Column("PATH", least=20, where="middle")


def show(health: Health, zone: tzinfo | None, *, verbose: bool) -> None:
    """Print the state.

    Args:
        health: The state.
        zone: Zone of the times.
        verbose: Whether to list everything that is only counted otherwise.
    """
    report = _Report(console(), zone, verbose=verbose)
    _database(report, health)
    if not health.database.integrity:
        _sources(report, health)
        _passes(report, health)
        _unread(report, health)
        _unclear(report, health)
    _signals(report, health)
    _settings(report, health)


def _database(report: _Report, health: Health) -> None:
    found = health.database
    report.out.print(Text("database", style="bold"))
    state = Text("sound") if not found.integrity else Text("DAMAGED", style="bold red")
    rows: list[list[Cell]] = [
        ["file", path(found.path)],
        ["size", size(found.bytes)],
        ["schema", number(found.schema)],
        ["SQLite", found.sqlite],
        ["integrity", state],
    ]
    rows += [["", Text(clean(line), style="red")] for line in found.integrity]
    report.rows([Column("", style="dim"), Column("", least=20, where="middle")], rows)
    if found.integrity:
        report.none("move it away, or restore a copy of it, and run `stemma ingest`")


def _sources(report: _Report, health: Health) -> None:
    report.head("sources")
    columns = [
        Column("ROOT", least=20, where="middle"), Column("AGENT"), Column("HOST", least=8),
        Column("FILES", right=True), Column("REMOVED", right=True), Column("READ", right=True), Column(""),
    ]  # fmt: skip
    report.rows(
        columns,
        [
            [
                path(one.root), clean(one.product), clean(one.host), number(one.sources), number(one.removed),
                size(one.bytes), "" if one.present else Text("folder is gone", style="yellow"),
            ]
            for one in health.installations
        ],
    )  # fmt: skip
    kinds = [f"{one.sources:,} {one.kind} ({size(one.bytes)})" for one in health.kinds]
    for line in joined(kinds, report.out.width - 2):
        report.none(line)
    if health.removed_sources:
        report.head(f"removed sources: {len(health.removed_sources):,}, their record stays")
        rows = [
            [path(one.path), moment(one.removed_at, report.zone)] for one in health.removed_sources
        ]
        report.rows([_PATH, Column("SINCE")], rows, _EXAMPLES)


def _passes(report: _Report, health: Health) -> None:
    report.head("latest passes")
    columns = [
        Column("STARTED"), Column("OUTCOME"), Column("FILES", right=True), Column("CHANGED", right=True),
        Column("READ", right=True), Column("REMOVED", right=True), Column("FAILED", right=True), Column("", least=0),
    ]  # fmt: skip
    rows: list[list[Cell]] = [
        [
            moment(one.started_at, report.zone), clean(one.outcome or one.state), number(one.sources),
            number(one.changed), number(one.processed), number(one.removed), number(one.failed),
            clean(one.detail) if one.detail else "",
        ]
        for one in health.epochs
    ]  # fmt: skip
    report.rows(columns, rows, _PASSES)


def _unread(report: _Report, health: Health) -> None:
    report.head(f"skipped paths: {len(health.skipped_paths):,}")
    for reason, count in health.skips.items():
        report.none(f"{reason}: {count:,}")
        found = [one for one in health.skipped_paths if one.reason == reason]
        rows = [["", path(one.path), clean(one.detail) if one.detail else ""] for one in found]
        report.rows([Column(""), _PATH._replace(title=""), Column("", least=10)], rows, _EXAMPLES)
    report.head(f"lines and fields that could not be read: {len(health.faults):,}")
    for reason, count in health.line_faults.items():
        report.none(f"{reason}: {count:,}")
        rows = [
            ["", path(one.path), f"byte {one.offset:,}", clean(one.detail) if one.detail else ""]
            for one in health.faults
            if one.reason == reason
        ]
        columns = [
            Column(""),
            _PATH._replace(title=""),
            Column("", right=True),
            Column("", least=16),
        ]
        report.rows(columns, rows, _EXAMPLES)
    if health.pending:
        report.head(f"last lines that are not complete yet: {len(health.pending):,}")
        rows = [[path(one.path), size(one.bytes)] for one in health.pending]
        report.rows([_PATH, Column("SO FAR", right=True)], rows, _EXAMPLES)
    if health.quarantine:
        report.head(f"sources that could not be read: {len(health.quarantine):,}")
        columns = [
            _PATH,
            Column("TIMES", right=True),
            Column("STATE"),
            Column("RETRY"),
            Column("REASON", least=16),
        ]
        rows = [
            [
                path(one.path),
                number(one.failures),
                "parked" if one.parked else "failing",
                one.will_retry,
                clean(one.reason),
            ]
            for one in health.quarantine
        ]
        report.rows(columns, rows)


def _unclear(report: _Report, health: Health) -> None:
    if health.unknown_kinds:
        report.head(f"kinds of records that are not known: {len(health.unknown_kinds):,}")
        rows = [
            [f"{clean(one.type)}{f'/{clean(one.subtype)}' if one.subtype else ''}", number(one.count), path(one.path),
             number(one.offset)]
            for one in health.unknown_kinds
        ]  # fmt: skip
        columns = [
            Column("KIND", least=16), Column("RECORDS", right=True), _PATH._replace(title="FOR EXAMPLE"),
            Column("BYTE", right=True),
        ]  # fmt: skip
        report.rows(columns, rows, 2 * _EXAMPLES)
    if health.duplicate_sessions:
        report.head(f"sessions that two projects claim: {len(health.duplicate_sessions):,}")
        rows = [[path(one.path), clean(one.detail)] for one in health.duplicate_sessions]
        report.rows([_PATH, Column("", least=20, where="middle")], rows, _EXAMPLES)
    if health.orphans:
        report.head(f"agents without a proven parent: {len(health.orphans):,}")
        rows = [
            [clean(one.session_id), clean(one.agent_id), clean(one.type)] for one in health.orphans
        ]
        report.rows(
            [Column("SESSION"), Column("AGENT", least=10), Column("TYPE", least=10)],
            rows,
            2 * _EXAMPLES,
        )


def _signals(report: _Report, health: Health) -> None:
    for title, supported in (
        ("signals that are read", True),
        ("signals that are not supported, and why", False),
    ):
        found = [one for one in health.signals if one.supported is supported]
        report.head(title)
        firsts = [(one.signal, f"since {one.since}" if one.since else one.adapter) for one in found]
        used = sum(max((len(cells[n]) for cells in firsts), default=0) for n in (0, 1)) + 3 * GAP
        rows: list[list[Cell]] = []
        for one, cells in zip(found, firsts, strict=True):
            notes = (
                textwrap.wrap(clean(one.note), max(report.out.width - used, 16))
                if one.note
                else [""]
            )
            rows.append([*cells, notes[0]])
            rows.extend(["", "", more] for more in notes[1:])
        report.rows([Column(""), Column(""), Column("", style="dim")], rows)


def _settings(report: _Report, health: Health) -> None:
    report.head("settings")
    columns = [
        Column("", style="dim"),
        Column("", least=16, where="middle"),
        Column("", least=10, style="dim", where="middle"),
    ]
    report.rows(columns, [[one.key, path(one.value), path(one.origin)] for one in health.settings])
