"""The plan's limits as the agent's status line states them: a small file beside the database, newest last.

They are the only local source of the plan's real limits (FORMATS j), stand in no transcript, and change at every call; a
file of their own keeps the status line from waiting for the database's writer. What cannot be written is left out.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import msgspec
from msgspec import Struct

MOST_BYTES = 64 << 10
"""Size at which the older half is dropped."""

_LAST = 4096


class Limit(Struct, frozen=True, omit_defaults=True):
    """One limit.

    Attributes:
        used_percentage: How much of it is used; nothing when it is not stated.
        resets_at: When it begins anew, seconds since 1970; 0 when it is not stated.
    """

    used_percentage: float | None = None
    resets_at: int = 0


class Limits(Struct, frozen=True, omit_defaults=True):
    """What one call of the status line was told.

    Attributes:
        at: When, microseconds since 1970.
        five_hour: The limit of five hours.
        seven_day: The limit of a week.
    """

    at: int
    five_hour: Limit | None = None
    seven_day: Limit | None = None


def limits_file(database: Path) -> Path:
    """Where the limits are that go with a database."""
    return database.with_name(f"{database.name}-limits.jsonl")


def latest(file: Path) -> Limits | None:
    """What was stated last; nothing when nothing ever was, or the file cannot be read.

    Args:
        file: See ``limits_file``.
    """
    try:
        with file.open("rb") as stream:
            return _last(stream.fileno())
    except OSError:
        return None


def keep(file: Path, limits: Limits) -> bool:
    """Append limits that differ from the last ones.

    Args:
        file: See ``limits_file``; its folder must exist.
        limits: What was stated.

    Returns:
        Whether they were written: not when nothing changed, another call is writing, or the file cannot be written.
    """
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        before = _last(descriptor)
        if before is not None and _stated(before) == _stated(limits):
            return False
        _shorten(descriptor)
        os.write(descriptor, msgspec.json.encode(limits) + b"\n")
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _stated(limits: Limits) -> tuple[Limit | None, Limit | None]:
    return limits.five_hour, limits.seven_day


def _last(descriptor: int) -> Limits | None:
    size = os.fstat(descriptor).st_size
    lines = os.pread(descriptor, _LAST, max(size - _LAST, 0)).splitlines()
    try:
        return msgspec.json.decode(lines[-1], type=Limits)
    except (IndexError, msgspec.DecodeError):
        return None


def _shorten(descriptor: int) -> None:
    size = os.fstat(descriptor).st_size
    if size > MOST_BYTES:
        _, _, rest = os.pread(descriptor, size, size // 2).partition(b"\n")
        os.ftruncate(descriptor, 0)
        os.write(descriptor, rest)
