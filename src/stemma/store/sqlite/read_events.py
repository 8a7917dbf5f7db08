"""The normalized timeline: events unpacked from the segments of their sources, each in its envelope, each once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import apsw

from stemma.errors import Damaged
from stemma.model.entity import MAIN
from stemma.model.event import ADAPTER, EventType, PackedEvent
from stemma.model.evidence import Grade
from stemma.model.ids import event_id, place_of
from stemma.store.answers.events import (
    Event,
    EventsAnswer,
    EventSource,
    Evidence,
    Locator,
    Payload,
)
from stemma.store.answers.moment import known, not_negative, time_of
from stemma.store.sqlite.pack import BROKEN, unpack_events
from stemma.store.sqlite.read import Named

WORDS = {kind.value: kind.word for kind in EventType}

_UNKNOWN = EventType.RECORD_UNKNOWN.value
_TIMED = frozenset(
    (EventType.TURN_COMPLETED, EventType.TURN_FAILED, EventType.TOOL_COMPLETED, EventType.TOOL_FAILED,
     EventType.TOOL_DENIED)
)  # fmt: skip
_COUNTED = frozenset((EventType.SESSION_COMPACTED, EventType.CONTEXT_COMPACTION_COMPLETED))
_DERIVED = {
    EventType.SESSION_STARTED: "first record of the session in its source",
    EventType.SUBAGENT_STARTED: "first record of the agent in its source",
    EventType.SUBAGENT_COMPLETED: "result of the call that started it",
    EventType.SUBAGENT_FAILED: "result of the call that started it",
    EventType.TURN_COMPLETED: "records of the turn, up to the one that ends it",
    EventType.TURN_FAILED: "records of the turn, up to the one that ends it",
    EventType.FILE_READ: "a tool that reads files completed",
    EventType.FILE_CREATED: "a tool that writes files completed",
    EventType.FILE_MODIFIED: "a tool that writes files completed",
    EventType.SESSION_COMPACTED: "compaction boundary of the main thread",
}
"""Events that follow from records rather than being one, and from what."""


class Stream(NamedTuple):
    """One generation of one source.

    Attributes:
        source: Number of the source.
        generation: Generation of its bytes.
        adapter: Agent product.
        root: Folder of the transcripts.
        path: The source inside it.
        revision: Revision of the adapter that read it.
    """

    source: int
    generation: int
    adapter: str
    root: str
    path: str
    revision: int


class Located(NamedTuple):
    """A packed event with its id and where it comes from."""

    id: str
    packed: PackedEvent
    stream: Stream


class Choice(NamedTuple):
    """Which events of a session to list.

    Attributes:
        type: Word of the type; unknown records are listed only when they are asked for.
        agent: ``main``, an agent id, or the start of one.
        limit: Most events to list, the newest ones; nothing for all.
    """

    type: str | None = None
    agent: str | None = None
    limit: int | None = None


STREAMS = (
    "SELECT s.id, g.generation, i.agent, i.root, s.path, g.revision FROM generations g "
    "JOIN sources s ON s.id = g.source JOIN instances i ON i.id = s.instance "
)


def events(connection: apsw.Connection, named: Named, choice: Choice) -> EventsAnswer:
    """Events of a session in the order of time, then of source, offset and position in the record.

    Args:
        connection: A reading connection.
        named: The session.
        choice: Which ones.
    """
    chosen = [one for one in _once(of_session(connection, named)) if _is_chosen(one.packed, choice)]
    chosen.sort(key=_order)
    listed = chosen if choice.limit is None else chosen[max(len(chosen) - choice.limit, 0) :]
    turns = Turns(connection)
    return EventsAnswer(
        session_id=named.session_id,
        events=[envelope(one, turns) for one in listed],
        matching=len(chosen),
    )


def _is_chosen(event: PackedEvent, choice: Choice) -> bool:
    if choice.type is None and event.type == _UNKNOWN:
        return False
    if choice.type is not None and WORDS[event.type] != choice.type:
        return False
    return choice.agent is None or event.agent.startswith(choice.agent)


def _order(one: Located) -> tuple[int, str, int, int, int]:
    return (
        one.packed.at,
        one.stream.path,
        one.stream.generation,
        one.packed.offset,
        one.packed.ordinal,
    )


def _streams_of(connection: apsw.Connection, named: Named) -> list[Stream]:
    """Sources that state the session, newer generations first, those of the main thread before others."""
    rows = connection.execute(
        STREAMS
        + "JOIN (SELECT source, generation, max(agent = (SELECT id FROM names WHERE text = ?2)) AS main, "
        "max(last_at) AS last_at FROM participations WHERE session = ?1 GROUP BY source, generation) p "
        "ON p.source = g.source AND p.generation = g.generation "
        "ORDER BY p.main DESC, g.generation DESC, p.last_at DESC, s.path, i.root",
        (named.number, MAIN),
    )
    return [Stream(*row) for row in rows]


def of_session(connection: apsw.Connection, named: Named) -> Iterator[Located]:
    """Events of a session with repetitions, those that win first.

    An event of an older generation whose record also stands in a newer one of the same source is left out.
    """
    newer: dict[int, set[str]] = {}
    for stream in _streams_of(connection, named):
        seen = newer.setdefault(stream.source, set())
        mine: set[str] = set()
        for one in in_stream(connection, stream):
            packed = one.packed
            if packed.session != named.session_id or (packed.uuid and packed.uuid in seen):
                continue
            mine.add(packed.uuid)
            yield one
        seen |= mine


def _once(found: Iterable[Located]) -> Iterator[Located]:
    """The first event of each id: records that were copied within their session are one occurrence."""
    seen: set[str] = set()
    for one in found:
        if one.id not in seen:
            seen.add(one.id)
            yield one


def in_stream(
    connection: apsw.Connection, stream: Stream, *, descending: bool = False
) -> Iterator[Located]:
    """Events of one generation of a source, in the order of their offsets or segment by segment from the end."""
    order = "DESC" if descending else "ASC"
    for segment, body in connection.execute(
        f"SELECT segment, body FROM event_segments WHERE source = ? AND generation = ? ORDER BY segment {order}",
        (stream.source, stream.generation),
    ):
        try:
            packed = unpack_events(body)
        except BROKEN as error:
            raise Damaged(
                f"the database is damaged: segment {segment} of {stream.path} cannot be unpacked"
            ) from error
        for event in packed:
            yield Located(identity(event, stream), event, stream)


def identity(event: PackedEvent, stream: Stream) -> str:
    """Id of an event of a stream."""
    place = "" if event.uuid else place_of(stream.path, stream.generation, event.offset)
    return event_id(
        stream.adapter,
        event.session,
        event.uuid,
        place,
        kind=WORDS[event.type],
        ordinal=event.ordinal,
    )


class Turns:
    """Ids of turns by the offset of their opening record."""

    def __init__(self, connection: apsw.Connection) -> None:
        """Prepare to look up.

        Args:
            connection: A reading connection.
        """
        self._connection = connection
        self._known: dict[tuple[int, int], dict[int, str]] = {}

    def id(self, stream: Stream, offset: int) -> str | None:
        """Id of the record that opened a turn; nothing outside any turn, or when the record has none."""
        if offset < 0:
            return None
        key = (stream.source, stream.generation)
        if key not in self._known:
            self._known[key] = dict(
                self._connection.execute(
                    "SELECT offset, uuid FROM turns WHERE source = ? AND generation = ?", key
                )
            )
        return self._known[key].get(offset) or None


def envelope(one: Located, turns: Turns) -> Event:
    """An event in its envelope (DESIGN section 5).

    Args:
        one: The event.
        turns: Looks up turns.
    """
    packed, stream = one.packed, one.stream
    kind = EventType(packed.type)
    origin = "adapter" if packed.origin == ADAPTER else "source"
    return Event(
        event_id=one.id,
        event_type=kind.word,
        occurred_at=time_of(packed.at),
        timestamp_origin=origin if packed.at else None,
        session_id=packed.session,
        turn_id=turns.id(stream, packed.turn),
        agent_id=packed.agent,
        source=EventSource(
            adapter=stream.adapter,
            adapter_version=stream.revision,
            record_locator=Locator(
                root=stream.root,
                path=stream.path,
                generation=stream.generation,
                offset=packed.offset,
                length=packed.length,
            ),
            source_event_id=known(packed.uuid),
        ),
        evidence=_evidence(kind, packed),
        payload=Payload(
            subject=known(packed.subject),
            name=known(packed.name),
            summary=known(packed.summary),
            amount=not_negative(packed.amount),
            unit=_unit(kind, packed),
        ),
    )


def _evidence(kind: EventType, packed: PackedEvent) -> Evidence:
    basis = _DERIVED.get(kind)
    if kind is EventType.TURN_STARTED and packed.name == "unknown":
        basis = "records of a turn whose prompt was never written"
    elif kind is EventType.SKILL_ACTIVATED and packed.name == "slash_command":
        basis = "the Skill's text follows a command that was typed"
    grade = Grade.OBSERVED if basis is None else Grade.DERIVED
    return Evidence(grade=grade.word, confidence=1.0, basis=basis or "the record itself")


def _unit(kind: EventType, packed: PackedEvent) -> str | None:
    if packed.amount < 0:
        return None
    if kind in _TIMED:
        return "microseconds"
    return "tokens" if kind in _COUNTED else None
