"""The client's own bills, and what of ours they cover."""

from __future__ import annotations

from typing import NamedTuple

import apsw
import msgspec
from msgspec import Struct

from stemma.derive.cost.reconcile import ClientUsage
from stemma.model.claim import decode_body
from stemma.model.entity import MAIN
from stemma.model.money import pico_of
from stemma.store.answers.moment import known
from stemma.store.sqlite.read import ids


class Bill(NamedTuple):
    """The client's last bill of a session.

    Attributes:
        number: Number of the session.
        session: Its id.
        title: Its title.
        at: Time of the bill, microseconds.
        until: First response that a later process of the client made; 0 when there is none.
        models: What it says of each model; nothing when it could not be read.
        pico: Its total, pico-dollars.
    """

    number: int
    session: str
    title: str | None
    at: int
    until: int
    models: list[ClientUsage] | None
    pico: int


class Origin(NamedTuple):
    """Where a fork comes from.

    Attributes:
        number: Number of the origin's session.
        until: When the fork began on its own, microseconds; 0 when it never did.
    """

    number: int
    until: int


class _Model(Struct):
    inputTokens: int = 0  # noqa: N815 - the client's names
    outputTokens: int = 0  # noqa: N815
    cacheReadInputTokens: int = 0  # noqa: N815
    cacheCreationInputTokens: int = 0  # noqa: N815
    cacheCreationEphemeral5mInputTokens: int = 0  # noqa: N815
    cacheCreationEphemeral1hInputTokens: int = 0  # noqa: N815
    webSearchRequests: int = 0  # noqa: N815
    costUSD: float = 0  # noqa: N815


class _Totals(Struct):
    modelUsage: dict[str, _Model] = {}  # noqa: N815
    totalCostUSD: float = 0  # noqa: N815


def bills(connection: apsw.Connection, sessions: list[int] | None = None) -> list[Bill]:
    """The last bill of every session that has one, newest first.

    Args:
        connection: A reading connection.
        sessions: Numbers of sessions; nothing for all.
    """
    chosen = "1" if sessions is None else "c.session IN (SELECT value FROM json_each(:sessions))"
    rows = list(
        connection.execute(
            "SELECT session, text, title, at, source, generation, offset, body FROM ("
            "  SELECT c.session, n.text, coalesce(s.title, '') AS title, c.at, c.source, c.generation, c.offset, c.body, "
            "  row_number() OVER (PARTITION BY c.session ORDER BY c.at DESC, c.generation DESC, c.offset DESC, f.path) AS place "
            "  FROM claims c JOIN names n ON n.id = c.session JOIN sources f ON f.id = c.source "
            "  LEFT JOIN sessions s ON s.session = c.session "
            f"  WHERE c.kind = 'recorded_total' AND {chosen}) WHERE place = 1 ORDER BY at DESC, text",
            {"sessions": ids(sessions or [])},
        )
    )
    return [
        _bill(connection, tuple(row[:4]), (row[4], row[5]), row[6], str(row[7])) for row in rows
    ]


def _bill(
    connection: apsw.Connection,
    about: tuple[int, str, str, int],
    source: tuple[int, int],
    offset: int,
    body: str,
) -> Bill:
    number, session, title, at = about
    until = connection.execute(
        "SELECT coalesce(min(first_at), 0) FROM usage WHERE session = ? AND first_at > 0 "
        "AND agent = (SELECT id FROM names WHERE text = ?) "
        "AND CASE WHEN source = ? AND generation = ? THEN offset > ? ELSE first_at > ? END",
        (number, MAIN, *source, offset, at),
    ).get
    models, pico = _read(decode_body(body).json)
    return Bill(number, session, known(title), at, int(until), models, pico)


def _read(text: str) -> tuple[list[ClientUsage] | None, int]:
    try:
        totals = msgspec.json.decode(text, type=_Totals, strict=False)
        models = [_usage(name, model) for name, model in totals.modelUsage.items()]
        return models, pico_of(totals.totalCostUSD)
    except (msgspec.DecodeError, ArithmeticError, ValueError):
        return None, 0


def _usage(name: str, model: _Model) -> ClientUsage:
    """A model's sums; cache writes of which the kind is not stated are of five minutes, as the API's default is."""
    hour = model.cacheCreationEphemeral1hInputTokens
    five = max(model.cacheCreationEphemeral5mInputTokens, model.cacheCreationInputTokens - hour)
    amounts = (
        model.inputTokens, model.outputTokens, five, hour, model.cacheReadInputTokens, model.webSearchRequests,
    )  # fmt: skip
    return ClientUsage(name, amounts, pico_of(model.costUSD))


def sessions_without_bill(connection: apsw.Connection) -> int:
    """How many sessions have no bill of the client's."""
    found = connection.execute(
        "SELECT count(*) FROM sessions s WHERE NOT EXISTS "
        "(SELECT 1 FROM claims c WHERE c.session = s.session AND c.kind = 'recorded_total')"
    ).get
    return int(found)


def origins(connection: apsw.Connection, session: int) -> list[Origin]:
    """The sessions whose history a fork copied, and up to when: its origin, that one's origin, and so on.

    Args:
        connection: A reading connection.
        session: Number of the fork.
    """
    found: dict[int, int] = {}
    waiting = [(session, 0)]
    while waiting:
        fork, limit = waiting.pop()
        began = connection.execute(
            "SELECT coalesce(min(first_at), 0) FROM usage WHERE session = ? AND first_at > 0",
            (fork,),
        ).get
        until = min((at for at in (int(began), limit) if at), default=0)
        for (origin,) in connection.execute(
            "SELECT origin FROM lineage WHERE session = ? AND kind = 'fork'", (fork,)
        ):
            if origin != session and (origin not in found or 0 < until < found[origin]):
                found[origin] = until
                waiting.append((origin, until))
    return [Origin(origin, until) for origin, until in sorted(found.items())]


def shared_messages(connection: apsw.Connection, session: int) -> set[str]:
    """Ids of the responses that a session holds together with others."""
    return {
        message
        for (message,) in connection.execute(
            "SELECT message_id FROM message_sessions WHERE session = ?", (session,)
        )
    }
