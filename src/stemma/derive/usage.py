"""The identity rule: which claims are one request, which wins, who owns it (ACCOUNTING section 1). One rule, in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct

from stemma.model.evidence import Grade
from stemma.model.usage import (
    FLAG_ABORTED,
    FLAG_ANOMALY,
    FLAG_BREAKDOWN_EXCEEDS,
    FLAG_PLACEHOLDER_INPUT,
    SYNTHETIC_MODEL,
    UsageClaim,
)

TINY_OUTPUT = 10
"""A response without a stop reason and with at most this many output tokens is incomplete (ACCOUNTING rule 8)."""

STATE_INCOMPLETE = 1
STATE_ANOMALY = 2
STATE_SPLIT = 4
STATE_SHARED = 8
STATE_OWNER_INFERRED = 16
STATE_BREAKDOWN = 32
STATE_SYNTHETIC = 64

_FOREVER = 1 << 62


class SourcedUsage(NamedTuple):
    """A usage claim and the source that states it.

    Attributes:
        source: Stable name of the source.
        generation: Generation of its bytes.
        claim: The claim.
    """

    source: str
    generation: int
    claim: UsageClaim


class SessionTimes(NamedTuple):
    """What ownership may depend on.

    Attributes:
        started_at: Earliest time of any record of the session; 0 unknown.
        first_own_at: Earliest response that no other session holds; 0 when every one is shared.
    """

    started_at: int
    first_own_at: int


class CountedRequest(Struct, frozen=True, gc=False):
    """One request, or one extra billed part of it, as it is counted.

    Attributes:
        message_id: Its id.
        request: 0, or a number where one gateway id stands for several requests.
        part: 0 for the response itself, then one number per extra part.
        part_kind: ``message``, ``advisor``, ``compaction``, or ``anomaly``: an implausible record beside the one that counts.
        session: Owner.
        agent: Agent of the owner whose transcript holds the winning claim.
        model: Model; empty when no record states it.
        first_at: Time of the first claim; decides the day.
        input: Uncached input tokens.
        output: Output tokens.
        cache_write_5m: Tokens written to the five-minute cache.
        cache_write_1h: Tokens written to the one-hour cache.
        cache_read: Tokens read from a cache.
        web_searches: Web searches.
        largest_input: Prompt of the largest single iteration, 0 when not stated.
        speed: Speed as served.
        tier: Service tier as served.
        geo: Inference geography as served.
        skill: Skill it is attributed to by its records.
        tool_server: MCP server it is attributed to by its records.
        recorded_nano_usd: Cost that the client recorded, -1 for none.
        state: Bit set of ``STATE_*``.
        source: Stable name of the winning record's source.
        generation: Its generation.
        offset: Offset of the winning record.
        records: Records read for it.
    """

    message_id: str
    request: int
    part: int
    part_kind: str
    session: str
    agent: str
    model: str
    first_at: int
    input: int
    output: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int
    web_searches: int
    largest_input: int
    speed: str
    tier: str
    geo: str
    skill: str
    tool_server: str
    recorded_nano_usd: int
    state: int
    source: str
    generation: int
    offset: int
    records: int


class Counted(NamedTuple):
    """What the claims of one message id add up to.

    Attributes:
        requests: Counted rows, without those of other message ids.
        holders: Owner of the id for each session that holds it, when more than one does.
        declared: Sessions that say themselves which session made the request, where it is another one.
    """

    requests: list[CountedRequest]
    holders: dict[str, str]
    declared: dict[str, str]


def count(claims: list[SourcedUsage], times: Callable[[str], SessionTimes]) -> Counted:
    """Apply the identity rule to all claims of one message id.

    Args:
        claims: Every claim of the id, in any order, with any repetition.
        times: Looks up a session's times; asked only when several sessions hold the id.
    """
    if len(claims) == 1 and claims[0].claim.via != "search":
        return Counted(_only(claims[0]), {}, {})
    claims = list({(c.source, c.generation, c.claim.offset): c for c in claims}.values())
    searches = _searches([c for c in claims if c.claim.via == "search"])
    held = [c for c in claims if c.claim.via == "transcript"] or [
        c for c in claims if c.claim.via == "progress"
    ]
    if not held:
        return Counted([], {}, {})
    held.sort(key=_locator)
    groups = _requests(held)
    requests: list[CountedRequest] = []
    holders: dict[str, str] = {}
    declared: dict[str, str] = {}
    for number, group in enumerate(groups):
        owner = _owner(group, times)
        sessions = {c.claim.session for c in group}
        if len(sessions) > 1:
            holders.update(dict.fromkeys(sessions, owner.session))
            declared.update(_declared(group))
        requests.extend(_counted(group, owner, number, searches, split=len(groups) > 1))
    return Counted(requests, holders, declared)


def _searches(stated: list[SourcedUsage]) -> int:
    """What the results of a response's calls say: of each call the first value seen (ACCOUNTING rule 7)."""
    stated.sort(key=lambda one: (one.claim.at or _FOREVER, _locator(one)))
    first: dict[str, int] = {}
    for one in stated:
        first.setdefault(one.claim.uuid, one.claim.web_searches)
    return sum(first.values())


