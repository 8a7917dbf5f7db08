"""Sessions, newest first, each with its agents, times and tokens."""

from __future__ import annotations

from typing import Any, NamedTuple

import apsw
from msgspec import Struct

from stemma.model.entity import HELPER_KINDS, MAIN, AgentKind
from stemma.store.answers.moment import known, time_of
from stemma.store.answers.sessions import Session, SessionsAnswer, Status
from stemma.store.answers.usage import By, Figures
from stemma.store.sqlite.overlay import StoredStatus, Watch, shown
from stemma.store.sqlite.read import ids
from stemma.store.sqlite.read_usage import EVER, Range, sums


class Filter(Struct, frozen=True, kw_only=True):
    """Which sessions to list.

    Attributes:
        project: Part of the project's folder name or of the working directory, in any case.
        within: The session was at work in this range.
        status: Status word as it is shown.
        limit: Most sessions to list; nothing for all.
    """

    project: str | None = None
    within: Range = EVER
    status: str | None = None
    limit: int | None = None


class _Row(NamedTuple):
    number: int
    columns: tuple[Any, ...]
    status: Status


_COLUMNS = (
    "n.text, s.title, s.title_basis, s.project, cwd.text, branch.text, model.text, i.host, i.agent, version.text, "
    "entrypoint.text, s.completeness, s.started_at, s.last_at, s.prompts, s.compactions, s.api_errors"
)
_FROM = (
    "FROM sessions s JOIN names n ON n.id = s.session JOIN names cwd ON cwd.id = s.cwd "
    "JOIN names branch ON branch.id = s.branch JOIN names model ON model.id = s.model "
    "JOIN names version ON version.id = s.version JOIN names entrypoint ON entrypoint.id = s.entrypoint "
    "JOIN instances i ON i.id = s.instance "
    "LEFT JOIN agents a ON a.session = s.session AND a.agent = (SELECT id FROM names WHERE text = :main)"
)


def sessions(connection: apsw.Connection, wanted: Filter, watch: Watch) -> SessionsAnswer:
    """Sessions that a filter lets through.

    Args:
        connection: A reading connection.
        wanted: Which ones.
        watch: The clock.
    """
    rows = [
        row
        for row in _rows(connection, wanted, watch)
        if wanted.status in (None, row.status.status)
    ]
    listed = rows if wanted.limit is None else rows[: wanted.limit]
    return SessionsAnswer(sessions=_filled(connection, listed), matching=len(rows))


def session(connection: apsw.Connection, number: int, watch: Watch) -> Session:
    """One session.

    Args:
        connection: A reading connection.
        number: Its number.
        watch: The clock.
    """
    rows = _select(connection, "s.session = :number", {"number": number}, watch)
    return _filled(connection, rows)[0]


def _rows(connection: apsw.Connection, wanted: Filter, watch: Watch) -> list[_Row]:
    conditions, bindings = ["1"], {}
    if wanted.project is not None:
        conditions.append(
            "(instr(lower(s.project), lower(:project)) OR instr(lower(cwd.text), lower(:project)))"
        )
        bindings["project"] = wanted.project
    if wanted.within.since is not None:
        conditions.append(f"s.last_at >= {wanted.within.since:d}")
    if wanted.within.until is not None:
        conditions.append(f"s.started_at > 0 AND s.started_at < {wanted.within.until:d}")
    return _select(connection, " AND ".join(conditions), bindings, watch)


def _select(
    connection: apsw.Connection, condition: str, bindings: dict[str, Any], watch: Watch
) -> list[_Row]:
    found = []
    for number, at, *columns in connection.execute(
        f"SELECT s.session, s.last_at, a.status, a.status_reason, a.status_grade, a.status_basis, a.status_at, "
        f"{_COLUMNS} {_FROM} WHERE {condition} ORDER BY s.last_at DESC, n.text",
        {**bindings, "main": MAIN},
    ):
        stored = StoredStatus(*columns[:5]) if columns[0] is not None else None
        found.append(_Row(number, tuple(columns[5:]), shown(stored, at, watch)))
    return found


class _Times(NamedTuple):
    first: int
    active: int | None


def _filled(connection: apsw.Connection, rows: list[_Row]) -> list[Session]:
    numbers = [row.number for row in rows]
    tokens = sums(connection, By.SESSION, sessions=numbers)
    agents = _agents(connection, numbers)
    inherited = dict(
        connection.execute(
            "SELECT session, count(*) FROM message_sessions WHERE owner <> session AND session IN "
            "(SELECT value FROM json_each(?)) GROUP BY session",
            (ids(numbers),),
        )
    )
    times = _times(connection, numbers)
    files = _files(connection, numbers)
    forks = {
        number
        for (number,) in connection.execute(
            "SELECT session FROM lineage WHERE kind = 'fork' AND session IN (SELECT value FROM json_each(?))",
            (ids(numbers),),
        )
    }
    return [
        _session(
            row,
            agents=agents.get(row.number, _Agents(0, 0)),
            inherited=inherited.get(row.number, 0),
            tokens=tokens.get((row.number,), Figures()),
            times=times.get(row.number, _Times(0, None)),
            files=files.get(row.number, _Files(0, 0)),
            forked=row.number in forks,
        )
        for row in rows
    ]


