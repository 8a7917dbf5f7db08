"""Tokens: the one place where counted responses are summed, for every list, tree and report."""

from __future__ import annotations

from collections import defaultdict
from datetime import tzinfo
from typing import Any, NamedTuple

import apsw

from stemma.derive.usage import (
    STATE_ANOMALY,
    STATE_INCOMPLETE,
    STATE_SPLIT,
    STATE_SYNTHETIC,
)
from stemma.model.usage import BUCKETS
from stemma.store.answers.moment import known, local_date, time_of
from stemma.store.answers.usage import Anomaly, By, Figures, Group, Totals, UsageAnswer
from stemma.store.sqlite.read import ids

UNKNOWN = "unknown"

_QUARTER = 900_000_000
"""Every zone's offset is a multiple of fifteen minutes, so quarters of an hour serve the days of all of them."""

_NOT_COUNTED = STATE_ANOMALY | STATE_SYNTHETIC

_SUMS = (
    f"{', '.join(f'sum({bucket})' for bucket in BUCKETS)}, sum({' + '.join(BUCKETS)}), sum(part = 0), "
    f"sum(part = 0 AND state & {STATE_INCOMPLETE} <> 0), sum(web_searches)"
)

_KEYS = {
    By.DAY: f"u.first_at / {_QUARTER}",
    By.MODEL: "(SELECT text FROM names WHERE id = u.model)",
    By.PROJECT: "s.project",
    By.BRANCH: "(SELECT text FROM names WHERE id = s.branch)",
    By.SESSION: "u.session",
    By.AGENT: "u.session, u.agent",
}


class Range(NamedTuple):
    """A stretch of time.

    Attributes:
        since: Start, inclusive, microseconds; nothing for the beginning.
        until: End, exclusive, microseconds; nothing for no end.
    """

    since: int | None = None
    until: int | None = None

    @property
    def bounded(self) -> bool:
        """Whether anything is left out."""
        return self.since is not None or self.until is not None

    def condition(self, column: str) -> str:
        """A condition on a column of times; one that is not known lies in no bounded range."""
        parts = [f"{column} > 0"] if self.bounded else []
        parts += [f"{column} >= {self.since:d}"] if self.since is not None else []
        parts += [f"{column} < {self.until:d}"] if self.until is not None else []
        return " AND ".join(parts) or "1"


EVER = Range()


def sums(
    connection: apsw.Connection, by: By, *, within: Range = EVER, sessions: list[int] | None = None
) -> dict[tuple[Any, ...], Figures]:
    """Figures by key.

    Args:
        connection: A reading connection.
        by: What to group by. Keys of sessions and agents are numbers of names, of days quarters of an hour.
        within: Range of times.
        sessions: Numbers of the sessions to count; all by default.
    """
    keys = _KEYS[by]
    width = keys.count(",") + 1 if by is By.AGENT else 1
    statement = (
        f"SELECT {keys}, {_SUMS} FROM usage u LEFT JOIN sessions s ON s.session = u.session "
        f"WHERE u.state & {_NOT_COUNTED} = 0 AND {within.condition('u.first_at')}"
    )
    bindings: tuple[object, ...] = ()
    if sessions is not None:
        statement += " AND u.session IN (SELECT value FROM json_each(?))"
        bindings = (ids(sessions),)
    rows = connection.execute(
        f"{statement} GROUP BY {', '.join(str(n) for n in range(1, width + 1))}", bindings
    )
    return {tuple(row[:width]): _figures(row[width:]) for row in rows}


def _figures(row: tuple[Any, ...]) -> Figures:
    return Figures(**dict(zip(Figures.__struct_fields__, row, strict=True)))


def added(parts: list[Figures]) -> Figures:
    """Figures added up."""
    return Figures(
        **{name: sum(getattr(part, name) for part in parts) for name in Figures.__struct_fields__}
    )


def usage(
    connection: apsw.Connection,
    by: By | None,
    *,
    within: Range = EVER,
    zone: tzinfo | None = None,
    timezone: str = "local",
) -> UsageAnswer:
    """Totals, groups that add up to them, and what is in neither.

    Args:
        connection: A reading connection.
        by: What to group by.
        within: Range of times.
        zone: Where days are counted; nothing for the machine's own zone.
        timezone: Its name.
    """
    found = sums(connection, by or By.MODEL, within=within)
    whole = added(list(found.values()))
    anomalies = _anomalies(connection, within)
    totals = Totals(
        **{name: getattr(whole, name) for name in Figures.__struct_fields__},
        skipped_lines=skipped_lines(connection),
        anomalies=len(anomalies),
        split_ids=_split(connection, within),
        inherited=_inherited(connection, within),
        undated=_undated(connection),
    )
    return UsageAnswer(
        by=by,
        since=time_of(within.since),
        until=time_of(within.until),
        timezone=timezone,
        totals=totals,
        groups=_groups(connection, by, found, zone) if by is not None else [],
        anomaly_list=anomalies,
    )


