"""Sums of tokens."""

from __future__ import annotations

from rich.text import Text

from stemma.cli.render import (
    GAP,
    Cell,
    Column,
    Where,
    clean,
    console,
    counted,
    fitted,
    joined,
    number,
    path,
    table,
)
from stemma.store.answers.usage import By, Figures, Group, UsageAnswer

_NARROWEST_KEY = 14

_ALL = (
    ("INPUT", "input"),
    ("OUTPUT", "output"),
    ("WRITE 5M", "cache_write_5m"),
    ("WRITE 1H", "cache_write_1h"),
    ("CACHE READ", "cache_read"),
    ("TOTAL", "total"),
    ("RESPONSES", "responses"),
)
_WRITES = (
    ("INPUT", "input"),
    ("OUTPUT", "output"),
    ("WRITES", "writes"),
    ("CACHE READ", "cache_read"),
    ("TOTAL", "total"),
)
_FEW = (("INPUT", "input"), ("OUTPUT", "output"), ("TOTAL", "total"))
_Layout = tuple[tuple[str, str], ...]

_LAYOUTS: tuple[_Layout, ...] = (_ALL, _ALL[:-1], _WRITES, _FEW)


def show(answer: UsageAnswer) -> None:
    """Print sums, the most columns that fit, and a line on what is not in them."""
    out = console()
    if answer.by is None:
        rows = [[title.lower(), number(getattr(answer.totals, name))] for title, name in _ALL]
        lines = table([Column(""), Column("", right=True)], rows, out.width)
    else:
        lines = _grouped(answer, answer.by, out.width)
    for line in lines:
        out.print(line)
    for one in answer.anomaly_list:
        out.print(
            Text(
                f"anomaly, in no sum: {clean(one.message_id)} in {path(one.path)} at byte {one.offset:,}",
                "yellow",
            )
        )
    for note in joined(_notes(answer), out.width):
        out.print(Text(note, style="dim"))


def _grouped(answer: UsageAnswer, by: By, width: int) -> list[Text]:
    for layout in _LAYOUTS:
        columns, rows = _columns(by, layout), _rows(answer, by, layout)
        used = sum(fitted(columns, rows, width)) + GAP * len(layout)
        if used <= width:
            break
    else:
        layout, columns, rows = _FEW, _columns(by, _FEW), _rows(answer, by, _FEW)
        used = width
    lines = table(columns, rows, width)
    lines.insert(-1, Text("─" * used, style="dim"))
    if layout is not _ALL:
        lines.append(Text("a wider terminal, or --json, shows every bucket", style="dim"))
    return lines


def _columns(by: By, layout: _Layout) -> list[Column]:
    key = Column(by.value.upper(), least=_NARROWEST_KEY, where=_where(by))
    return [key, *(Column(title, right=True) for title, _ in layout)]


def _rows(answer: UsageAnswer, by: By, layout: _Layout) -> list[list[Cell]]:
    """The groups, and the totals last."""
    rows: list[list[Cell]] = [
        [
            _key(group, by, short=layout is not _ALL),
            *(number(_figure(group, name)) for _, name in layout),
        ]
        for group in answer.groups
    ]
    total = ["total", *(number(_figure(answer.totals, name)) for _, name in layout)]
    return [*rows, [Text(cell, style="bold") for cell in total]]


def _where(by: By) -> Where:
    return "middle" if by in (By.PROJECT, By.BRANCH) else "end"


def _figure(figures: Figures, name: str) -> int:
    if name == "writes":
        return figures.cache_write_5m + figures.cache_write_1h
    return int(getattr(figures, name))


def _key(group: Group, by: By, *, short: bool) -> str:
    if by is By.MODEL and short:
        return clean(group.key).removeprefix("claude-")
    if by is By.SESSION:
        return f"{clean(group.session)[:8]} {clean(group.title)}"
    if by is By.AGENT:
        label = f" {clean(group.label)}" if group.label is not None else ""
        return f"{clean(group.session)[:8]} {clean(group.agent)}{label}"
    return path(group.key)


def _notes(answer: UsageAnswer) -> list[str]:
    totals = answer.totals
    notes = [
        counted(totals.skipped_lines, "skipped line"),
        f"output is a lower bound for {counted(totals.incomplete, 'response')}"
        if totals.incomplete
        else "no incomplete responses",
        counted(totals.anomalies, "anomaly", "anomalies"),
    ]
    if totals.web_searches:
        notes.append(counted(totals.web_searches, "web search", "web searches"))
    if totals.inherited:
        notes.append(f"{counted(totals.inherited, 'copy', 'copies')} not counted again")
    if totals.split_ids:
        notes.append(f"{counted(totals.split_ids, 'id')} of several requests")
    if totals.undated:
        ranged = answer.since is not None or answer.until is not None
        where = ", not in this range" if ranged else ""
        notes.append(f"{counted(totals.undated, 'response')} without a time{where}")
    return notes
