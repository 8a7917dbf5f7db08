"""Options that commands share, and the settings that they lead to."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from datetime import tzinfo

    from stemma.settings import Settings
    from stemma.store.sqlite.overlay import Watch
    from stemma.store.sqlite.read_usage import Range

Database = Annotated[
    Path | None,
    typer.Option(
        "--database",
        metavar="FILE",
        help="The database; by default in the platform's state folder.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        help="From this day or time on: 2026-11-30, or 2026-11-30T14:00:00Z.",
        show_default=False,
    ),
]
Until = Annotated[
    str | None,
    typer.Option(
        "--until",
        metavar="TIME",
        help="Up to this day or time, inclusive.",
        show_default=False,
    ),
]
Timezone = Annotated[
    str | None,
    typer.Option(
        "--timezone",
        metavar="ZONE",
        help="Zone in which days are counted, such as Europe/Vienna; `local` is the machine's own.",
        show_default=False,
    ),
]
SessionId = Annotated[
    str, typer.Argument(metavar="SESSION", help="Session id, or enough of its start to be unique.")
]


class StatusWord(StrEnum):
    """The words of ``model.entity.Status``, here so that help need not load them."""

    WORKING = "working"
    WAITING = "waiting"
    COMPLETED = "completed"
    ERROR = "error"
    UNKNOWN = "unknown"


class GroupWord(StrEnum):
    """The words of ``store.answers.usage.By``, here so that help need not load them."""

    DAY = "day"
    MODEL = "model"
    PROJECT = "project"
    SESSION = "session"
    AGENT = "agent"
    BRANCH = "branch"


def settings_for(database: Path | None, *, timezone: str | None = None) -> Settings:
    """Settings in force.

    Args:
        database: Value of ``--database``.
        timezone: Value of ``--timezone``.

    Raises:
        SettingsError: A setting is wrong.
    """
    from stemma import log, settings

    found = settings.load(
        machine=settings.this_machine(),
        environment=os.environ,
        flags={"database": database, "timezone": timezone},
    )
    log.configure(found.log_level, sys.stderr)
    return found


def zone_of(settings: Settings) -> tzinfo | None:
    """The zone in which days are counted; nothing for the machine's own."""
    from zoneinfo import ZoneInfo

    from stemma.settings import LOCAL

    return None if settings.timezone == LOCAL else ZoneInfo(settings.timezone)


def range_of(since: str | None, until: str | None, zone: tzinfo | None) -> Range:
    """The range that ``--since`` and ``--until`` stand for.

    Raises:
        typer.BadParameter: One of them is no day and no time, or they are in the wrong order.
    """
    from stemma.cli import when
    from stemma.store.sqlite.read_usage import Range

    try:
        found = Range(
            when.start(since, zone) if since is not None else None,
            when.end(until, zone) if until is not None else None,
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if found.since is not None and found.until is not None and found.since >= found.until:
        raise typer.BadParameter(f"--since {since} is later than --until {until}")
    return found


def watch_of(settings: Settings) -> Watch:
    """The clock, and the silence after which nobody knows."""
    from stemma.bootstrap import SystemClock
    from stemma.store.sqlite.overlay import Watch

    return Watch(SystemClock().now(), settings.watchdog_minutes * 60_000_000)


def print_json(answer: object) -> None:
    """Print an answer as JSON that people can read too."""
    import msgspec

    typer.echo(msgspec.json.format(msgspec.json.encode(answer), indent=2))
