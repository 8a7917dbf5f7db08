"""What the status line needs, in as few pages and imports as it takes: it runs at every turn of an agent.

It looks into the database without the checks of ``read.reading``; a database that is not understood answers nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import apsw

from stemma.derive.cost.blocks import BLOCK, HOUR
from stemma.derive.cost.charge import Charge, charge_of
from stemma.derive.usage import STATE_ANOMALY, STATE_SYNTHETIC, CountedRequest
from stemma.model.entity import MAIN
from stemma.store.sqlite.connection import connect

_PATIENCE_MILLISECONDS = 20
_LOOK_BACK = (12, 4 * 24, 32 * 24, 10 * 365 * 24)
"""Hours; who pauses for five of them once a day is served by the first or second."""
_NOT_COUNTED = STATE_ANOMALY | STATE_SYNTHETIC


class Glance(NamedTuple):
    """What the record holds for a status line.

    Attributes:
        session: Charges of the session; nothing when the record does not have it.
        consumed: Bytes read of the session's transcripts, by path inside their root.
        recent: Charges since the day or the chain of blocks began, whichever is earlier.
        chain: Since when no five hours passed without a request, microseconds; the present when that long none came.
    """

    session: list[Charge] | None
    consumed: dict[str, int]
    recent: list[Charge]
    chain: int


def glance(database: Path, session: str, today: int, now: int) -> Glance:
    """Look up one session, and what is recent.

    Args:
        database: The database.
        session: Id of the session, or empty.
        today: Start of the day, microseconds.
        now: The present, microseconds.

    Raises:
        StoreError: The database cannot be opened.
        apsw.Error: It cannot be read.
    """
    connection = connect(database, writer=False)
    try:
        connection.set_busy_timeout(_PATIENCE_MILLISECONDS)
        connection.execute("BEGIN")
        recent, chain = _recent(connection, today, now)
        number = connection.execute(
            "SELECT s.session FROM names n JOIN sessions s ON s.session = n.id WHERE n.text = ?",
            (session,),
        ).get
        if number is None:
            return Glance(None, {}, recent, chain)
        return Glance(
            _charges(connection, "u.session = ?", number),
            _consumed(connection, number),
            recent,
            chain,
        )
    finally:
        connection.close()


def _recent(connection: apsw.Connection, today: int, now: int) -> tuple[list[Charge], int]:
    """What is recent, looking back further for as long as that may change where a block began.

    Sessions are few, and usage is found by session: so nothing old is read.
    """
    found: list[Charge] = []
    chain = now
    for hours in _LOOK_BACK:
        since = min(today, now - hours * HOUR)
        found = _charges(
            connection,
            "u.session IN (SELECT session FROM sessions WHERE last_at >= ?1) AND u.first_at >= ?1",
            since,
        )
        chain = _chain(found, now)
        if chain - since >= BLOCK:
            break
    return found, chain


def _chain(charges: list[Charge], now: int) -> int:
    """Since when no five hours passed without a request.

    After five hours without one a new block begins whatever came before (``blocks``), so nothing older matters.
    """
    chain = now
    for at in sorted((one.at for one in charges if one.at <= now), reverse=True):
        if chain - at >= BLOCK:
            break
        chain = at
    return chain


def _charges(connection: apsw.Connection, condition: str, value: int) -> list[Charge]:
    return [
        charge_of(CountedRequest(*row))
        for row in connection.execute(
            "SELECT u.message_id, u.request, u.part, u.part_kind, '', '', m.text, u.first_at, u.input, u.output, "
            "u.cache_write_5m, u.cache_write_1h, u.cache_read, u.web_searches, u.largest_input, u.speed, u.tier, u.geo, "
            "'', '', -1, u.state, '', 0, 0, 0 FROM usage u JOIN names m ON m.id = u.model "
            f"WHERE u.state & {_NOT_COUNTED} = 0 AND {condition}",
            (value,),
        )
    ]


def _consumed(connection: apsw.Connection, session: int) -> dict[str, int]:
    return {
        path: int(size)
        for path, size in connection.execute(
            "SELECT s.path, g.bytes FROM participations p JOIN sources s ON s.id = p.source "
            "JOIN generations g ON g.source = p.source AND g.generation = p.generation "
            "WHERE p.session = ? AND p.agent = (SELECT id FROM names WHERE text = ?) ORDER BY p.generation",
            (session, MAIN),
        )
    }
