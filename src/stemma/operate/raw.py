"""A raw record read back through its locator, and shown without its secrets."""

from __future__ import annotations

import json
import os
import re
from enum import StrEnum
from itertools import pairwise
from typing import Any, NamedTuple

from stemma.collect.contain import Root, open_source
from stemma.errors import CollectError, ContainmentError, SourceVanished
from stemma.model.source import unescape_path
from stemma.normalize.redact import MARK, redact
from stemma.store.answers.events import Locator

_SECRET = frozenset(
    ["secret", "secrets", "password", "passwords", "passwd", "passphrase", "authorization", "credential",
     "credentials", "apikey", "apikeys", "cookie", "cookies"]
)  # fmt: skip
_PAIRS = frozenset({("api", "key"), ("access", "key"), ("private", "key"), ("secret", "key")})
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_DEEPEST = 200


class RawState(StrEnum):
    """Whether a record could be read back."""

    READ = "read"
    REMOVED = "source removed"
    REWRITTEN = "source rewritten"
    UNREADABLE = "unreadable"


class RawRecord(NamedTuple):
    """What was read back.

    Attributes:
        state: Whether it could be.
        detail: Why not.
        value: The record, redacted.
    """

    state: RawState
    detail: str = ""
    value: Any = None


def read_back(locator: Locator, current_generation: int, uuid: str | None) -> RawRecord:
    """Read a record from its source and redact it.

    Args:
        locator: Where it stands.
        current_generation: Generation of the source's bytes as they were read last.
        uuid: The record's own id: bytes that state another one are not the record.
    """
    if locator.generation != current_generation:
        return RawRecord(
            RawState.REWRITTEN, "its file was rewritten since; the bytes of this record are gone"
        )
    try:
        data = _bytes(locator)
    except SourceVanished as error:
        return RawRecord(RawState.REMOVED, f"{error}; what was derived from it stays")
    except ContainmentError as error:
        return RawRecord(RawState.UNREADABLE, str(error))
    except (CollectError, OSError) as error:
        return RawRecord(RawState.UNREADABLE, str(error))
    return _record(data, locator, uuid)


def _bytes(locator: Locator) -> bytes:
    with Root(locator.root) as root:
        fd = open_source(root, unescape_path(locator.path)).fd
        try:
            return os.pread(fd, locator.length, locator.offset)
        finally:
            os.close(fd)


def _record(data: bytes, locator: Locator, uuid: str | None) -> RawRecord:
    changed = RawRecord(
        RawState.REWRITTEN, "other bytes stand in its place by now; `stemma ingest` notices that"
    )
    if len(data) < locator.length:
        return changed
    try:
        value = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return changed
    if not isinstance(value, dict) or (uuid is not None and value.get("uuid") != uuid):
        return changed
    return RawRecord(RawState.READ, "", redacted(value))


def redacted(value: Any, *, depth: int = 0) -> Any:  # noqa: ANN401 - any JSON value
    """A JSON value without secrets, in its keys and its values; numbers of tokens stay.

    Args:
        value: Any JSON value.
        depth: How deep it lies; what lies too deep is left out.
    """
    if depth > _DEEPEST:
        return MARK
    if isinstance(value, str):
        return redact(_clean(value))
    if isinstance(value, list):
        return [redacted(item, depth=depth + 1) for item in value]
    if isinstance(value, dict):
        return {
            redact(_clean(key)): _field(key, item, value, depth=depth + 1)
            for key, item in value.items()
        }
    return value if value == value else None  # noqa: PLR0124 - NaN is no JSON


def _clean(text: str) -> str:
    """Text that can be encoded: lone surrogates are replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _field(key: str, item: Any, siblings: dict[str, Any], *, depth: int) -> Any:  # noqa: ANN401 - any JSON value
    words = _words(key)
    name = siblings.get("name", siblings.get("key")) if key == "value" else None
    if isinstance(name, str):  # a header or variable: {"name": "Authorization", "value": "…"}
        words |= _words(name)
    if words & _SECRET:
        return _hidden(item, numbers=True, depth=depth)
    if words & {"token", "tokens"}:
        return _hidden(item, numbers=False, depth=depth)
    return redacted(item, depth=depth)


def _words(key: str) -> set[str]:
    words = [word.lower() for word in _WORD.findall(key)]
    pairs = {"apikey" for pair in pairwise(words) if pair in _PAIRS}
    return {*words, *pairs}


def _hidden(item: Any, *, numbers: bool, depth: int) -> Any:  # noqa: ANN401 - any JSON value
    """A value under a key that names a secret. Numbers under a key that may count tokens stay."""
    if isinstance(item, str):
        return item if not item or (not numbers and item.strip().isdigit()) else MARK
    if isinstance(item, bool) or item is None:
        return item
    if isinstance(item, list):
        return [_hidden(one, numbers=numbers, depth=depth) for one in item]
    if isinstance(item, dict):
        return redacted(item, depth=depth)
    return MARK if numbers else item
