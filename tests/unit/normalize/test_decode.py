"""Bytes to records: what is read of a line that the fast decoder refuses, and what is said of the rest."""

from __future__ import annotations

import msgspec
import pytest
from msgspec import Raw

from stemma.normalize.claude_code.decode import recover, salvage, whole_length, whole_object
from stemma.normalize.claude_code.records import ToolInput, decoder

BOM = b"\xef\xbb\xbf"
DEEP = b"[" * 2000 + b"]" * 2000
Found = list[tuple[int, int, str | None]]
Faults = list[tuple[int, int, str, str]]


def check(line: bytes, records: Found, faults: Faults = []) -> None:  # noqa: B006 - never changed
    """Records by offset, length and type, and faults, of a line that begins at 100."""
    found = recover(line, 100, decoder())
    assert [(one.offset, one.length, one.record.type) for one in found.records] == records
    assert [(one.offset, one.length, one.reason, one.detail) for one in found.faults] == faults


def test_marks_blanks_and_nuls_around_a_record_are_passed_over() -> None:
    """The record's place is that of its brace."""
    check(BOM + b'{"type":"a"}\r', [(103, 12, "a")])
    check(b"\0\0 \t" + BOM + b'{"type":"a"}\0', [(107, 12, "a")])
    check(BOM + b"\r \0", [])


def test_glued_records_are_told_apart() -> None:
    """With and without blanks between; the whole one behind a torn one."""
    check(b'{"type":"a"}{"type":"b"}', [(100, 12, "a"), (112, 12, "b")])
    check(b'{"type":"a"} \0{"type":"b"}', [(100, 12, "a"), (114, 12, "b")])
    check(
        b'{"type":"a"},}{"type":"b"}',
        [(100, 12, "a"), (114, 12, "b")],
        [(112, 2, "json", "Expecting value at byte 0")],
    )
    check(
        b'{"type":["a"}{"type":"b"}',
        [(113, 12, "b")],
        [(100, 13, "json", "Expecting ',' delimiter at byte 12")],
    )
    check(
        "é".encode() + b'}{"type":"b"}',
        [(103, 12, "b")],
        [(100, 3, "json", "Expecting value at byte 0")],
    )


def test_what_is_no_object_is_a_fault() -> None:
    """By its kind."""
    check(b"[1]", [], [(100, 3, "not-an-object", "not an object")])
    check(b"# comment", [], [(100, 9, "json", "Expecting value at byte 0")])
    check(b'{"type":', [], [(100, 8, "json", "Expecting value at byte 8")])
    check(b'{"type":"a","x":' + DEEP + b"}", [], [(100, 4017, "json", "nested too deeply")])


def test_texts_that_cannot_be_encoded_are_replaced() -> None:
    """Lone surrogates and bytes that are no UTF-8; control characters stay."""
    check(b'{"type":"a\\ud800"}', [(100, 18, "a\ufffd")])
    check(b'{"type":"a\xff"}', [(100, 13, "a\ufffd")])
    check(b'{"type":"a\x1b"}', [(100, 13, "a\x1b")])


@pytest.mark.parametrize(
    "number", [b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b"-" + b"9" * 5000]
)
def test_numbers_that_are_none_cost_no_record(number: bytes) -> None:
    """Where a text is expected they are a fault of the field; a counter takes them for implausible."""
    check(
        b'{"type":"a","cwd":' + number + b"}",
        [(100, 19 + len(number), "a")],
        [(100, 19 + len(number), "field", "$.cwd")],
    )
    (found,) = recover(b'{"durationMs":' + number + b"}", 0, decoder()).records
    assert abs(float(found.record.durationMs or 0)) > 1e18


def test_fields_of_the_wrong_type_are_left_out_and_named() -> None:
    """One by one, also inside lists; the record and its other fields stay."""
    line = (
        b'{"type":"a","cwd":5,"message":{"id":[],"usage":{"speed":{},"output_tokens":7},'
        b'"content":[{"type":3,"name":"x"},{"type":"text","text":"y"}]}}'
    )
    found = recover(line, 0, decoder())
    assert {fault.detail for fault in found.faults} == {
        "$.cwd", "$.message.id", "$.message.usage.speed", "$.message.content.[0].type",
    }  # fmt: skip
    message = found.records[0].record.message
    assert message is not None
    assert message.usage is not None
    assert message.usage.output_tokens == 7
    assert [
        block.name or block.text for block in message.content or () if not isinstance(block, str)
    ] == ["x", "y"]


def test_of_a_tail_whole_objects_may_be_taken() -> None:
    """Before its newline arrives, and whatever stands behind them."""
    two = BOM + b'{"type":"a"} {"type":"b"}'
    assert whole_length(two) == len(two)
    assert whole_length(two + b" \r") == len(two)
    assert whole_length(two + b'{"c":') == len(two)
    assert whole_length('{"a":"ü"}x'.encode()) == len('{"a":"ü"}'.encode())
    for torn in (b"", b"{", b"x{}", b"[1]", b"12", b'{"a":"}', b"\0"):
        assert whole_length(torn) == 0


def test_a_document_is_one_whole_object() -> None:
    """Read as leniently as a line, and never in part."""
    assert whole_object(BOM + b' {"a": "x\\ud800"}\n') == {"a": "x\ufffd"}
    assert whole_object(b'{"a":"x\xff"}') == {"a": "x\ufffd"}
    for other in (b"", b"[1]", b'{"a":1}{"b":2}', b'{"a":1', b'{"a":1}x', b'{"a":' + DEEP + b"}"):
        assert whole_object(other) is None


def test_what_has_the_right_type_is_salvaged() -> None:
    """A wrong field, a byte that is no UTF-8 or an unexpected value costs itself."""

    def salvaged(data: bytes) -> ToolInput:
        return salvage(msgspec.json.decode(data, type=Raw), ToolInput)

    assert salvaged(b'{"command":"ls \xff","path":5}') == ToolInput(command="ls \ufffd")
    assert salvaged(b'{"subagent_type":"x","run_in_background":"yes"}') == ToolInput(
        subagent_type="x"
    )
    assert salvaged(b"[1]") == ToolInput()
    assert salvage(Raw(DEEP), ToolInput) == ToolInput()
