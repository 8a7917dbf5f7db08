"""The record in a neutral shape, for comparison with other tools and for scripts."""

from __future__ import annotations

from typing import Any

import apsw

from stemma.derive.usage import STATE_ANOMALY, STATE_SYNTHETIC
from stemma.model.entity import HELPER_KINDS, AgentKind


def neutral(connection: apsw.Connection) -> list[dict[str, Any]]:
    """Sessions with their subagents and their usage per model.

    Agents that the client starts for itself are left out, their usage is not. A status of ``interrupted`` is the
    reason of an error; ``running`` is an agent that is working or waiting. No clock is asked.
    """
    sessions: dict[int, dict[str, Any]] = {}
    for number, text in connection.execute(
        "SELECT s.session, n.text FROM sessions s JOIN names n ON n.id = s.session ORDER BY n.text"
    ):
        sessions[number] = {"session_id": text, "agents": [], "usage": {}}
    _add_agents(connection, sessions)
    _add_usage(connection, sessions)
    return list(sessions.values())


def _add_agents(connection: apsw.Connection, sessions: dict[int, dict[str, Any]]) -> None:
    hidden = {AgentKind.MAIN, *HELPER_KINDS}
    for session, agent, kind, parent, kind_type, status, reason in connection.execute(
        "SELECT a.session, n.text, a.kind, p.text, t.text, a.status, a.status_reason FROM agents a "
        "JOIN names n ON n.id = a.agent JOIN names t ON t.id = a.type "
        "LEFT JOIN edges e ON e.session = a.session AND e.child = a.agent LEFT JOIN names p ON p.id = e.parent "
        "ORDER BY n.text"
    ):
        if session in sessions and kind not in hidden:
            sessions[session]["agents"].append(
                {
                    "agent_id": agent,
                    "parent": parent,
                    "type": kind_type or None,
                    "status": _status(status, reason),
                }
            )


def _status(status: str, reason: str) -> str:
    if status == "error" and reason == "interrupted":
        return "interrupted"
    return "running" if status in ("working", "waiting") else status


def _add_usage(connection: apsw.Connection, sessions: dict[int, dict[str, Any]]) -> None:
    for session, model, *sums in connection.execute(
        "SELECT u.session, m.text, sum(input), sum(output), sum(cache_write_5m), sum(cache_write_1h), sum(cache_read), "
        "sum(part = 0) FROM usage u JOIN names m ON m.id = u.model WHERE state & ? = 0 "
        "GROUP BY u.session, m.text ORDER BY u.session, m.text",
        (STATE_ANOMALY | STATE_SYNTHETIC,),
    ):
        if session in sessions:
            keys = (
                "input",
                "output",
                "cache_write_5m",
                "cache_write_1h",
                "cache_read",
                "responses",
            )
            sessions[session]["usage"][model] = dict(zip(keys, sums, strict=True))
