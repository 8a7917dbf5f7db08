"""Token usage: what one record says of one response, as a claim, and the counted request that claims add up to."""

from __future__ import annotations

from msgspec import Struct

BUCKETS = ("input", "output", "cache_write_5m", "cache_write_1h", "cache_read")
"""The five token buckets, in the order in which they are stored and printed."""

LARGEST_PLAUSIBLE = 10_000_000
"""A counter above this, or below zero, is an anomaly: listed, not in totals (ACCOUNTING rule 9)."""

LARGEST_STORED = 1 << 53
"""Numbers of a greater magnitude are stored as this one: no field means them, and every format and sum can hold it."""

SYNTHETIC_MODEL = "<synthetic>"
"""The model id of messages that the agent makes up itself: neither calls nor models."""


class Part(Struct, frozen=True, array_like=True, gc=False):
    """Tokens of one billed pass inside a response that the top level does not include (ACCOUNTING rule 6).

    Attributes:
        kind: ``advisor`` or ``compaction``.
        model: The pass's own model, or empty when the record leaves it out.
        input: Uncached input tokens.
        output: Output tokens.
        cache_write_5m: Tokens written to the five-minute cache.
        cache_write_1h: Tokens written to the one-hour cache.
        cache_read: Tokens read from a cache.
        implausible: A counter of the pass was an anomaly, which says nothing of the response itself.
    """

    kind: str
    model: str
    input: int
    output: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int
    implausible: bool = False


class UsageClaim(Struct, gc=False):
    """All that the records of one source say alike of one response (ACCOUNTING, identity rule).

    Records of one source that agree in everything the rule can tell apart are one claim; it carries their best values,
    by the rule's own order, and the first time.

    Attributes:
        message_id: Id of the API message; the record's uuid or locator where there is none.
        request_id: Id of the API request, or empty.
        uuid: Uuid of the claim's first record, or empty.
        offset: Offset of the first record.
        winner_offset: Offset of the record whose values these are.
        at: First time of any record of the claim, microseconds; 0 when unknown.
        session: Session that the record states.
        agent: ``main`` or the agent whose transcript holds the record.
        sidechain: Whether the record is on a sidechain.
        via: ``transcript``; ``progress`` (embedded by an old client) counts only while no transcript holds the id;
            ``search`` carries nothing but a web-search count that the result of the call ``uuid`` stated.
        model: Model of the response.
        input: Uncached input tokens.
        output: Output tokens.
        cache_write_5m: Tokens written to the five-minute cache.
        cache_write_1h: Tokens written to the one-hour cache.
        cache_read: Tokens read from a cache.
        web_searches: Largest web-search counter seen.
        speed: ``fast`` or ``standard`` as served, or empty.
        tier: Service tier as served, or empty.
        geo: Inference geography as served, or empty.
        largest_input: Largest prompt of a single iteration, which decides the long-context tier; 0 when not stated.
        stop_reason: Stop reason of the winner, or empty.
        version: Client version that wrote the winner.
        skill: Skill that the client attributes the response to, or empty.
        tool_server: MCP server that the client attributes the response to, or empty.
        recorded_nano_usd: Cost that the client recorded itself, in nano-dollars; -1 for none.
        flags: Bit set of ``FLAG_*``.
        records: Number of records.
        declared_session: Session that the record names as the one that made the request, or empty.
        parts: Extra billed passes of the winner.
        winner_at: Time of the winning record, which decides ties; 0 when unknown.
    """

    message_id: str
    request_id: str
    uuid: str
    offset: int
    winner_offset: int
    at: int
    session: str
    agent: str
    sidechain: bool
    via: str
    model: str
    input: int
    output: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int
    web_searches: int = 0
    speed: str = ""
    tier: str = ""
    geo: str = ""
    largest_input: int = 0
    stop_reason: str = ""
    version: str = ""
    skill: str = ""
    tool_server: str = ""
    recorded_nano_usd: int = -1
    flags: int = 0
    records: int = 1
    declared_session: str = ""
    parts: tuple[Part, ...] = ()
    winner_at: int = 0

    @property
    def total(self) -> int:
        """All tokens of the claim, every bucket."""
        return (
            self.input + self.output + self.cache_write_5m + self.cache_write_1h + self.cache_read
        )


FLAG_PLACEHOLDER_INPUT = 1
"""Input was null or a placeholder (0 or 1): a gateway's claim then joins the only other request of its id."""
FLAG_ANOMALY = 2
"""A counter was negative or implausibly large: listed, not in totals."""
FLAG_BREAKDOWN_EXCEEDS = 4
"""The cache-write breakdown exceeded the flat total, and was trusted (ACCOUNTING rule 5)."""
FLAG_NO_MESSAGE_ID = 8
"""The record had no message id; its uuid or locator stands in."""
FLAG_ABORTED = 16
"""The stream ended early, or no usage was written: the output count is a floor."""
FLAG_API_ERROR = 32
"""The client's own message about a failed call."""


def merge_key(claim: UsageClaim) -> tuple[str, ...]:
    """What the identity rule can tell claims of one source apart by; claims with one key are stored as one.

    A claim without a request id keeps its uuid in the key, because gateway ids are told apart by shared uuids.
    """
    return (
        claim.message_id,
        claim.session,
        claim.agent,
        f"{claim.sidechain:d}{claim.via}",
        "" if claim.request_id else f"-{claim.uuid}",
        f"{claim.input},{claim.cache_write_5m + claim.cache_write_1h},{claim.cache_read},{claim.flags & 15}",
    )


def better(one: UsageClaim, other: UsageClaim, /) -> bool:
    """Whether ``one`` wins over ``other`` inside one merge key: most output, largest total, then the earliest record."""
    left = (one.output, one.total, -(one.winner_at or _FOREVER), -one.winner_offset)
    return left > (other.output, other.total, -(other.winner_at or _FOREVER), -other.winner_offset)


_FOREVER = 1 << 62


def merged(one: UsageClaim, other: UsageClaim, /) -> UsageClaim:
    """The union of two claims with one merge key: the winner taken whole, with the first time and locator of both.

    What records of one response state alike (request, session, skill, server) is that of the first that states it.
    Associative and commutative; idempotent but for ``records``, which the caller adds up over distinct records.
    """
    winner = one if better(one, other) else other
    first, second = (one, other) if one.offset <= other.offset else (other, one)
    records = one.records + other.records
    searches = max(one.web_searches, other.web_searches)
    winner.at = min((t for t in (one.at, other.at) if t), default=0)
    winner.request_id = first.request_id or second.request_id
    winner.declared_session = first.declared_session or second.declared_session
    winner.skill = first.skill or second.skill
    winner.tool_server = first.tool_server or second.tool_server
    winner.offset, winner.uuid = first.offset, first.uuid
    winner.records = records
    if winner.via != "search":  # there the first value of a call wins, here the largest counter
        winner.web_searches = searches
    return winner
