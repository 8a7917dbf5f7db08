"""What the status line needs, in as few pages and imports as it takes: it runs at every turn of an agent.

It looks into the database without the checks of ``read.reading``; a database that is not understood answers nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import apsw

from stemma.derive.cost.blocks import BLOCK
from stemma.derive.cost.charge import ROLLUP_MICROSECONDS, Charge, charge_of
from stemma.derive.usage import STATE_ANOMALY, STATE_SYNTHETIC, CountedRequest
from stemma.model.entity import MAIN
from stemma.store.sqlite.connection import connect

_PATIENCE_MILLISECONDS = 20
_NOT_COUNTED = STATE_ANOMALY | STATE_SYNTHETIC


class Glance(NamedTuple):
    """What the record holds for a status line.

    Attributes:
        session: Charges of the session; nothing when the record does not have it.
        consumed: Bytes read of the session's transcripts, by path inside their root.
        recent: Charges since the day or the chain of blocks began, whichever is earlier.
        chain: Since when no five hours passed without a request, microseconds.
    """

    session: list[Charge] | None
    consumed: dict[str, int]
    recent: list[Charge]
    chain: int


def glance(database: Path, session: str, today: int) -> Glance:
    """Look up one session, and what is recent.

    Args:
        database: The database.
        session: Id of the session, or empty.
        today: Start of the day, microseconds.

    Raises:
        StoreError: The database cannot be opened.
        apsw.Error: It cannot be read.
    """
    connection = connect(database, writer=False)
    try:
        connection.set_busy_timeout(_PATIENCE_MILLISECONDS)
        connection.execute("BEGIN")
        chain = _chain(connection)
        recent = _charges(connection, "u.first_at >= ?", min(today, chain))
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


def _chain(connection: apsw.Connection) -> int:
    """Start of the oldest quarter of an hour from which on no five hours passed without a request.

    After five hours without a request a new block begins whatever came before (``blocks``), so nothing older matters.
    """
    earliest = 0
    for (quarter,) in connection.execute(
        f"SELECT DISTINCT first_at / {ROLLUP_MICROSECONDS} FROM usage "
        f"WHERE first_at > 0 AND state & {_NOT_COUNTED} = 0 ORDER BY 1 DESC"
    ):
        at = int(quarter) * ROLLUP_MICROSECONDS
        if earliest and earliest - at >= BLOCK:
            break
        earliest = at
    return earliest


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