def _locator(one: SourcedUsage) -> tuple[str, int, int, int]:
    return (one.source, one.generation, one.claim.winner_offset, one.claim.offset)


def _declared(group: list[SourcedUsage]) -> dict[str, str]:
    return {
        c.claim.session: c.claim.declared_session
        for c in group
        if c.claim.declared_session and c.claim.declared_session != c.claim.session
    }


def _requests(held: list[SourcedUsage]) -> list[list[SourcedUsage]]:
    """Claims that are one request each; more than one only for gateway ids."""
    if len(held) == 1 or any(c.claim.request_id for c in held):
        return [held]
    sound = [c for c in held if not c.claim.flags & FLAG_ANOMALY]
    stated = _linked([c for c in sound if not c.claim.flags & FLAG_PLACEHOLDER_INPUT])
    floating = _linked([c for c in sound if c.claim.flags & FLAG_PLACEHOLDER_INPUT])
    groups = stated + floating
    if len(stated) == 1 or len(groups) <= 2 - len(stated):
        return [held]
    groups.extend([c] for c in held if c.claim.flags & FLAG_ANOMALY)
    for group in groups:
        group.sort(key=_locator)
    groups.sort(key=lambda group: (min(c.claim.at or _FOREVER for c in group), _locator(group[0])))
    return groups


def _linked(claims: list[SourcedUsage]) -> list[list[SourcedUsage]]:
    groups: list[list[SourcedUsage]] = []
    for one in claims:
        joined = [group for group in groups if any(_same_request(one, other) for other in group)]
        groups = [group for group in groups if group not in joined]
        groups.append([one, *(c for group in joined for c in group)])
    return groups


def _same_request(one: SourcedUsage, other: SourcedUsage) -> bool:
    a, b = one.claim, other.claim
    equal = (a.input, a.cache_write_5m + a.cache_write_1h, a.cache_read) == (
        b.input, b.cache_write_5m + b.cache_write_1h, b.cache_read,
    )  # fmt: skip
    copied = (a.uuid and a.uuid == b.uuid) or (a.at and a.at == b.at)
    return equal and bool(a.session == b.session or copied)


class _Owner(NamedTuple):
    session: str
    grade: Grade


def _owner(group: list[SourcedUsage], times: Callable[[str], SessionTimes]) -> _Owner:
    """The session of the earliest claim, with the rule's ties."""
    firsts: dict[str, int] = {}
    for one in group:
        at = one.claim.at or _FOREVER
        session = one.claim.session
        firsts[session] = min(firsts.get(session, _FOREVER), at)
    if len(firsts) == 1:
        return _Owner(next(iter(firsts)), Grade.DERIVED)
    declared = _declared(group)
    # A record that names another session as the one that made the request is a copy by its own word; DESIGN's rule does
    # not know the field, so it decides only where times cannot.
    keys = {}
    for session, at in firsts.items():
        known = times(session)
        keys[session] = (at, known.started_at or _FOREVER, session in declared, known.first_own_at != 0,
                         known.first_own_at, session)  # fmt: skip
    ordered = sorted(firsts, key=lambda session: keys[session])
    first, second = keys[ordered[0]], keys[ordered[1]]
    inferred = first[:4] == second[:4]
    return _Owner(ordered[0], Grade.INFERRED if inferred else Grade.DERIVED)


def _preference(one: SourcedUsage) -> tuple[bool, int, int, int, tuple[str, int, int, int]]:
    """Order in which claims win; the least is the winner."""
    claim = one.claim
    return (
        claim.sidechain,
        -claim.output,
        -claim.total,
        claim.winner_at or _FOREVER,
        _locator(one),
    )


