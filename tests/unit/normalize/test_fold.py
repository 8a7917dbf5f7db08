"""The fold contains its own faults."""

from __future__ import annotations

import pytest

from stemma.model.source import Placement
from stemma.normalize.claude_code import fold
from stemma.normalize.claude_code.adapter import ClaudeCode
from stemma.normalize.claude_code.locate import place


def test_a_handler_that_fails_costs_its_record_and_is_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A fault of ours is a line fault with its locator; the records around it are read."""

    def broken(*_: object) -> None:
        raise KeyError("ours")

    monkeypatch.setitem(fold._HANDLERS, "system", broken)
    placement = place(("p", "s.jsonl"))
    assert isinstance(placement, Placement)
    lines = [
        (0, b'{"type":"user","uuid":"a","sessionId":"s","message":{"content":"hello"}}'),
        (80, b'{"type":"system","subtype":"turn_duration","uuid":"b","sessionId":"s"}'),
        (160, b'{"type":"user","uuid":"c","sessionId":"s","message":{"content":"again"}}'),
    ]
    found = ClaudeCode().normalize(placement, b"", lines)
    assert [(fault.offset, fault.length, fault.reason, fault.detail) for fault in found.faults] == [
        (80, len(lines[1][1]), "adapter", "KeyError")
    ]
    assert [turn.prompt for turn in found.turns.values()] == ["hello", "again"]