def _session(  # noqa: PLR0913 - what the parts of a row were read from
    row: _Row,
    *,
    agents: _Agents,
    inherited: int,
    tokens: Figures,
    times: _Times,
    files: _Files,
    forked: bool,
) -> Session:
    (session_id, title, basis, project, cwd, branch, model, host, product, version, entrypoint, completeness,
     started_at, last_at, prompts, compactions, api_errors) = row.columns  # fmt: skip
    first = times.first if forked and times.first else started_at
    return Session(
        session_id=session_id,
        title=known(title),
        title_basis=known(basis),
        project=project,
        cwd=known(cwd),
        branch=known(branch),
        model=known(model),
        host=host,
        product=product,
        client_version=known(version),
        entrypoint=known(entrypoint),
        completeness=completeness,
        started_at=time_of(first),
        last_at=time_of(last_at),
        wall_us=max(last_at - first, 0) if first and last_at else None,
        active_us=times.active,
        prompts=prompts,
        agents=agents.tasks,
        helper_agents=agents.helpers,
        compactions=compactions,
        api_errors=api_errors,
        inherited=inherited,
        tokens=tokens,
        sources=files.all,
        sources_removed=files.removed,
        status=row.status,
    )


class _Agents(NamedTuple):
    tasks: int
    helpers: int


def _agents(connection: apsw.Connection, numbers: list[int]) -> dict[int, _Agents]:
    found: dict[int, _Agents] = {}
    for number, kind, count in connection.execute(
        "SELECT session, kind, count(*) FROM agents WHERE session IN (SELECT value FROM json_each(?)) "
        "GROUP BY session, kind",
        (ids(numbers),),
    ):
        tasks, helpers = found.get(number, _Agents(0, 0))
        if kind in HELPER_KINDS:
            helpers += count
        elif kind != AgentKind.MAIN:
            tasks += count
        found[number] = _Agents(tasks, helpers)
    return found


class _Files(NamedTuple):
    all: int
    removed: int


def _files(connection: apsw.Connection, numbers: list[int]) -> dict[int, _Files]:
    rows = connection.execute(
        "SELECT p.session, count(*), sum(c.removed_at > 0) FROM (SELECT DISTINCT session, source FROM participations "
        "WHERE session IN (SELECT value FROM json_each(?))) p JOIN checkpoints c ON c.source = p.source "
        "GROUP BY p.session",
        (ids(numbers),),
    )
    return {number: _Files(count, removed) for number, count, removed in rows}


def _times(connection: apsw.Connection, numbers: list[int]) -> dict[int, _Times]:
    """First time and durations of the main threads' own turns.

    A turn is identified by its opening record's uuid, so that copies in other generations and files of the session count
    once. A copy in a fork belongs to the session that owns its first response; one without a response, to the origin
    that holds it too. A turn lasts as long as the client states, else to its last record, but no longer than until the
    thread's next turn or, where another session goes on in the same file, its own session's end.
    """
    rows = connection.execute(
        "WITH held AS ("
        "  SELECT t.session, t.opened_at, min(t.last_at, p.last_at) AS last_at, t.duration, t.uuid, t.first_message, "
        "  row_number() OVER (PARTITION BY t.session, CASE t.uuid WHEN '' THEN t.source || '/' || t.offset ELSE t.uuid END "
        "    ORDER BY t.generation DESC, t.source, t.offset) AS copy "
        "  FROM participations p CROSS JOIN turns t "
        "    ON t.source = p.source AND t.generation = p.generation AND t.session = p.session AND t.agent = p.agent "
        "  WHERE p.session IN (SELECT value FROM json_each(:sessions)) "
        "    AND p.agent = (SELECT id FROM names WHERE text = :main) AND t.opened_at > 0"
        "), own AS ("
        "  SELECT *, lead(opened_at) OVER (PARTITION BY session ORDER BY opened_at) AS next_at FROM held WHERE copy = 1 "
        "  AND NOT EXISTS (SELECT 1 FROM message_sessions m WHERE m.session = held.session "
        "    AND m.message_id = held.first_message AND m.owner <> m.session) "
        "  AND NOT (held.first_message = '' AND held.uuid <> '' AND EXISTS ("
        "    SELECT 1 FROM lineage l JOIN participations o ON o.session = l.origin CROSS JOIN turns c "
        "    ON c.source = o.source AND c.generation = o.generation AND c.session = o.session AND c.uuid = held.uuid "
        "    WHERE l.session = held.session AND l.kind = 'fork'))"
        ") SELECT session, min(opened_at), sum(CASE WHEN duration >= 0 THEN duration "
        "  ELSE max(min(last_at, coalesce(next_at, last_at)) - opened_at, 0) END) FROM own GROUP BY session",
        {"sessions": ids(numbers), "main": MAIN},
    )
    return {number: _Times(first, active) for number, first, active in rows}
