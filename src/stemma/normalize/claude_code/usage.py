"""Usage claims from response records (ACCOUNTING section 1)."""

from __future__ import annotations

import hashlib

from stemma.model.usage import (
    FLAG_ABORTED,
    FLAG_ANOMALY,
    FLAG_API_ERROR,
    FLAG_BREAKDOWN_EXCEEDS,
    FLAG_NO_MESSAGE_ID,
    FLAG_PLACEHOLDER_INPUT,
    LARGEST_PLAUSIBLE,
    LARGEST_STORED,
    Part,
    UsageClaim,
)
from stemma.normalize.claude_code.context import Context
from stemma.normalize.claude_code.records import Count, Iteration, Message, Record, Usage

_PART_KINDS = {"advisor_message": "advisor", "compaction": "compaction"}
_PRIMARY = ("message", None, "")


class _Tally:
    """Counters turned into integers, with what was odd about them (ACCOUNTING rule 9)."""

    __slots__ = ("flags",)

    def __init__(self) -> None:
        self.flags = 0

    def whole(self, value: Count) -> int:
        """An integer from an integer, an integral float, a numeric string or null; anything else is an anomaly."""
        if type(value) is int:
            number = value
        elif value is None:
            return 0
        else:
            number = self._converted(value)
        if number < 0 or number > LARGEST_PLAUSIBLE:
            self.flags |= FLAG_ANOMALY
            return max(min(number, LARGEST_STORED), -LARGEST_STORED)
        return number

    def _converted(self, value: float | str) -> int:
        try:
            number = float(value)
            whole = (
                int(value)
                if isinstance(value, str) and value.strip().lstrip("+-").isdigit()
                else int(number)
            )
        except (ValueError, OverflowError):
            self.flags |= FLAG_ANOMALY
            return 0
        if number != whole:
            self.flags |= FLAG_ANOMALY
        return whole


def claim_usage(
    context: Context, record: Record, message: Message, via: str = "transcript", uuid: str = ""
) -> None:
    """Add the usage claim of one response record.

    Args:
        context: The record at hand.
        record: It, or the record that an old client embedded in a progress record.
        message: Its API message.
        via: ``transcript`` or ``progress``.
        uuid: Uuid to use instead of the record's.
    """
    usage = message.usage or Usage()
    tally = _Tally()
    whole = tally.whole
    fresh = whole(usage.input_tokens)
    output = whole(usage.output_tokens)
    read = whole(usage.cache_read_input_tokens)
    flat = whole(usage.cache_creation_input_tokens)
    five, hour = _cache_writes(tally, flat, usage)
    if fresh <= 1:
        tally.flags |= FLAG_PLACEHOLDER_INPUT
    if record.isAbortedMidStream or message.usage is None:
        tally.flags |= FLAG_ABORTED
    if record.isApiErrorMessage:
        tally.flags |= FLAG_API_ERROR
    identity = message.id
    if not identity:
        identity = record.uuid or f"sha256:{hashlib.sha256(context.line).hexdigest()[:32]}"
        tally.flags |= FLAG_NO_MESSAGE_ID
    searches = (
        whole(usage.server_tool_use.web_search_requests) if usage.server_tool_use is not None else 0
    )
    iterations = usage.iterations
    claim = UsageClaim(
        identity, record.requestId or "", uuid or context.uuid, context.offset, context.offset,
        context.at if context.own_time else 0, context.session, context.agent, bool(record.isSidechain), via,
        message.model or "", fresh, output, five, hour, read, searches,
        usage.speed or "", usage.service_tier or "", usage.inference_geo or "",
        _largest(iterations) if iterations else 0,
        message.stop_reason or "", record.version or "", record.attributionSkill or "",
        record.attributionMcpServer or "", _nano(record.costUSD), 0, 1, record.requestSessionId or "",
        _parts(iterations) if iterations else (),
    )  # fmt: skip
    claim.flags = tally.flags
    claim.winner_at = claim.at
    context.out.usage.append(claim)


def claim_searches(context: Context, message_id: str, tool_use: str, searches: int) -> None:
    """A web-search count that the result of one call states for the response that called (ACCOUNTING rule 7)."""
    context.out.usage.append(
        UsageClaim(
            message_id, "", tool_use, context.offset, context.offset, context.at if context.own_time else 0,
            context.session, context.agent, False, "search",
            "", 0, 0, 0, 0, 0, searches,
        )
    )  # fmt: skip


def _cache_writes(tally: _Tally, flat: int, usage: Usage) -> tuple[int, int]:
    """Five-minute and one-hour cache writes (ACCOUNTING rule 5)."""
    split = usage.cache_creation
    if split is None:
        return flat, 0
    five = tally.whole(split.ephemeral_5m_input_tokens)
    hour = tally.whole(split.ephemeral_1h_input_tokens)
    missing = flat - five - hour
    if missing > 0:
        five += missing
    elif missing < 0 and usage.cache_creation_input_tokens is not None:
        tally.flags |= FLAG_BREAKDOWN_EXCEEDS
    return five, hour


def _parts(iterations: list[Iteration]) -> tuple[Part, ...]:
    parts = []
    for one in iterations:
        kind = _PART_KINDS.get(one.type or "")
        if kind is None:
            continue
        tally = _Tally()
        as_usage = Usage(
            cache_creation_input_tokens=one.cache_creation_input_tokens,
            cache_creation=one.cache_creation,
        )
        five, hour = _cache_writes(tally, tally.whole(one.cache_creation_input_tokens), as_usage)
        parts.append(
            Part(
                kind, one.model or "", tally.whole(one.input_tokens), tally.whole(one.output_tokens),
                five, hour, tally.whole(one.cache_read_input_tokens), bool(tally.flags & FLAG_ANOMALY),
            )
        )  # fmt: skip
    return tuple(parts)


def _largest(iterations: list[Iteration]) -> int:
    """Prompt of the largest single primary iteration, all input kinds together; absurd ones are passed over."""
    largest = 0
    for one in iterations:
        if one.type in _PRIMARY:
            tally = _Tally()
            prompt = (
                tally.whole(one.input_tokens)
                + tally.whole(one.cache_creation_input_tokens)
                + tally.whole(one.cache_read_input_tokens)
            )
            largest = largest if tally.flags else max(largest, prompt)
    return largest


def _nano(dollars: Count) -> int:
    """Dollars that a client recorded, as nano-dollars; -1 when it recorded none."""
    if dollars is None:
        return -1
    try:
        nano = round(float(dollars) * 1_000_000_000)
    except (ValueError, OverflowError):
        return -1
    return nano if 0 <= nano <= LARGEST_STORED else -1
