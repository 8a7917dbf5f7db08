"""One event by its id: ids are not indexed, so its sources are searched, newest first."""

from __future__ import annotations

from collections.abc import Iterator

import apsw

from stemma.model.ids import EVENT_PREFIX
from stemma.store.answers.moment import time_of
from stemma.store.sqlite.read import Named
from stemma.store.sqlite.read_events import STREAMS, Located, Stream, in_stream, of_session


def find_event(connection: apsw.Connection, text: str, named: Named | None = None) -> list[Located]:
    """Events with an id, or whose ids begin with a text; more than one id means that the text is ambiguous.

    A full id is looked for from the newest source back, and the search ends where it is found.

    Args:
        connection: A reading connection.
        text: An id or the start of one.
        named: The session to look in; all by default, which takes longer.
    """
    prefix = text if text.startswith(EVENT_PREFIX) else EVENT_PREFIX + text
    found = of_session(connection, named) if named is not None else _anywhere(connection)
    matching: dict[str, Located] = {}
    for one in found:
        if not one.id.startswith(prefix):
            continue
        if one.id == prefix:
            return [one]
        matching.setdefault(one.id, one)
    return list(matching.values())


def _anywhere(connection: apsw.Connection) -> Iterator[Located]:
    rows = connection.execute(
        STREAMS + "JOIN (SELECT source, generation, max(last_at) AS last_at FROM participations "
        "GROUP BY source, generation) p ON p.source = g.source AND p.generation = g.generation "
        "ORDER BY p.last_at DESC, s.path, g.generation DESC"
    )
    for row in list(rows):
        yield from in_stream(connection, Stream(*row), descending=True)


def current_generation(connection: apsw.Connection, one: Located) -> int:
    """The generation of a source's bytes as they were read last."""
    found = connection.execute(
        "SELECT max(generation) FROM generations WHERE source = ?", (one.stream.source,)
    ).get
    return int(found)


def removed_since(connection: apsw.Connection, one: Located) -> str | None:
    """Since when the source of an event is known to be gone; nothing while it is there."""
    found = connection.execute(
        "SELECT removed_at FROM checkpoints WHERE source = ?", (one.stream.source,)
    ).get
    return time_of(found or 0)
