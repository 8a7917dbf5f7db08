"""Times and unknown values as answers carry them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo

Time = str
"""RFC 3339, UTC, always six digits of microseconds: ``2026-11-30T14:02:33.120000Z``."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def time_of(microseconds: int | None) -> Time | None:
    """Microseconds since 1970 as text; nothing when the time is not known."""
    if not microseconds:
        return None
    try:
        at = _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return None
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if at.year > 999 else None  # noqa: PLR2004 - four digits


def parsed(time: Time) -> datetime:
    """The inverse of :func:`time_of`, as a value that knows its zone."""
    return datetime.fromisoformat(time)


def microseconds_of(time: Time) -> int:
    """Microseconds since 1970 of a time."""
    return (parsed(time) - _EPOCH) // timedelta(microseconds=1)


def local_date(microseconds: int, zone: tzinfo | None) -> date | None:
    """The day that a time falls on.

    Args:
        microseconds: The time; 0 when it is not known.
        zone: Where the day is counted; nothing for the machine's own zone.
    """
    if not microseconds:
        return None
    try:
        return (_EPOCH + timedelta(microseconds=microseconds)).astimezone(zone).date()
    except (OverflowError, ValueError, OSError):
        return None


def known(text: str) -> str | None:
    """Text, or nothing where the store keeps an empty one for what no record states."""
    return text or None


def not_negative(number: int) -> int | None:
    """A number, or nothing where the store keeps -1 for what no record states."""
    return number if number >= 0 else None
