"""Answers about events: the envelope of DESIGN section 5."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from stemma.store.answers.moment import Time


class Locator(Struct, kw_only=True):
    """Where a record stands.

    Attributes:
        root: Folder of the transcripts.
        path: Source inside it.
        generation: Generation of the source's bytes; 0 the first, one more for each time it was found rewritten.
        offset: Byte offset of the record.
        length: Length of the record.
    """

    root: str
    path: str
    generation: int
    offset: int
    length: int


class EventSource(Struct, kw_only=True):
    """What an event was read from.

    Attributes:
        adapter: Adapter that read the record.
        adapter_version: Its revision.
        record_locator: Where the record stands.
        source_event_id: The record's own id.
    """

    adapter: str
    adapter_version: int
    record_locator: Locator
    source_event_id: str | None


class Evidence(Struct, kw_only=True):
    """How sure an event is.

    Attributes:
        grade: ``observed``, or ``derived`` when the event follows from records rather than being one.
        confidence: 1 for observed and derived events.
        basis: What it rests on, in words.
    """

    grade: str
    confidence: float
    basis: str


class Payload(Struct, kw_only=True):
    """What an event says.

    Attributes:
        subject: What it is about: a tool-use id, an agent id, a skill, a path.
        name: Tool name, skill name, trigger or kind, as the type asks.
        summary: Short redacted text.
        amount: A number where the type has one.
        unit: What the number counts: ``microseconds`` or ``tokens``.
    """

    subject: str | None
    name: str | None
    summary: str | None
    amount: int | None
    unit: str | None


class Event(Struct, kw_only=True):
    """One normalized event.

    Attributes:
        event_id: Deterministic id.
        event_type: One of the closed set, such as ``tool.completed``.
        occurred_at: Time.
        timestamp_origin: ``source`` when the record states it, ``adapter`` when it was carried forward from the record
            before; nothing without a time.
        session_id: Session that the record states.
        turn_id: Id of the record that opened the turn.
        agent_id: ``main`` or an agent id.
        source: What it was read from.
        evidence: How sure it is.
        payload: What it says.
    """

    event_id: str
    event_type: str
    occurred_at: Time | None
    timestamp_origin: str | None
    session_id: str
    turn_id: str | None
    agent_id: str
    source: EventSource
    evidence: Evidence
    payload: Payload


class EventsAnswer(Struct, kw_only=True):
    """What ``stemma events`` answers.

    Attributes:
        session_id: The session.
        events: In the order of time, then of source, offset and position in the record.
        matching: How many there are; more than are listed when a limit cut the oldest.
    """

    session_id: str
    events: list[Event]
    matching: int


class Shown(Struct, kw_only=True):
    """What ``stemma show`` answers.

    Attributes:
        event: The event.
        raw_state: ``read``, ``source removed``, ``source rewritten`` or ``unreadable``.
        raw_detail: Why the record could not be read back.
        raw: The record, redacted.
    """

    event: Event
    raw_state: str
    raw_detail: str | None = None
    raw: Any = None
