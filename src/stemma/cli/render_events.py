"""The timeline, and one event of it."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from datetime import tzinfo

from rich.text import Text

from stemma.cli.render import (
    Cell,
    Column,
    Middle,
    clean,
    console,
    counted,
    cut,
    duration,
    local,
    number,
    path,
    table,
)
from stemma.store.answers.events import Event, EventsAnswer, Payload, Shown

_WIDE = 110
_VERY_WIDE = 160
_FULL_ID = 23
_SHORT_ID = 11
_LABEL = 9
_NARROWEST = 20
_NARROW_TYPE = 16
_NARROW_AGENT = 8
_STYLES = {"failed": "red", "denied": "red"}


def show(answer: EventsAnswer, zone: tzinfo | None) -> None:
    """Print the timeline, a line for each event and one for each day."""
    out = console()
    if not answer.events:
        out.print("No events.")
        return
    left_out = answer.matching - len(answer.events)
    if left_out:
        out.print(Text(f"{counted(left_out, 'earlier event')} not listed", style="dim"))
    wide = out.width >= _WIDE
    digits = _FULL_ID if out.width >= _VERY_WIDE else _SHORT_ID
    columns = [
        Column("TIME"),
        Column("TYPE"),
        Column("AGENT"),
        Column("ABOUT", least=16),
        Column("GRADE", style="dim"),
        Column("EVENT", style="dim"),
    ]
    rows: list[list[Cell]] = [
        [
            _clock(event, zone),
            Text(
                cut(event.event_type, 99 if wide else _NARROW_TYPE),
                _STYLES.get(event.event_type.rpartition(".")[2], ""),
            ),
            clean(event.agent_id)[: 99 if wide else _NARROW_AGENT],
            about(event),
            event.evidence.grade,
            event.event_id[:digits],
        ]
        for event in answer.events
    ]
    head, *lines = table(columns, rows, out.width)
    out.print(head)
    day = ""
    for event, line in zip(answer.events, lines, strict=True):
        at = local(event.occurred_at, zone)
        today = f"{at:%Y-%m-%d}" if at is not None else "time unknown"
        if today != day:
            out.print(Text(today, style="bold cyan"))
            day = today
        out.print(line)


def _clock(event: Event, zone: tzinfo | None) -> str:
    at = local(event.occurred_at, zone)
    return f"{at:%H:%M:%S}" if at is not None else clean(None)


def about(event: Event) -> str:
    """What an event says, in a few words."""
    payload = event.payload
    said = payload.summary or payload.subject or ""
    parts = [payload.name, payload.summary or _subject(event.event_type, payload), _amount(payload)]
    words = clean(" ".join(part for part in parts if part) or None)
    return Middle(words) if said.startswith(("/", "~/")) and " " not in said else words


def _subject(kind: str, payload: Payload) -> str | None:
    """The subject, where it is more than the id of a call or a session."""
    return None if kind.startswith(("tool.", "session.")) else payload.subject


def _amount(payload: Payload) -> str:
    if payload.amount is None:
        return ""
    if payload.unit == "microseconds":
        return f"({duration(payload.amount)})"
    return f"({number(payload.amount)}{f' {payload.unit}' if payload.unit else ''})"


def show_one(answer: Shown, zone: tzinfo | None) -> None:
    """Print one event and its record."""
    out = console()
    width = max(out.width - _LABEL, _NARROWEST)
    for label, value in _facts(answer, zone):
        first, *rest = textwrap.wrap(value, width, break_on_hyphens=False) or [""]
        out.print(Text(f"{label:{_LABEL}}", "dim").append(first, "default"))
        for more in rest:
            out.print(" " * _LABEL + more)
    out.print()
    out.print(
        Text(
            f"record: {answer.raw_state}"
            + (f" ({answer.raw_detail})" if answer.raw_detail else ""),
            "bold",
        )
    )
    if answer.raw is not None:
        for text in json.dumps(answer.raw, indent=2, ensure_ascii=False).split("\n"):
            indent = len(text) - len(text.lstrip(" "))
            out.print(" " * indent + clean(text))


def _facts(answer: Shown, zone: tzinfo | None) -> Iterator[list[str]]:
    event = answer.event
    at = local(event.occurred_at, zone)
    locator = event.source.record_locator
    yield ["event", event.event_id]
    yield ["type", event.event_type]
    yield [
        "time",
        f"{at:%Y-%m-%d %H:%M:%S.%f %Z} (from {event.timestamp_origin})" if at else clean(None),
    ]
    yield ["session", clean(event.session_id)]
    yield ["agent", clean(event.agent_id)]
    yield ["turn", clean(event.turn_id)]
    for name in ("subject", "name", "summary"):
        value = getattr(event.payload, name)
        if value is not None:
            yield [name, clean(value)]
    if event.payload.amount is not None:
        yield ["amount", _amount(event.payload).strip("()")]
    yield ["grade", f"{event.evidence.grade}: {event.evidence.basis}"]
    yield ["adapter", f"{event.source.adapter}, revision {event.source.adapter_version}"]
    yield ["source", path(f"{locator.root}/{locator.path}")]
    yield [
        "bytes",
        f"{locator.offset:,} to {locator.offset + locator.length:,}, generation {locator.generation}",
    ]
