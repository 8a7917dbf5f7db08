"""Text for terminals: safe, aligned, and cut where it does not fit."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Literal, NamedTuple

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from stemma.store.answers.moment import Time, parsed
from stemma.store.answers.sessions import Session, Status

UNKNOWN = "\u2013"
"""What is not known; never 0."""

GAP = 2

_PIPED = 200
"""Columns when the output is no terminal: what reads it can cut for itself."""

_STYLES = {"error": "red", "working": "green", "waiting": "yellow", "unknown": "dim"}
_THOUSAND = 1000
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def console() -> Console:
    """Standard output; as wide as the terminal, as ``COLUMNS`` says, or wide enough for anything."""
    width = None if sys.stdout.isatty() or os.environ.get("COLUMNS") else _PIPED
    return Console(width=width, highlight=False, markup=False, emoji=False, soft_wrap=True)


def clean(text: str | None) -> str:
    """One line that cannot command a terminal: no control characters, no reordering of text; nothing is unknown."""
    if text is None:
        return UNKNOWN
    plain = "".join(
        character if unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp") else " "
        for character in text
    )
    return " ".join(plain.split()) or UNKNOWN


def cut(text: str, width: int, where: Literal["end", "middle"] = "end") -> str:
    """Text in at most so many columns; what is taken out leaves an ellipsis."""
    if cell_len(text) <= width:
        return text
    if width <= 1:
        return "…"[:width]
    if where == "end":
        return f"{_start(text, width - 1)}…"
    tail = width - 1 - (width - 1) // 3
    return f"{_start(text, width - 1 - tail)}…{_start(text[::-1], tail)[::-1]}"


def _start(text: str, width: int) -> str:
    return chop_cells(text, width)[0] if width > 0 and text else ""


Where = Literal["end", "middle"]


def joined(parts: Sequence[str], width: int, indent: str = "") -> list[str]:
    """Facts separated by points, on as many lines as they need."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]} · {part}" if lines else ""
        if lines and cell_len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(cut(indent + part, width))
    return lines


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        title: Its head.
        right: Whether it is aligned to the right.
        least: Columns below which it is not narrowed; nothing when it keeps its width.
        where: Where text is cut.
        style: Style of its cells.
    """

    title: str
    right: bool = False
    least: int | None = None
    where: Where = "end"
    style: str = ""


class Middle(str):
    """Text of a cell that is cut in the middle, whatever its column says: a path tells most at its end."""

    __slots__ = ()


Cell = str | Text


def table(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int) -> list[Text]:
    """Lines of a table that is no wider than the width where its columns can be narrowed so far.

    Args:
        columns: The columns.
        rows: Their cells.
        width: Columns of the terminal.
    """
    widths = fitted(columns, rows, width)
    lines = []
    if any(column.title for column in columns):
        heads = [Text(column.title, style="bold") for column in columns]
        lines.append(_line(columns, heads, widths))
    lines.extend(_line(columns, row, widths) for row in rows)
    return lines


def fitted(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int) -> list[int]:
    """Widths of columns, the widest of those that may be narrowed narrowed first."""
    widths = [
        max([cell_len(column.title), *(cell_len(_plain(row[index])) for row in rows)])
        for index, column in enumerate(columns)
    ]
    over = sum(widths) + GAP * (len(widths) - 1) - width
    while over > 0:
        spare = [
            widths[index] - column.least if column.least is not None else 0
            for index, column in enumerate(columns)
        ]
        index = max(
            range(len(widths)), key=lambda i: (spare[i] > 0, widths[i] if spare[i] > 0 else 0)
        )
        if spare[index] <= 0:
            break
        widths[index] -= 1
        over -= 1
    return widths


def _plain(cell: Cell) -> str:
    return cell.plain if isinstance(cell, Text) else cell


def _line(columns: Sequence[Column], row: Sequence[Cell], widths: list[int]) -> Text:
    line = Text()
    for index, (column, cell, width) in enumerate(zip(columns, row, widths, strict=True)):
        plain = _plain(cell)
        shown = cut(plain, width, "middle" if isinstance(cell, Middle) else column.where)
        if isinstance(cell, Text) and shown == plain:
            piece = cell.copy()
            piece.style = cell.style or column.style
        else:
            piece = Text(shown, style=cell.style if isinstance(cell, Text) else column.style)
        space = " " * (width - cell_len(shown))
        if column.right:
            line.append(space)
        line.append_text(piece)
        if index < len(widths) - 1:
            line.append(("" if column.right else space) + " " * GAP)
    line.rstrip()
    return line


def number(value: int | None) -> str:
    """A whole number with thousands separators."""
    return UNKNOWN if value is None else f"{value:,}"


def compact(value: int | None) -> str:
    """A large number in a few characters: exact below ten thousand."""
    if value is None:
        return UNKNOWN
    if abs(value) < 10 * _THOUSAND:
        return f"{value:,}"
    size = float(value)
    for unit in "kMGT":
        size /= _THOUSAND
        if abs(size) < 999.5 or unit == "T":  # noqa: PLR2004 - what rounds to a thousand takes the next unit
            return f"{size:.{2 if abs(size) < 9.995 else 1 if abs(size) < 99.95 else 0}f}{unit}"  # noqa: PLR2004 - three digits
    raise AssertionError


def size(value: int) -> str:
    """Bytes in a unit that fits."""
    amount = float(value)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < _THOUSAND or unit == "GB":
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= _THOUSAND
    raise AssertionError


def counted(value: int, one: str, many: str = "") -> str:
    """A number and what it counts."""
    return f"{value:,} {one if value == 1 else many or one + 's'}"


def duration(microseconds: int | None) -> str:
    """A length of time in its two largest units."""
    if microseconds is None:
        return UNKNOWN
    if microseconds < 10 * 1_000_000:
        return f"{microseconds / 1_000_000:.1f}s"
    seconds = round(microseconds / 1_000_000)
    if seconds < _MINUTE:
        return f"{seconds}s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE}m{seconds % _MINUTE:02d}s"
    if seconds < _DAY:
        return f"{seconds // _HOUR}h{seconds % _HOUR // _MINUTE:02d}m"
    return f"{seconds // _DAY}d{seconds % _DAY // _HOUR:02d}h"


def short_moment(time: Time | None, zone: tzinfo | None, today: datetime) -> str:
    """A time to the minute, in a zone; to the day when it lies in another year."""
    at = local(time, zone)
    if at is None:
        return UNKNOWN
    return f"{at:%m-%d %H:%M}" if at.year == today.astimezone(zone).year else f"{at:%Y-%m-%d}"


def moment(time: Time | None, zone: tzinfo | None) -> str:
    """A time to the minute, in a zone."""
    at = local(time, zone)
    return f"{at:%Y-%m-%d %H:%M}" if at is not None else UNKNOWN


def local(time: Time | None, zone: tzinfo | None) -> datetime | None:
    """A time in a zone; nothing for the machine's own."""
    return parsed(time).astimezone(zone) if time is not None else None


def model(name: str | None) -> str:
    """A model's name without what all of them share: the maker's prefix and the date of release."""
    plain = clean(name).removeprefix("claude-")
    start, _, end = plain.rpartition("-")
    return start if start and len(end) == 8 and end.isdigit() else plain  # noqa: PLR2004 - a date


def place(session: Session) -> str:
    """Where a session was at work: its directory, else the project's folder name as it is, never a guessed path."""
    return path(session.cwd) if session.cwd is not None else clean(session.project)


def path(text: str) -> str:
    """A path, the user's home folder as ``~``."""
    home = str(Path.home())
    shown = f"~{text[len(home) :]}" if text == home or text.startswith(f"{home}/") else text
    return clean(shown)


def status(found: Status, *, reason: bool = True) -> Text:
    """A status, with its reason where there is one."""
    words = f"{found.status} · {clean(found.reason)}" if found.reason and reason else found.status
    return Text(words, style=_STYLES.get(found.status, ""))


def agents(session: Session) -> str:
    """Subagents, and beside them those that the client started for itself."""
    return str(session.agents) + (f"+{session.helper_agents}" if session.helper_agents else "")
