"""What analyses of cost need beside requests: who started whom on which model, and where contexts were compacted."""

from __future__ import annotations

from typing import NamedTuple

import apsw

from stemma.derive.cost.compaction import Boundary
from stemma.model.entity import MAIN
from stemma.store.answers.moment import known
from stemma.store.sqlite.read import ids


class Spawned(NamedTuple):
    """A subagent and the response that started it.

    Attributes:
        session: Its session.
        agent: Its id.
        label: Its type.
        spawned_by: Model of the response that started it; nothing when no such response is known.
    """

    session: str
    agent: str
    label: str | None
    spawned_by: str | None


class Compacted(NamedTuple):
    """An agent's compactions.

    Attributes:
        number: Number of its session.
        session: Its session.
        agent: Its id.
        boundaries: Its compactions, each once, without those of copied history.
    """

    number: int
    session: str
    agent: str
    boundaries: list[Boundary]


def spawned(connection: apsw.Connection, sessions: list[int] | None) -> list[Spawned]:
    """Every subagent, with transcript or without.

    The call that an edge rests on stands in a response; a call that several places hold is one call.

    Args:
        connection: A reading connection.
        sessions: Numbers of sessions; nothing for all.
    """
    chosen = "1" if sessions is None else "g.session IN (SELECT value FROM json_each(:sessions))"
    rows = connection.execute(
        "WITH g AS (SELECT session, agent FROM agents UNION SELECT session, agent FROM usage) "
        "SELECT s.text, n.text, coalesce(t.text, ''), ("
        "  SELECT m.text FROM claims c JOIN tool_executions x ON x.source = c.source "
        "    AND x.generation = c.generation AND x.offset = c.offset AND x.tool_use = e.tool_use "
        "  JOIN usage u ON u.message_id = x.message_id AND u.part = 0 JOIN names m ON m.id = u.model "
        "  WHERE c.session = e.session AND c.subject = e.tool_use AND c.kind = 'spawn_block' "
        "  ORDER BY u.first_at, u.message_id, u.request LIMIT 1) "
        "FROM g JOIN names s ON s.id = g.session JOIN names n ON n.id = g.agent "
        "LEFT JOIN agents a ON a.session = g.session AND a.agent = g.agent LEFT JOIN names t ON t.id = a.type "
        "LEFT JOIN edges e ON e.session = g.session AND e.child = g.agent AND e.tool_use <> '' "
        f"WHERE n.text <> :main AND {chosen} ORDER BY s.text, n.text",
        {"main": MAIN, "sessions": ids(sessions or [])},
    )
    return [Spawned(session, agent, known(label), model) for session, agent, label, model in rows]


def compacted(connection: apsw.Connection, sessions: list[int] | None) -> list[Compacted]:
    """Agents whose context was compacted.

    A boundary with a uuid is one however many files and generations hold it, and belongs to a fork's origin where both
    hold it.

    Args:
        connection: A reading connection.
        sessions: Numbers of sessions; nothing for all.
    """
    chosen = "1" if sessions is None else "c.session IN (SELECT value FROM json_each(:sessions))"
    rows = connection.execute(
        'SELECT c.session, s.text, a.text, min(c.at), max(c."trigger"), max(c.tokens_before) FROM compactions c '
        "JOIN names s ON s.id = c.session JOIN names a ON a.id = c.agent "
        f"WHERE {chosen} AND NOT (c.uuid <> '' AND EXISTS (SELECT 1 FROM lineage l JOIN compactions o "
        "  ON o.session = l.origin AND o.uuid = c.uuid WHERE l.session = c.session AND l.kind = 'fork')) "
        "GROUP BY s.text, a.text, CASE c.uuid WHEN '' THEN c.source || '/' || c.offset || '/' || c.at ELSE c.uuid END "
        "ORDER BY s.text, a.text, min(c.at)",
        {"sessions": ids(sessions or [])},
    )
    found: dict[tuple[int, str, str], list[Boundary]] = {}
    for number, session, agent, at, trigger, before in rows:
        found.setdefault((number, session, agent), []).append(Boundary(at, trigger, before))
    return [Compacted(*key, boundaries) for key, boundaries in found.items()]
