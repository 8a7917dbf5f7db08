"""Structured log entries on standard error: one JSON object a line, and never content.

Transcripts hold what people and agents said, so an entry has no room for text from them: its event
is a literal in our source, its fields are numbers and members of enums, and of an exception it
keeps the type and the place, since a message may quote what it was given.
"""

import json
import logging
import traceback
from datetime import UTC, datetime
from enum import StrEnum
from typing import LiteralString, TextIO

Field = bool | int | float | StrEnum | None

ROOT = "stemma"
_FIELDS = "stemma_fields"


class JsonFormatter(logging.Formatter):
    """Writes a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return time, level, logger, event and fields; arguments are never put into the text."""
        entry: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": str(record.msg),
        }
        entry |= getattr(record, _FIELDS, {})
        if record.exc_info and record.exc_info[0]:
            entry["error"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])
            entry["at"] = [f"{frame.name}:{frame.lineno}" for frame in frames[-3:]]
        return json.dumps(entry, separators=(",", ":"))


def configure(level: str, stream: TextIO) -> None:
    """Send Stemma's entries from ``level`` on to ``stream``, and to nobody else.

    Calling it again replaces what was configured before.
    """
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger(ROOT)
    logger.handlers[:] = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False


def emit(
    logger: logging.Logger,
    level: int,
    event: LiteralString,
    *,
    error: BaseException | None = None,
    **fields: Field,
) -> None:
    """Log one event.

    Args:
        logger: The logger of the calling module.
        level: A level of the standard library.
        event: What happened, as a literal: ``"source parked"``.
        error: The exception behind it; its message is not logged.
        fields: Numbers, flags and members of enums.

    Raises:
        TypeError: A field is text, whatever its annotation says.
    """
    for name, value in fields.items():
        if isinstance(value, str) and not isinstance(value, StrEnum):
            raise TypeError(f"{name}: log fields are numbers, flags and enums, never text")
    logger.log(level, event, extra={_FIELDS: fields}, exc_info=error)