def _counted(
    group: list[SourcedUsage], owner: _Owner, number: int, searches: int, *, split: bool
) -> list[CountedRequest]:
    sound = [c for c in group if not c.claim.flags & FLAG_ANOMALY] or group
    winner = min(sound, key=_preference)
    claim = winner.claim
    mine = min(
        (c for c in sound if c.claim.session == owner.session), key=_preference, default=None
    )
    agent = (
        mine.claim.agent
        if mine is not None
        else next(c.claim.agent for c in group if c.claim.session == owner.session)
    )
    state = (
        STATE_ANOMALY * bool(claim.flags & FLAG_ANOMALY)
        | STATE_BREAKDOWN * bool(claim.flags & FLAG_BREAKDOWN_EXCEEDS)
        | STATE_SPLIT * split
        | STATE_SHARED * (len({c.claim.session for c in group}) > 1)
        | STATE_OWNER_INFERRED * (owner.grade is Grade.INFERRED)
        | STATE_SYNTHETIC * (claim.model == SYNTHETIC_MODEL)
        | STATE_INCOMPLETE * _incomplete(claim)
    )
    first_at = min((c.claim.at for c in group if c.claim.at), default=0)
    row = CountedRequest(
        claim.message_id, number, 0, "message", owner.session, agent, claim.model, first_at, claim.input, claim.output,
        claim.cache_write_5m, claim.cache_write_1h, claim.cache_read,
        max(c.claim.web_searches for c in group) or (searches if number == 0 else 0),
        claim.largest_input, claim.speed, claim.tier, claim.geo,
        claim.skill or next((c.claim.skill for c in group if c.claim.skill), ""),
        claim.tool_server or next((c.claim.tool_server for c in group if c.claim.tool_server), ""),
        max(c.claim.recorded_nano_usd for c in group), state, winner.source, winner.generation, claim.winner_offset,
        sum(c.claim.records for c in group),
    )  # fmt: skip
    odd = [c for c in group if c.claim.flags & FLAG_ANOMALY and c is not winner]
    return [row, *_parts(row, claim), *_anomalies(row, odd, len(claim.parts) + 1)]


def _anomalies(
    row: CountedRequest, odd: list[SourcedUsage], first_part: int
) -> list[CountedRequest]:
    """Rows of the implausible records beside the one that counts: listed, in no total (ACCOUNTING rule 9)."""
    return [
        CountedRequest(
            row.message_id, row.request, number, "anomaly", row.session, row.agent, one.claim.model, one.claim.at,
            one.claim.input, one.claim.output, one.claim.cache_write_5m, one.claim.cache_write_1h, one.claim.cache_read,
            0, 0, "", "", "", "", "", -1, STATE_ANOMALY | row.state & STATE_SHARED, one.source, one.generation, one.claim.winner_offset, 0,
        )
        for number, one in enumerate(sorted(odd, key=_locator), start=first_part)
    ]  # fmt: skip


def _only(one: SourcedUsage) -> list[CountedRequest]:
    """What ``_counted`` says of a request with a single claim, which nearly all have."""
    claim = one.claim
    flags, state = claim.flags, 0
    if claim.model == SYNTHETIC_MODEL:
        state = STATE_SYNTHETIC
    elif not claim.stop_reason and claim.output <= TINY_OUTPUT:
        state = STATE_INCOMPLETE
    if flags:
        state |= (
            STATE_ANOMALY * bool(flags & FLAG_ANOMALY)
            | STATE_BREAKDOWN * bool(flags & FLAG_BREAKDOWN_EXCEEDS)
            | STATE_INCOMPLETE * _incomplete(claim)
        )
    row = CountedRequest(
        claim.message_id, 0, 0, "message", claim.session, claim.agent, claim.model, claim.at, claim.input, claim.output,
        claim.cache_write_5m, claim.cache_write_1h, claim.cache_read, claim.web_searches, claim.largest_input,
        claim.speed, claim.tier, claim.geo, claim.skill, claim.tool_server, claim.recorded_nano_usd, state, one.source,
        one.generation, claim.winner_offset, claim.records,
    )  # fmt: skip
    return [row, *_parts(row, claim)] if claim.parts else [row]


def _incomplete(claim: UsageClaim) -> bool:
    if claim.model == SYNTHETIC_MODEL:
        return False
    return bool(claim.flags & FLAG_ABORTED) or (
        not claim.stop_reason and claim.output <= TINY_OUTPUT
    )


def _parts(row: CountedRequest, claim: UsageClaim) -> list[CountedRequest]:
    """Rows of the extra billed passes; only the response itself counts as a response."""
    return [
        CountedRequest(
            row.message_id, row.request, number, part.kind, row.session, row.agent, part.model or row.model,
            row.first_at, part.input, part.output, part.cache_write_5m, part.cache_write_1h, part.cache_read, 0, 0,
            row.speed, row.tier, row.geo, row.skill, row.tool_server, -1,
            row.state & ~STATE_INCOMPLETE | STATE_ANOMALY * part.implausible, row.source, row.generation, row.offset, 0,
        )
        for number, part in enumerate(claim.parts, start=1)
    ]  # fmt: skip
