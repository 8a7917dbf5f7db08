"""Ways to damage one file, each from a seed alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

Damage = Callable[[bytes, Random], bytes]
OTHERS: tuple[object, ...] = (
    None,
    True,
    0,
    -1,
    1.5,
    10**30,
    1e300,
    "",
    "x",
    "0",
    "a\u0000b",
    [],
    [1],
    [None],
    [{}],
    {},
    {"type": 1},
    [[[]]],
)
DEEP = b"[" * 10_000 + b"]" * 10_000
HUGE = b"9" * 6_000


def damaged_byte(data: bytes, random: Random) -> bytes:
    """One byte is another."""
    at = random.randrange(len(data))
    return data[:at] + bytes([random.randrange(256)]) + data[at + 1 :]


def lost_stretch(data: bytes, random: Random) -> bytes:
    """Some bytes are missing."""
    at = random.randrange(len(data))
    return data[:at] + data[at + random.randrange(1, 60) :]


def inserted_stretch(data: bytes, random: Random) -> bytes:
    """Some bytes are too many: NULs, invalid UTF-8, newlines, half a record."""
    at = random.randrange(len(data))
    stretch = random.choice(
        (b"\x00" * 9, b"\xff\xfe", b"\n", b"\r\n", b'{"type":"user"', b"}{", b"\\ud800", b"\x1b")
    )
    return data[:at] + stretch + data[at:]


def dropped_line(data: bytes, random: Random) -> bytes:
    """A line is missing."""
    lines = data.split(b"\n")
    del lines[random.randrange(max(len(lines) - 1, 1))]
    return b"\n".join(lines)


def repeated_line(data: bytes, random: Random) -> bytes:
    """A line stands there twice."""
    lines = data.split(b"\n")
    at = random.randrange(max(len(lines) - 1, 1))
    return b"\n".join([*lines[: at + 1], *lines[at:]])


def swapped_lines(data: bytes, random: Random) -> bytes:
    """Two neighbours have changed places."""
    lines = data.split(b"\n")
    if len(lines) > 3:
        at = random.randrange(len(lines) - 2)
        lines[at], lines[at + 1] = lines[at + 1], lines[at]
    return b"\n".join(lines)


def glued_lines(data: bytes, random: Random) -> bytes:
    """The newline between two records is missing."""
    lines = data.split(b"\n")
    if len(lines) > 3:
        at = random.randrange(len(lines) - 2)
        lines[at : at + 2] = [lines[at] + lines[at + 1]]
    return b"\n".join(lines)


def truncated(data: bytes, random: Random) -> bytes:
    """The end is missing."""
    return data[: random.randrange(len(data))]


def nested_value(data: bytes, random: Random) -> bytes:
    """A value is nested ten thousand levels deep."""
    return _value(data, random, DEEP)


def endless_number(data: bytes, random: Random) -> bytes:
    """A value is a number of six thousand digits."""
    return _value(data, random, random.choice((HUGE, b"-" + HUGE, b"1e999", b"NaN", b"-Infinity")))


def wrong_type(data: bytes, random: Random) -> bytes:
    """One field of one record has another type."""
    lines = data.split(b"\n")
    at = random.randrange(max(len(lines) - 1, 1))
    try:
        record = json.loads(lines[at])
    except ValueError:
        return data
    places = list(walk(record))
    holder, key = random.choice(places) if places else (None, None)
    if holder is not None:
        holder[key] = random.choice(
            [other for other in OTHERS if type(other) is not type(holder[key])]
        )
    lines[at] = json.dumps(record).encode()
    return b"\n".join(lines)


def walk(value: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 - any JSON value
    """Every place in a JSON value, as its holder and its key there."""
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, child in list(inner):
        yield value, key
        yield from walk(child)


def _value(data: bytes, random: Random, other: bytes) -> bytes:
    lines = data.split(b"\n")
    at = random.randrange(max(len(lines) - 1, 1))
    colons = [i for i in range(len(lines[at])) if lines[at][i : i + 2] == b'":']
    if colons:
        cut = random.choice(colons) + 2
        tail = lines[at][cut:]
        try:
            end = json.JSONDecoder().raw_decode(tail.decode("utf-8", "surrogateescape"))[1]
        except ValueError:
            return data
        used = len(tail.decode("utf-8", "surrogateescape")[:end].encode("utf-8", "surrogateescape"))
        lines[at] = lines[at][:cut] + other + tail[used:]
    return b"\n".join(lines)


LINES: tuple[Damage, ...] = (
    damaged_byte,
    lost_stretch,
    inserted_stretch,
    dropped_line,
    repeated_line,
    swapped_lines,
    glued_lines,
    truncated,
    nested_value,
    endless_number,
    wrong_type,
)
DOCUMENTS: tuple[Damage, ...] = (
    damaged_byte,
    lost_stretch,
    inserted_stretch,
    truncated,
    nested_value,
    endless_number,
    wrong_type,
)
