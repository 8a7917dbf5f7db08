"""The figures of the agent's status line: its own input, and what the record says of it."""

from __future__ import annotations

import os
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from stemma.derive.cost.blocks import Block, blocks
from stemma.derive.cost.book import PriceBook
from stemma.derive.cost.price import Total, price, total
from stemma.store.limits import Limit, Limits, keep, latest, limits_file
from stemma.store.sqlite.read_status import Glance, glance

_SECOND = 1_000_000


class _Window(Struct):
    used_percentage: float | None = None


class _Limit(Struct):
    used_percentage: float | None = None
    resets_at: float | str | None = None


class _RateLimits(Struct):
    five_hour: _Limit | None = None
    seven_day: _Limit | None = None


class Input(Struct):
    """What the agent tells its status line; everything else is skipped, and nothing is required.

    Attributes:
        session_id: Its session.
        transcript_path: The session's transcript.
        context_window: How full the context is.
        rate_limits: The plan's limits.
    """

    session_id: str | None = None
    transcript_path: str | None = None
    context_window: _Window | None = None
    rate_limits: _RateLimits | None = None


class Standing(NamedTuple):
    """What a status line shows; nothing stands for unknown.

    Attributes:
        session: The whole session, all its days and agents.
        today: Everything since the day began.
        block: The block that now is in.
        is_floor: The transcript goes on where the record ends, so that there is more than is known.
        limits: The plan's limits; official, so to be preferred to the block.
        context: Percentage of the context in use.
    """

    session: Total | None
    today: Total | None
    block: Block | None
    is_floor: bool
    limits: Limits | None
    context: float | None


def read_input(data: bytes) -> Input:
    """The agent's input; what cannot be understood says nothing."""
    try:
        return msgspec.json.decode(data, type=Input)
    except msgspec.DecodeError:
        pass
    try:  # one odd field does not cost the others
        given = msgspec.json.decode(data, type=dict[str, object])
    except msgspec.DecodeError:
        return Input()
    sound = {}
    for field in msgspec.structs.fields(Input):
        try:
            sound[field.name] = msgspec.convert(given.get(field.name), field.type)
        except msgspec.ValidationError:
            continue
    return Input(**sound)


def standing(
    given: Input, database: Path, book: PriceBook, *, zone: tzinfo | None, now: int
) -> Standing:
    """Where an agent stands.

    Args:
        given: The agent's input.
        database: The database.
        book: Prices.
        zone: Where days are counted; nothing for the machine's own zone.
        now: The present, microseconds since 1970.

    Raises:
        StoreError: The database cannot be opened.
        Exception: It cannot be read.
    """
    midnight = start_of_day(now, zone)
    seen = glance(database, given.session_id or "", midnight, now)
    recent = [price(one, book) for one in seen.recent]
    running = [
        one
        for one in blocks((one for one in recent if one.charge.at >= seen.chain), now)
        if one.active
    ]
    own = None if seen.session is None else total(price(one, book) for one in seen.session)
    return Standing(
        own,
        total(one for one in recent if one.charge.at >= midnight),
        running[-1] if running else None,
        _is_behind(given, seen),
        official_limits(given, database, now),
        context_of(given),
    )


def context_of(given: Input) -> float | None:
    """How much of the context is in use, percent."""
    return given.context_window.used_percentage if given.context_window else None


def official_limits(given: Input, database: Path, now: int) -> Limits | None:
    """The plan's limits as just stated, and then kept; else as stated last, where they have not been reset since.

    Args:
        given: The agent's input.
        database: The database, beside which they are kept.
        now: The present, microseconds since 1970.
    """
    file = limits_file(database)
    if given.rate_limits is not None:
        five, seven = _limit(given.rate_limits.five_hour), _limit(given.rate_limits.seven_day)
        if five or seven:
            stated = Limits(now, five, seven)
            keep(file, stated)
            return stated
    last = latest(file)
    if last is None:
        return None
    five = last.five_hour if _holds(last.five_hour, now) else None
    seven = last.seven_day if _holds(last.seven_day, now) else None
    return Limits(last.at, five, seven) if five or seven else None


def _holds(limit: Limit | None, now: int) -> bool:
    return limit is not None and limit.resets_at * _SECOND > now


def _limit(given: _Limit | None) -> Limit | None:
    if given is None or given.used_percentage is None:
        return None
    return Limit(given.used_percentage, _seconds(given.resets_at))


def _seconds(moment: float | str | None) -> int:
    """A time as seconds since 1970, whether it is told as such, in milliseconds, or in words; 0 when it is not."""
    if isinstance(moment, str):
        try:
            return int(datetime.fromisoformat(moment).timestamp())
        except (ValueError, OverflowError):
            return 0
    if moment is None or not 0 < moment < 1e15:  # noqa: PLR2004 - beyond any time in milliseconds
        return 0
    return int(moment / 1000 if moment > 1e11 else moment)  # noqa: PLR2004 - seconds reach it in the year 5138


def start_of_day(now: int, zone: tzinfo | None) -> int:
    """First microsecond of the day that a time falls on.

    Args:
        now: The time, microseconds since 1970.
        zone: Where days are counted; nothing for the machine's own zone.
    """
    local = datetime.fromtimestamp(now / _SECOND, UTC).astimezone(zone)
    first = datetime(local.year, local.month, local.day, tzinfo=zone)
    return int(first.timestamp()) * _SECOND


def _is_behind(given: Input, seen: Glance) -> bool:
    """Whether the session's transcript holds more than was read of it."""
    if seen.session is None:
        return True
    path = given.transcript_path
    if not path:
        return False
    read = [size for name, size in seen.consumed.items() if path.endswith(f"/{name}")]
    try:
        return not read or os.stat(path).st_size > read[-1]  # noqa: PTH116 - a thin path
    except OSError:
        return False
