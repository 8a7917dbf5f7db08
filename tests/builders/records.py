"""Records as Claude Code writes them, and trees of transcripts made of them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

Record = dict[str, Any]
Transcript = "Sequence[Record | bytes]"
START = datetime(2026, 11, 3, 10, tzinfo=UTC)


def at(seconds: float) -> str:
    """A timestamp so many seconds after the start."""
    moment = START + timedelta(seconds=seconds)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def counters(
    given: object = 3, output: object = 100, write: object = 0, read: object = 0, **more: object
) -> Record:
    """A usage object; more fields are added as they are."""
    return {
        "input_tokens": given,
        "output_tokens": output,
        "cache_creation_input_tokens": write,
        "cache_read_input_tokens": read,
        "service_tier": "standard",
        **more,
    }


def split(five: object, hour: object) -> Record:
    """The breakdown of cache writes, to be put into a usage object."""
    return {
        "cache_creation": {"ephemeral_5m_input_tokens": five, "ephemeral_1h_input_tokens": hour}
    }


def said(message: str | None = "msg_1", usage: Record | None = None, **fields: Any) -> Record:  # noqa: ANN401 - any JSON
    """A record of a response; ``request`` becomes its requestId (None: left out), other fields are set as given."""
    body = {
        "model": fields.pop("model", "claude-opus-4-8"),
        "type": "message",
        "role": "assistant",
        "content": fields.pop("content", [{"type": "text", "text": "ok"}]),
        "stop_reason": fields.pop("stop", "end_turn"),
        "usage": counters() if usage is None else usage,
    }
    request = fields.pop("request", f"req_{message}")
    record: Record = {"type": "assistant", "isSidechain": False, "message": body}
    if message is not None:
        body["id"] = message
    if request is not None:
        record["requestId"] = request
    return {**record, **fields}


def asked(text: object = "hi", **fields: Any) -> Record:  # noqa: ANN401 - any JSON
    """A record of a prompt."""
    return {
        "type": "user",
        "isSidechain": False,
        "message": {"role": "user", "content": text},
        **fields,
    }


def called(tool: str, name: str = "Bash", **arguments: object) -> Record:
    """A content block that calls a tool."""
    return {"type": "tool_use", "id": tool, "name": name, "input": arguments}


def answered(tool: str, result: object = None, **fields: Any) -> Record:  # noqa: ANN401 - any JSON
    """A record of a tool's result, with the structured result beside it."""
    block = {"type": "tool_result", "tool_use_id": tool, "content": "done"}
    record = asked([block], **fields)
    return record if result is None else {**record, "toolUseResult": result}


def line(record: Record | bytes) -> bytes:
    """A record as a line with its newline; bytes are taken as they are."""
    return (
        record
        if isinstance(record, bytes)
        else json.dumps(record, separators=(",", ":")).encode() + b"\n"
    )


def write(root: Path, tree: Mapping[str, Sequence[Record | bytes] | Record]) -> Path:
    """Write a ``projects`` folder: transcripts by path, and sidecars where a path names a document.

    A record gets the session its path names, a uuid of its own and the time of its position, unless it has them; a field
    that is None is left out.
    """
    for path, content in tree.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, (list, tuple)):
            target.write_text(json.dumps(content))
            continue
        parts = path.split("/")
        session = parts[1].removesuffix(".jsonl")
        rows = [
            _completed(one, session, f"{path}:{number}", number)
            for number, one in enumerate(content)
        ]
        target.write_bytes(b"".join(map(line, rows)))
    return root


def _completed(record: Record | bytes, session: str, uuid: str, number: int) -> Record | bytes:
    if isinstance(record, bytes):
        return record
    common = {
        "sessionId": session,
        "uuid": uuid,
        "timestamp": at(number),
        "version": "2.1.150",
        "cwd": "/w/p",
    }
    return {name: value for name, value in {**common, **record}.items() if value is not None}
