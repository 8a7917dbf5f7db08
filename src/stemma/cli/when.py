"""Days and times as people write them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def start(text: str, zone: tzinfo | None) -> int:
    """First microsecond of a day, or a time itself.

    Args:
        text: A day, or a time; one without an offset is local.
        zone: What is local; nothing for the machine's own zone.

    Raises:
        ValueError: It is neither.
    """
    day = _day(text)
    return _midnight(day, zone) if day is not None else _time(text, zone)


def end(text: str, zone: tzinfo | None) -> int:
    """First microsecond after a day, or after a time.

    Args:
        text: A day, or a time; one without an offset is local.
        zone: What is local; nothing for the machine's own zone.

    Raises:
        ValueError: It is neither.
    """
    day = _day(text)
    if day is None:
        return _time(text, zone) + 1
    try:
        following = day + timedelta(days=1)
    except OverflowError as error:
        raise _refusal(text) from error
    return _midnight(following, zone)


def _refusal(text: str) -> ValueError:
    return ValueError(
        f"{text!r} is neither a day such as 2026-11-30 nor a time such as 2026-11-30T14:00:00Z"
    )


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _midnight(day: date, zone: tzinfo | None) -> int:
    return _microseconds(datetime(day.year, day.month, day.day, tzinfo=zone))


def _time(text: str, zone: tzinfo | None) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise _refusal(text) from error
    return _microseconds(moment if moment.tzinfo is not None else moment.replace(tzinfo=zone))


def _microseconds(moment: datetime) -> int:
    """Microseconds since 1970; a moment without a zone is in the machine's own.

    Raises:
        ValueError: It is outside the years that dates can name.
    """
    try:
        return (moment.astimezone(UTC) - _EPOCH) // timedelta(microseconds=1)
    except OverflowError as error:
        raise ValueError(f"{moment:%Y-%m-%d} is outside the years that can be asked for") from error
