"""What differs between two versions of a file, in whole lines."""

from __future__ import annotations

import re
from typing import NamedTuple

_WORD = re.compile(r"[\w@.\-:<>/\ufffd]+")
_CALL = re.compile(
    rb'"(?:id|tool_use_id|toolUseId|sourceToolUseID|parentToolUseID)"\s*:\s*"([^"]+)"|<tool-use-id>([^<]+)<'
)


class Zone(NamedTuple):
    """What differs between two versions of a file.

    Attributes:
        path: The file.
        start: Where it begins in both.
        end: Where it ends in the new version.
        shift: How much further on in the new version everything behind it stands.
        lines: Lines in it, of both versions.
        named: Words in it, of both versions.
        calls: Tool calls in it, of both versions.
        old: Lines of the old version in it.
        stated: Every record in it says which session it belongs to.
        text: Its bytes, of both versions.
    """

    path: str
    start: int
    end: int
    shift: int
    lines: int
    named: frozenset[str]
    calls: frozenset[str]
    old: int
    stated: bool
    text: bytes

    def maps(self, offset: int) -> int:
        """The old place of a new place; -2 for one in the zone."""
        if offset < self.start:
            return offset
        return offset - self.shift if offset >= self.end else -2

    def holds(self, offset: int, *, new: bool) -> bool:
        """Whether a place is in the zone."""
        return self.start <= offset < (self.end if new else self.end - self.shift)


def zone_of(path: str, before: bytes, after: bytes) -> Zone:
    """The zone of a damage."""
    old, new = before.split(b"\n"), after.split(b"\n")
    first = next(
        (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b),
        min(len(old), len(new)),
    )
    room = min(len(old), len(new)) - first
    ends = zip(reversed(old), reversed(new), strict=False)
    last = min(next((i for i, (a, b) in enumerate(ends) if a != b), room), room)
    start = sum(len(line) + 1 for line in new[:first])
    shift = len(after) - len(before)
    mine, theirs = old[first : len(old) - last], new[first : len(new) - last]
    text = b"\n".join([*mine, *theirs])
    end = start + sum(len(line) + 1 for line in theirs)
    return Zone(
        path,
        start,
        end,
        shift,
        len(mine) + len(theirs),
        frozenset(_WORD.findall(text.decode("utf-8", "replace"))),
        frozenset((a or b).decode("utf-8", "replace") for a, b in _CALL.findall(text)),
        len(mine),
        all(b'"sessionId":"' in line for line in [*mine, *theirs]),
        text,
    )
