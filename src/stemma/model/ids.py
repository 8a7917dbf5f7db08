"""Deterministic ids: the same evidence has the same ids on every machine and in every database."""

from __future__ import annotations

import hashlib

EVENT_PREFIX = "ev_"
_DIGITS = 20


def event_id(  # noqa: PLR0913 - everything that the id is a function of
    adapter: str, session: str, uuid: str, place: str, *, kind: str, ordinal: int
) -> str:
    """Id of one event.

    Args:
        adapter: Agent product whose adapter read the record.
        session: Upstream session id that the record states.
        uuid: The record's own id, or empty.
        place: Where the record stands (:func:`place_of`); decides only where the record has no id of its own.
        kind: Word of the event type, such as ``tool.completed``.
        ordinal: Position among the events of one record.

    Returns:
        ``ev_`` and 20 hexadecimal digits.
    """
    native = f"uuid\x00{uuid}" if uuid else f"place\x00{place}"
    text = "\x00".join((adapter, session, native, kind, str(ordinal)))
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return EVENT_PREFIX + digest[:_DIGITS]


def place_of(path: str, generation: int, offset: int) -> str:
    """A record's place as text.

    Args:
        path: Path of the source inside its root, in its printable form.
        generation: Generation of the source's bytes.
        offset: Byte offset of the record.
    """
    return f"{path}\x00{generation}\x00{offset}"
