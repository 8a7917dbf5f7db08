"""Short texts out of large raw bodies, and the few texts of the client that carry structure."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec
from msgspec import Raw

from stemma.model.entity import MAIN

SHORT = 120
"""Characters kept of a text; long enough to recognise a prompt or a command, short enough to store for every event."""

_PEEK = 480
_minutes: dict[str, int] = {}


def microseconds(text: str | None) -> int:
    """A timestamp in microseconds since 1970, UTC; 0 when it is missing, cannot be read or is before 1970.

    Args:
        text: ISO 8601 with an offset or ``Z``; one without either is taken as UTC.
    """
    if not text:
        return 0
    minute = _minutes.get(text[:16])
    if (
        minute is not None
        and len(text) == 24  # noqa: PLR2004 - the fixed form that clients write
        and text[16] == ":"
        and text[19] == "."
        and text[23] == "Z"
    ):
        digits = text[17:19] + text[20:23]
        if digits.isdigit() and digits.isascii() and digits < "60":
            return minute + int(digits) * 1000
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        whole = moment.replace(second=0, microsecond=0)
        start = int(whole.timestamp()) * 1_000_000
    except (ValueError, OverflowError):
        return 0
    if start < 0:
        return 0
    if text.endswith("Z") and text[16:17] == ":":
        if len(_minutes) > 4096:  # noqa: PLR2004 - a cache bound, nothing depends on it
            _minutes.clear()
        _minutes[text[:16]] = start
    return start + moment.second * 1_000_000 + moment.microsecond


def child_id(agent: str) -> str:
    """Id of a subagent: as its records state it, unless that would make it the main thread."""
    return agent if agent != MAIN else f"agent-{MAIN}"


def short(text: str | None) -> str:
    """The start of a text on one line."""
    if not text:
        return ""
    head = text[: SHORT * 3]
    flat = " ".join(head.split())
    return flat[:SHORT]


def digest(text: str) -> str:
    """A short digest of an exact text, to compare prompts without keeping them."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class _Text(msgspec.Struct):
    type: str | None = None
    text: str | None = None


_texts = msgspec.json.Decoder(str | list[_Text] | None)


def peek(raw: Raw) -> str:
    """The start of a tool result's text without decoding all of it.

    Args:
        raw: A JSON string, or a list of content blocks.
    """
    data = bytes(memoryview(raw)[:_PEEK])
    if data.startswith(b'"'):
        if len(raw) <= _PEEK:
            return _whole(raw)
        cut = data.decode("utf-8", "ignore").rstrip("\\")
        while cut:
            try:
                return _unsplit(str(json.loads(cut + '"', strict=False)))
            except ValueError:
                cut = cut[:-1] if len(cut) > _PEEK - 12 else ""
        return ""
    if data.startswith(b"[") and len(raw) <= 16_384:  # noqa: PLR2004 - larger lists are images
        return _whole(raw)
    return ""


def _unsplit(text: str) -> str:
    """The text without half of an escaped pair at its end, where it was cut."""
    return text[:-1] if "\ud800" <= text[-1:] <= "\udbff" else text


def _whole(raw: Raw) -> str:
    try:
        value = _texts.decode(raw)
    except (ValueError, RecursionError):
        return ""
    if isinstance(value, str):
        return value
    return "\n".join(part.text for part in value or () if part.text)


class Notification(NamedTuple):
    """A ``<task-notification>`` (FORMATS section e)."""

    task: str
    tool_use: str
    status: str
    summary: str


_NOTIFICATION = re.compile(r"<(task|agent)-notification>(.*?)(?:</\1-notification>|\Z)", re.DOTALL)


def notifications(text: str) -> list[Notification]:
    """The notifications that a text consists of; empty when it does not begin with one.

    Interactive clients around 2.0.60 write ``<agent-notification>`` with an ``<agent-id>`` instead of a task id.

    Only a text that begins with the element counts: agents quote each other's notifications in prose.
    """
    if not text.lstrip().startswith(("<task-notification>", "<agent-notification>")):
        return []
    return [
        Notification(
            _element(body, f"{kind}-id"),
            _element(body, "tool-use-id"),
            _element(body, "status"),
            _element(body, "summary"),
        )
        for kind, body in _NOTIFICATION.findall(text)
    ]


def _element(body: str, name: str) -> str:
    # Only what stands before <result>: an agent's own words could repeat the elements.
    head = body.partition("<result>")[0]
    start = head.find(f"<{name}>")
    end = head.find(f"</{name}>", start)
    return head[start + len(name) + 2 : end].strip() if 0 <= start < end else ""


class Command(NamedTuple):
    """A slash command that a person typed."""

    name: str
    args: str


def typed_command(text: str) -> Command | None:
    """The typed command that a prompt consists of, or nothing."""
    if not text.startswith(("<command-name>", "<command-message>")):
        return None
    name = re.search(r"<command-name>\s*/?(.*?)\s*</command-name>", text, re.DOTALL)
    args = re.search(r"<command-args>\s*(.*?)\s*</command-args>", text, re.DOTALL)
    return Command(name.group(1), args.group(1) if args else "") if name else None


_NOT_PROMPTS = (
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "<bash-stdout>",
    "<bash-stderr>",
    "Unknown slash command: ",
    "Caveat: The messages below were generated by the user while running local commands.",
)


def is_client_output(text: str) -> bool:
    """Whether a user record is output of the client itself and not a prompt."""
    return text.startswith(_NOT_PROMPTS)


def is_interrupt(text: str) -> bool:
    """Whether a user text is the marker that the client writes when the user interrupts."""
    return text.startswith("[Request interrupted by user")
