"""Counted requests one by one, for what takes figures apart; sums are ``read_usage``'s."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import apsw

from stemma.derive.usage import STATE_ANOMALY, STATE_SYNTHETIC, CountedRequest
from stemma.errors import NotFound
from stemma.model.entity import MAIN
from stemma.store.sqlite.read import Named, find_session, ids
from stemma.store.sqlite.read_usage import EVER, Range

_COLUMNS = (
    "u.message_id, u.request, u.part, u.part_kind, s.text, a.text, m.text, u.first_at, u.input, u.output, "
    "u.cache_write_5m, u.cache_write_1h, u.cache_read, u.web_searches, u.largest_input, u.speed, u.tier, u.geo, u.skill, "
    "u.tool_server, u.recorded_nano_usd, u.state, CAST(u.source AS TEXT), u.generation, u.offset, u.records"
)
_FROM = (
    "FROM usage u JOIN names s ON s.id = u.session JOIN names a ON a.id = u.agent "
    "JOIN names m ON m.id = u.model"
)
_MOST_CANDIDATES = 10


class Scope(NamedTuple):
    """Whose requests; everything that is given must hold.

    Attributes:
        sessions: Numbers of sessions; nothing for all.
        agent: Id of an agent; nothing for all.
        message: Id of a message; nothing for all.
        within: Range of times.
        subagents: Whether to leave out main threads.
    """

    sessions: list[int] | None = None
    agent: str | None = None
    message: str | None = None
    within: Range = EVER
    subagents: bool = False


class Target(NamedTuple):
    """What a person asked for by an id.

    Attributes:
        scope: Its requests.
        kind: ``session``, ``agent`` or ``message``.
        key: Its id.
        session: Its session, of a session or an agent.
        agent: The agent, of an agent.
    """

    scope: Scope
    kind: str
    key: str
    session: Named | None = None
    agent: str | None = None


def requests(connection: apsw.Connection, scope: Scope) -> Iterator[CountedRequest]:
    """Requests of a scope in the order of time, anomalies and the client's own messages included.

    The parts of a response follow it; ``source`` is the number of the source, as text.

    Args:
        connection: A reading connection.
        scope: Which ones.
    """
    conditions, bindings = _conditions(scope)
    for row in connection.execute(
        f"SELECT {_COLUMNS} {_FROM} WHERE {conditions} "
        "ORDER BY u.first_at, u.message_id, u.request, u.part",
        bindings,
    ):
        yield CountedRequest(*row)


def is_counted(request: CountedRequest) -> bool:
    """Whether a request is in totals."""
    return not request.state & (STATE_ANOMALY | STATE_SYNTHETIC)


def inherited(connection: apsw.Connection, scope: Scope) -> int:
    """Copies of responses that sessions of a scope hold and that are counted elsewhere; of agents it is not known."""
    if scope.sessions is None or scope.agent is not None:
        return 0
    found = connection.execute(
        "SELECT count(*) FROM message_sessions WHERE owner <> session AND session IN "
        "(SELECT value FROM json_each(?))",
        (ids(scope.sessions),),
    ).get
    return int(found)


def skipped_lines(connection: apsw.Connection, sessions: list[int]) -> int:
    """Lines that could not be read in the files of some sessions, as those are now."""
    found = connection.execute(
        "SELECT count(*) FROM (SELECT DISTINCT f.source, f.offset FROM line_faults f "
        "JOIN (SELECT source, max(generation) AS generation FROM generations GROUP BY source) g "
        "ON g.source = f.source AND g.generation = f.generation WHERE f.reason <> 'field' AND f.source IN "
        "(SELECT source FROM participations WHERE session IN (SELECT value FROM json_each(?))))",
        (ids(sessions),),
    ).get
    return int(found)


def _conditions(scope: Scope) -> tuple[str, dict[str, str | int]]:
    conditions = [scope.within.condition("u.first_at")]
    bindings: dict[str, str | int] = {}
    if scope.sessions is not None:
        conditions.append("u.session IN (SELECT value FROM json_each(:sessions))")
        bindings["sessions"] = ids(scope.sessions)
    if scope.agent is not None:
        conditions.append("u.agent = (SELECT id FROM names WHERE text = :agent)")
        bindings["agent"] = scope.agent
    if scope.subagents:
        conditions.append("u.agent <> (SELECT id FROM names WHERE text = :main)")
        bindings["main"] = MAIN
    if scope.message is not None:
        conditions.append("u.message_id = :message")
        bindings["message"] = scope.message
    return " AND ".join(conditions), bindings


def find_target(connection: apsw.Connection, text: str) -> Target:
    """What an id names: a session, an agent (``SESSION/AGENT`` for ``main``), or a message; the start of it will do.

    Args:
        connection: A reading connection.
        text: The id.

    Raises:
        NotFound: There is nothing of the kind, or it is not clear what is meant.
    """
    session, slash, agent = text.partition("/")
    for exact in (True, False):
        found = [
            *_messages(connection, text, exact=exact),
            *_agents(connection, text, exact=exact),
            *_sessions(connection, text, exact=exact),
        ]
        if len(found) == 1:
            return found[0]
        if found:
            raise NotFound(_ambiguous(text, found))
    if slash and agent:
        named = find_session(connection, session)
        for exact in (True, False):
            found = _agents(connection, agent, exact=exact, session=named.number)
            if len(found) == 1:
                return found[0]
            if found:
                raise NotFound(_ambiguous(text, found))
        raise NotFound(f"session {named.session_id} has no agent whose id begins with {agent!r}")
    raise NotFound(f"no session, agent or message has an id that begins with {text!r}")


def _ambiguous(text: str, found: list[Target]) -> str:
    lines = [
        f"  {one.kind} {f'{one.session.session_id}/' if one.session and one.agent else ''}{one.key}"
        for one in found[:_MOST_CANDIDATES]
    ]
    more = ["  … and more"] if len(found) > _MOST_CANDIDATES else []
    return "\n".join([f"more than one id begins with {text!r}:", *lines, *more])


def _start(column: str, *, exact: bool) -> str:
    if exact:
        return f"{column} = :text"
    return f"{column} >= :text AND {column} < :text || char(1114111) AND :text <> ''"


def _messages(connection: apsw.Connection, text: str, *, exact: bool) -> list[Target]:
    rows = connection.execute(
        f"SELECT DISTINCT message_id FROM usage WHERE {_start('message_id', exact=exact)} LIMIT :most",
        {"text": text, "most": _MOST_CANDIDATES + 1},
    )
    return [Target(Scope(message=message), "message", message) for (message,) in rows]


def _agents(
    connection: apsw.Connection, text: str, *, exact: bool, session: int | None = None
) -> list[Target]:
    rows = connection.execute(
        "SELECT g.session, s.text, n.text FROM agents g JOIN names n ON n.id = g.agent "
        f"JOIN names s ON s.id = g.session WHERE {_start('n.text', exact=exact)} "
        f"AND {'n.text <> :main' if session is None else 'g.session = :session'} LIMIT :most",
        {"text": text, "most": _MOST_CANDIDATES + 1, "session": session, "main": MAIN},
    )
    return [
        Target(Scope([number], agent), "agent", agent, Named(number, session_id), agent)
        for number, session_id, agent in rows
    ]


def _sessions(connection: apsw.Connection, text: str, *, exact: bool) -> list[Target]:
    rows = connection.execute(
        "SELECT s.session, n.text FROM names n JOIN sessions s ON s.session = n.id "
        f"WHERE {_start('n.text', exact=exact)} LIMIT :most",
        {"text": text, "most": _MOST_CANDIDATES + 1},
    )
    return [
        Target(Scope([number]), "session", session, Named(number, session))
        for number, session in rows
    ]
