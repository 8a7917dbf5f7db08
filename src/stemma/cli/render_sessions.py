"""The list of sessions: one line each where there is room, else two."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

from rich.cells import cell_len
from rich.text import Text

from stemma.cli.render import (
    Cell,
    Column,
    agents,
    clean,
    compact,
    console,
    counted,
    cut,
    duration,
    model,
    moment,
    place,
    short_moment,
    status,
    table,
)
from stemma.store.answers.sessions import Session, SessionsAnswer

_WIDE = 150
_SHORTEST = 8
_PLAIN = (None, "finished", "turn-done")
"""Reasons that go without saying."""


def show(answer: SessionsAnswer, digits: int, zone: tzinfo | None) -> None:
    """Print the list.

    Args:
        answer: The sessions.
        digits: How many characters of an id tell it from all others.
        zone: Zone of the times.
    """
    out = console()
    if not answer.sessions:
        out.print("No sessions.")
        return
    lines = _wide if out.width >= _WIDE else _narrow
    for line in lines(answer.sessions, digits, zone, out.width):
        out.print(line)
    left_out = answer.matching - len(answer.sessions)
    if left_out:
        out.print(
            Text(f"{counted(left_out, 'older session')} not listed: --limit 0 lists all", "dim")
        )


def _wide(found: list[Session], digits: int, zone: tzinfo | None, width: int) -> list[Text]:
    columns = [
        Column("SESSION"),
        Column("LAST"),
        Column("TITLE", least=16),
        Column("PROJECT", least=12, where="middle"),
        Column("BRANCH", least=8, where="middle"),
        Column("MODEL", least=8),
        Column("AGENTS", right=True),
        Column("ACTIVE", right=True),
        Column("WALL", right=True),
        Column("TOKENS", right=True),
        Column("STATUS", least=9),
    ]
    rows: list[list[Cell]] = [
        [
            clean(one.session_id)[:digits],
            moment(one.last_at, zone),
            _title(one),
            place(one),
            clean(one.branch),
            model(one.model),
            agents(one),
            duration(one.active_us),
            duration(one.wall_us),
            compact(one.tokens.total),
            status(one.status),
        ]
        for one in found
    ]
    return table(columns, rows, width)


def _title(one: Session) -> str:
    mark = " (source removed)" if one.sources and one.sources == one.sources_removed else ""
    return clean(one.title) + mark


def _narrow(found: list[Session], digits: int, zone: tzinfo | None, width: int) -> list[Text]:
    columns = [
        Column("SESSION", style="bold"),
        Column("TITLE", least=16),
        Column("LAST"),
        Column("TOKENS", right=True),
        Column("STATUS"),
    ]
    today = datetime.now(UTC)
    rows: list[list[Cell]] = [
        [
            clean(one.session_id)[:digits],
            _title(one),
            short_moment(one.last_at, zone, today),
            compact(one.tokens.total),
            status(one.status, reason=False),
        ]
        for one in found
    ]
    head, *firsts = table(columns, rows, width)
    lines = [head]
    indent = " " * (digits + 2)
    for one, first in zip(found, firsts, strict=True):
        lines += [first, Text(indent + _second(one, width - len(indent)), style="dim")]
    return lines


def _second(one: Session, width: int) -> str:
    facts = [
        model(one.model),
        *([counted(one.agents, "agent")] if one.agents else []),
        *([counted(one.helper_agents, "helper")] if one.helper_agents else []),
        f"active {duration(one.active_us)} of {duration(one.wall_us)}",
        *([clean(one.status.reason)] if one.status.reason not in _PLAIN else []),
    ]
    rest = " · ".join(facts)
    room = max(width - cell_len(rest) - 6, 2 * _SHORTEST)
    where, branch = place(one), clean(one.branch)
    branch = cut(branch, max(room - cell_len(where), room // 2), "middle")
    where = cut(where, room - cell_len(branch), "middle")
    return cut(f"{where} · {branch} · {rest}", width)
