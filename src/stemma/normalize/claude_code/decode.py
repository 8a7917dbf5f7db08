"""Bytes to records, with the fallback chain for broken lines (FORMATS section h, ACCOUNTING section 4).

A bad line costs that line, a bad field costs that field, and of two glued records both are read.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import msgspec

from stemma.model.problem import LineFault
from stemma.normalize.claude_code.records import Block, Iteration, Record

BOM = b"\xef\xbb\xbf"
MOST_FIELD_REPAIRS = 32


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
        except msgspec.MsgspecError:
            pass
    position = 0
    while position < len(text):
        rest = text[position:]
        value, used, detail = _first_object(rest)
        if used == 0:
            reason = "not-an-object" if detail == "not an object" else "json"
            faults.append(LineFault(at + position, len(rest), reason, detail))
            break
        record, repairs = _lenient(value)
        records.append(Located(at + position, used, record))
        faults.extend(LineFault(at + position, used, "field", path) for path in repairs)
        position += used
        while position < len(text) and text[position] in b" \t\r\x00":
            position += 1
    return Recovered(records, faults)


def is_whole_object(tail: bytes) -> bool:
    """Whether an unterminated tail is a complete JSON object, and so may be taken before its newline arrives."""
    text = _stripped(tail).rstrip(b"\r \t")
    if not (text.startswith(b"{") and text.endswith(b"}")):
        return False
    value, used, _ = _first_object(text)
    while used and used < len(text):
        text = text[used:].lstrip(b" \t\r\x00")
        value, used, _ = _first_object(text)
    return used > 0 and isinstance(value, dict)


def _stripped(line: bytes) -> bytes:
    text = line.lstrip(b"\x00 \t\r")
    while text.startswith(BOM):
        text = text[len(BOM) :].lstrip(b"\x00 \t\r")
    return text


class _First(NamedTuple):
    value: dict[str, Any]
    used: int
    detail: str


def _first_object(text: bytes) -> _First:
    """The first JSON object of ``text`` and the bytes it takes; 0 bytes when there is none."""
    decoded = text.decode("utf-8", "surrogateescape")
    try:
        value, end = json.JSONDecoder().raw_decode(decoded)
    except json.JSONDecodeError as error:
        return _First(
            {},
            0,
            f"{error.msg} at byte {len(decoded[: error.pos].encode('utf-8', 'surrogateescape'))}",
        )
    except RecursionError:
        return _First({}, 0, "nested too deeply")
    except ValueError:  # an integer of more digits than Python converts
        return _First({}, 0, "number too long")
    if not isinstance(value, dict):
        return _First({}, 0, "not an object")
    return _First(value, len(decoded[:end].encode("utf-8", "surrogateescape")), "")


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
    """The value with what JSON cannot carry taken out: lone surrogates become U+FFFD, NaN and infinities null."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):  # noqa: PLR0124 - NaN
        return None
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
