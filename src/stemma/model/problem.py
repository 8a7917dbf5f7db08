"""Trouble in the evidence, as values that are stored: bad input is normal input."""

from __future__ import annotations

from msgspec import Struct


class LineFault(Struct, frozen=True, gc=False):
    """A record, or one field of it, that could not be read (DESIGN section 3, *line fault*).

    Attributes:
        offset: Where the unreadable bytes begin in their source.
        length: How many bytes they are.
        reason: ``json``, ``not-an-object``, ``oversize``, ``field`` (only that field was lost), or ``adapter`` (the
            adapter itself failed on the record, which is a fault of ours).
        detail: The decoder's position or the field's path; never content.
    """

    offset: int
    length: int
    reason: str
    detail: str


class KindCount(Struct, gc=False):
    """How often a source holds one kind of record.

    Attributes:
        known: Whether the adapter knows this kind; an unknown one is counted, kept reachable and never fatal.
        count: Records of the kind.
        first_offset: Offset of the first one.
        last_offset: Offset of the last one.
    """

    known: bool
    count: int
    first_offset: int
    last_offset: int
