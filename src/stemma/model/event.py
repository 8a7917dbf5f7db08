"""Normalized events: the closed set of types, and the packed form in which a source's events are kept."""

from __future__ import annotations

from enum import IntEnum

from msgspec import Struct

ADAPTER = 1
"""``PackedEvent.origin`` when the record had no time of its own and the adapter carried the last one forward."""


class EventType(IntEnum):
    """The closed set of DESIGN section 5; the number is what is stored, so numbers never change.

    ``RECORD_UNKNOWN`` is no event: it keeps a record of an unknown type reachable and is left out of every timeline.
    """

    RECORD_UNKNOWN = 0
    SESSION_STARTED = 1
    SESSION_ENDED = 2
    SESSION_COMPACTED = 3
    CONTEXT_COMPACTION_STARTED = 4
    CONTEXT_COMPACTION_COMPLETED = 5
    TURN_STARTED = 6
    TURN_COMPLETED = 7
    TURN_FAILED = 8
    SKILL_DISCOVERED = 9
    SKILL_DISCOVERY_FAILED = 10
    SKILL_ACTIVATED = 11
    SKILL_ACTIVATION_COMPLETED = 12
    SKILL_ACTIVATION_FAILED = 13
    SKILL_DEACTIVATED = 14
    INSTRUCTION_LOADED = 15
    RESOURCE_READ = 16
    RESOURCE_EXECUTED = 17
    RESOURCE_MISSING = 18
    RESOURCE_LOAD_FAILED = 19
    TOOL_REQUESTED = 20
    TOOL_STARTED = 21
    TOOL_COMPLETED = 22
    TOOL_FAILED = 23
    TOOL_DENIED = 24
    SUBAGENT_STARTED = 25
    SUBAGENT_COMPLETED = 26
    SUBAGENT_FAILED = 27
    FILE_READ = 28
    FILE_CREATED = 29
    FILE_MODIFIED = 30
    FILE_DELETED = 31
    ARTIFACT_PRODUCED = 32
    ARTIFACT_INSPECTED = 33
    OUTCOME_REPORTED = 34
    OUTCOME_VERIFIED = 35
    OUTCOME_UNKNOWN = 36
    SKILL_CONSIDERED = 37

    @property
    def word(self) -> str:
        """The namespaced name, such as ``tool.completed``."""
        namespace, _, rest = self.name.partition("_")
        return f"{namespace.lower()}.{rest.lower()}"


class PackedEvent(Struct, array_like=True, gc=False):
    """One event as it is stored inside a segment of its source.

    Attributes:
        offset: Byte offset of the record in its source; with ``ordinal`` it is the event's key.
        length: Length of the record in bytes, without its newline.
        ordinal: Position among the events of one record.
        type: Number of the ``EventType``.
        at: Time in microseconds since 1970, UTC; 0 when no record so far had one.
        origin: 0 when ``at`` is the record's own time, ``ADAPTER`` when it was carried forward.
        session: Upstream session id that the record states.
        agent: ``main`` or an agent id.
        turn: Offset of the record that opened the turn, or -1 outside any turn.
        uuid: The record's own id, or empty.
        subject: What the event is about: a tool-use id, an agent id, a skill, a path.
        name: Tool name, skill name, trigger or kind, as the type asks.
        summary: Short redacted text.
        amount: A number where the type has one: microseconds of duration, bytes, tokens; -1 for none.
    """

    offset: int
    length: int
    ordinal: int
    type: int
    at: int
    origin: int
    session: str
    agent: str
    turn: int
    uuid: str
    subject: str = ""
    name: str = ""
    summary: str = ""
    amount: int = -1
