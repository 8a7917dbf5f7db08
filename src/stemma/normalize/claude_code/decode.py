"""Bytes to records, with the fallback chain for broken lines (FORMATS section h, ACCOUNTING section 4).

A bad line costs that line, a bad field costs that field, and of two glued records both are read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import Raw, Struct

from stemma.model.problem import LineFault
from stemma.normalize.claude_code.records import Block, Iteration, Record

BOM = b"\xef\xbb\xbf"
MOST_FIELD_REPAIRS = 32
MOST_RETRIES = 32
MOST_PIECES = 1000
MOST_DIGITS = 400
_NO_NUMBER = 1e300
"""Stands for NaN, infinities and integers without end: no counter takes it for real, and any other field refuses it."""
_TOO_DEEP = "nested too deeply"


class Located(NamedTuple):
    """A decoded record and where it stands in its source."""

    offset: int
    length: int
    record: Record


class Recovered(NamedTuple):
    """What could be read of a line that did not decode at once, and what could not."""

    records: list[Located]
    faults: list[LineFault]


def recover(line: bytes, offset: int, decoder: msgspec.json.Decoder[Record]) -> Recovered:
    """Read what can be read of a line that the fast decoder refused.

    Args:
        line: The line without its newline.
        offset: Where it begins in its source.
        decoder: The fast decoder.

    Returns:
        Records and faults in the order of their offsets; both empty for a line of white space and NULs.
    """
    records: list[Located] = []
    faults: list[LineFault] = []
    start = len(line) - len(_stripped(line))
    text = line[start:].rstrip(b"\r \t\x00")
    at = offset + start
    if not text:
        return Recovered(records, faults)
    if start:
        try:
            return Recovered([Located(at, len(text), decoder.decode(text))], faults)
        except (ValueError, RecursionError):
            pass
    for piece in _pieces(text.decode("utf-8", "surrogateescape")):
        place = at + piece.start
        if piece.value is None:
            faults.append(LineFault(place, piece.length, piece.reason, piece.detail))
            continue
        try:  # a record reads the same on a line of its own and glued to others
            whole = decoder.decode(text[piece.start : piece.start + piece.length])
        except (ValueError, RecursionError):
            pass
        else:
            records.append(Located(place, piece.length, whole))
            continue
        try:
            record, repairs = _lenient(piece.value)
        except RecursionError:
            faults.append(LineFault(place, piece.length, "json", _TOO_DEEP))
            continue
        records.append(Located(place, piece.length, record))
        faults.extend(LineFault(place, piece.length, "field", path) for path in repairs)
    return Recovered(records, faults)


def whole_length(tail: bytes) -> int:
    """How much of an unterminated tail are complete JSON objects, which may be taken before its newline arrives.

    An object shows where it ends: whatever follows, these bytes read the same on the finished line.
    """
    start = len(tail) - len(_stripped(tail))
    if b"}" not in tail:
        return 0
    text = tail[start:].decode("utf-8", "surrogateescape")
    end = position = 0
    while (found := _object_at(text, position)).value is not None:
        end = position = found.end
        while position < len(text) and text[position] in _BLANK:
            position += 1
    return start + len(text[:end].encode("utf-8", "surrogateescape")) if end else 0


def whole_object(data: bytes) -> dict[str, Any] | None:
    """A document that is one complete JSON object, read as leniently as a broken line; nothing when it is none."""
    text = _stripped(data).strip().decode("utf-8", "surrogateescape")
    found = _object_at(text, 0)
    if found.value is None or found.end != len(text):
        return None
    try:
        value = _clean(found.value)
    except RecursionError:
        return None
    return value if isinstance(value, dict) else None


S = TypeVar("S", bound=Struct)


def salvage(raw: Raw, kind: type[S]) -> S:
    """A struct from an object that does not decode as one: the fields that have the right type, and no others."""
    try:
        found = _clean(json.loads(bytes(raw).decode("utf-8", "replace"), strict=False))
    except (ValueError, RecursionError):
        return kind()
    kept = {}
    for field in msgspec.structs.fields(kind) if isinstance(found, dict) else ():
        if field.encode_name in found:
            with suppress(msgspec.ValidationError):
                kept[field.name] = msgspec.convert(found[field.encode_name], field.type)
    return kind(**kept)


def _stripped(line: bytes) -> bytes:
    text = line.lstrip(b"\x00 \t\r")
    while text.startswith(BOM):
        text = text[len(BOM) :].lstrip(b"\x00 \t\r")
    return text


_BLANK = " \t\r\x00\ufeff"


class _Piece(NamedTuple):
    """A stretch of a line: an object, or what could not be read up to the next one; in bytes of the line."""

    start: int
    length: int
    value: dict[str, Any] | None
    reason: str = ""
    detail: str = ""


def _pieces(text: str) -> Iterator[_Piece]:
    """The objects that stand on a line one behind the other, with the stretches between them that are none.

    Behind a stretch that is no object reading goes on at the next ``}{``, where a torn record and a whole one are glued.
    """
    position = start = count = 0
    retries = MOST_RETRIES
    while position < len(text):
        count += 1
        found = _object_at(text, position) if count <= MOST_PIECES else _TOO_MANY
        end = found.end
        if found.value is None:
            end = position
            while retries and (end := text.find("}{", end) + 1):
                retries -= 1
                if _is_record(_object_at(text, end).value):
                    break
            end = end if position < end < len(text) and retries else len(text)
        length = len(text[position:end].encode("utf-8", "surrogateescape"))
        yield _Piece(start, length, found.value, found.reason, found.detail)
        start += length
        while end < len(text) and text[end] in _BLANK:
            start += len(text[end].encode())
            end += 1
        position = end


def _is_record(value: dict[str, Any] | None) -> bool:
    return value is not None and isinstance(value.get("type"), str)


class _First(NamedTuple):
    value: dict[str, Any] | None
    end: int
    reason: str = ""
    detail: str = ""


_TOO_MANY = _First(None, 0, "json", "too many records on one line")


def _object_at(text: str, position: int) -> _First:
    """The JSON object that begins at a position of a text, and where it ends."""
    try:
        value, end = _DECODER.raw_decode(text, position)
    except json.JSONDecodeError as error:
        before = len(text[position : error.pos].encode("utf-8", "surrogateescape"))
        return _First(None, 0, "json", f"{error.msg} at byte {before}")
    except RecursionError:
        return _First(None, 0, "json", _TOO_DEEP)
    if not isinstance(value, dict):
        return _First(None, 0, "not-an-object", "not an object")
    return _First(value, end)


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= MOST_DIGITS else _NO_NUMBER


def _constant(_name: str) -> float:
    return _NO_NUMBER


# Control characters inside a string are no JSON, and no reason to lose a record either.
_DECODER = json.JSONDecoder(strict=False, parse_int=_integer, parse_constant=_constant)


class _Lenient(NamedTuple):
    record: Record
    repairs: list[str]


def _lenient(value: dict[str, Any]) -> _Lenient:
    """A record from an object of which some fields may have the wrong type: those are left out and named."""
    repairs: list[str] = []
    tree = _clean(value)
    for _ in range(MOST_FIELD_REPAIRS):
        try:
            return _Lenient(msgspec.json.decode(json.dumps(tree), type=Record), repairs)
        except msgspec.ValidationError as error:
            path = _path_of(str(error))
            if not path or not _drop(tree, path):
                break
            repairs.append("$." + ".".join(path))
    kept = {
        k: v
        for k, v in tree.items()
        if k in ("type", "uuid", "timestamp", "sessionId") and isinstance(v, str)
    }
    return _Lenient(msgspec.convert(kept, Record), [*repairs, "$"])


def _clean(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The value with what JSON cannot carry replaced: lone surrogates become U+FFFD, an infinity no number at all."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, float) and abs(value) == float("inf"):
        return _NO_NUMBER
    if isinstance(value, dict):
        return {_clean(k): _clean(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_clean(v) for v in value]
    return value


def _path_of(message: str) -> list[str]:
    """The path in a validation message, such as ``at `$.message.usage.input_tokens` ``."""
    found = re.search(r"at `\$((?:\.[^.`\[]+|\[[^\]]*\])+)`", message)
    return re.findall(r"[^.\[\]]+|\[[^\]]*\]", found.group(1)) if found else []


_ELEMENTS: dict[str, Any] = {"content": Block, "prompt": Block, "iterations": Iteration}


def _drop(tree: dict[str, Any], path: list[str]) -> bool:
    """Remove the field at ``path``; in a list, only from the elements that do not validate."""
    node: Any = tree
    for index, step in enumerate(path):
        last = index == len(path) - 1
        if step.startswith("["):
            return _drop_in_list(
                node, step, path[index + 1 :], _ELEMENTS.get(path[index - 1]) if index else None
            )
        if not isinstance(node, dict) or step not in node:
            return False
        if last:
            del node[step]
            return True
        node = node[step]
    return False


def _drop_in_list(node: Any, step: str, rest: list[str], element: Any) -> bool:  # noqa: ANN401 - any JSON value
    if not isinstance(node, list):
        return False
    numbered = step[1:-1].isdigit()
    chosen = [int(step[1:-1])] if numbered else list(range(len(node)))
    dropped = False
    for position in reversed(chosen):
        if position >= len(node) or (
            not numbered and element is not None and _valid(node[position], element)
        ):
            continue
        if rest:
            dropped = (isinstance(node[position], dict) and _drop(node[position], rest)) or dropped
        else:
            del node[position]
            dropped = True
    return dropped


def _valid(value: Any, kind: Any) -> bool:  # noqa: ANN401 - any JSON value
    try:
        msgspec.json.decode(json.dumps(value), type=kind)
    except msgspec.ValidationError:
        return False
    return True