def _groups(
    connection: apsw.Connection, by: By, found: dict[tuple[Any, ...], Figures], zone: tzinfo | None
) -> list[Group]:
    if by is By.DAY:
        groups = _days(found, zone)
        return sorted(groups, key=lambda group: (group.key == UNKNOWN, group.key))
    if by in (By.SESSION, By.AGENT):
        groups = _participants(connection, found)
    else:
        merged: dict[str, list[Figures]] = defaultdict(list)
        for (key,), figures in found.items():
            merged[key or UNKNOWN].append(figures)
        groups = [_group(key, parts) for key, parts in merged.items()]
    return sorted(groups, key=lambda group: (-group.total, group.key, group.session or ""))


def _group(  # noqa: PLR0913 - what a group is about
    key: str,
    parts: list[Figures],
    *,
    session: str | None = None,
    agent: str | None = None,
    title: str | None = None,
    label: str | None = None,
) -> Group:
    whole = added(parts)
    figures = {name: getattr(whole, name) for name in Figures.__struct_fields__}
    return Group(key=key, session=session, agent=agent, title=title, label=label, **figures)


def _days(found: dict[tuple[Any, ...], Figures], zone: tzinfo | None) -> list[Group]:
    days: dict[str, list[Figures]] = defaultdict(list)
    for (quarter,), figures in found.items():
        day = local_date(quarter * _QUARTER, zone)
        days[day.isoformat() if day is not None else UNKNOWN].append(figures)
    return [_group(day, parts) for day, parts in days.items()]


def _participants(
    connection: apsw.Connection, found: dict[tuple[Any, ...], Figures]
) -> list[Group]:
    numbers = sorted({key[0] for key in found})
    about = {
        number: (text, known(title or ""))
        for number, text, title in connection.execute(
            "SELECT n.id, n.text, s.title FROM names n LEFT JOIN sessions s ON s.session = n.id "
            "WHERE n.id IN (SELECT value FROM json_each(?))",
            (ids(numbers),),
        )
    }
    types = {
        (session, agent): (text, known(label or ""))
        for session, agent, text, label in connection.execute(
            "SELECT u.session, u.agent, n.text, t.text FROM (SELECT DISTINCT session, agent FROM usage) u "
            "JOIN names n ON n.id = u.agent LEFT JOIN agents a ON a.session = u.session AND a.agent = u.agent "
            "LEFT JOIN names t ON t.id = a.type"
        )
    }
    groups = []
    for key, figures in found.items():
        session, title = about[key[0]]
        if len(key) == 1:
            groups.append(_group(session, [figures], session=session, title=title))
        else:
            agent, label = types[key]
            groups.append(
                _group(agent, [figures], session=session, agent=agent, title=title, label=label)
            )
    return groups


def skipped_lines(connection: apsw.Connection) -> int:
    """Lines that could not be read at all, in the sources as they are now. A faulty field skips no line."""
    found = connection.execute(
        "SELECT count(*) FROM (SELECT DISTINCT f.source, f.offset FROM line_faults f "
        "JOIN (SELECT source, max(generation) AS generation FROM generations GROUP BY source) g "
        "ON g.source = f.source AND g.generation = f.generation WHERE f.reason <> 'field')"
    ).get
    return int(found)


def _anomalies(connection: apsw.Connection, within: Range) -> list[Anomaly]:
    return [
        Anomaly(
            message_id=message, session=session, agent=agent, model=known(model), first_at=time_of(at),
            **dict(zip(BUCKETS, counters, strict=True)), path=path, offset=offset,
        )
        for message, session, agent, model, at, path, offset, *counters in connection.execute(
            "SELECT u.message_id, n.text, a.text, m.text, u.first_at, f.path, u.offset, "
            f"{', '.join(f'u.{bucket}' for bucket in BUCKETS)} FROM usage u JOIN names n ON n.id = u.session "
            "JOIN names a ON a.id = u.agent JOIN names m ON m.id = u.model JOIN sources f ON f.id = u.source "
            f"WHERE u.state & {STATE_ANOMALY} <> 0 AND {within.condition('u.first_at')} "
            "ORDER BY u.first_at, u.message_id, u.request, u.part"
        )
    ]  # fmt: skip


def _split(connection: apsw.Connection, within: Range) -> int:
    found = connection.execute(
        f"SELECT count(DISTINCT message_id) FROM usage WHERE state & {STATE_SPLIT} <> 0 "
        f"AND {within.condition('first_at')}"
    ).get
    return int(found)


def _inherited(connection: apsw.Connection, within: Range) -> int:
    found = connection.execute(
        "SELECT count(*) FROM message_sessions m WHERE m.owner <> m.session AND EXISTS (SELECT 1 FROM usage u "
        f"WHERE u.message_id = m.message_id AND u.part = 0 AND {within.condition('u.first_at')})"
    ).get
    return int(found)


def _undated(connection: apsw.Connection) -> int:
    found = connection.execute(
        f"SELECT count(*) FROM usage WHERE part = 0 AND first_at = 0 AND state & {_NOT_COUNTED} = 0"
    ).get
    return int(found)
