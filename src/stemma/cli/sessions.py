"""``stemma sessions``: the list."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from stemma.cli.options import (
    AsJson,
    Database,
    Since,
    StatusWord,
    Timezone,
    Until,
    print_json,
    range_of,
    settings_for,
    watch_of,
    zone_of,
)

_PAGE = 20


def command(
    project: Annotated[
        str | None,
        typer.Option(
            "--project",
            metavar="TEXT",
            help="Only projects whose folder or working directory holds this text.",
            show_default=False,
        ),
    ] = None,
    since: Since = None,
    until: Until = None,
    timezone: Timezone = None,
    status: Annotated[
        StatusWord | None,
        typer.Option(
            "--status",
            metavar="|".join(StatusWord),
            help="Only sessions that are shown so.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            min=0,
            metavar="N",
            help="Most sessions to list, 0 for all; by default 20 on a terminal and all otherwise.",
            show_default=False,
        ),
    ] = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """List sessions, newest first."""
    from stemma.store.sqlite.read import reading, unique_length
    from stemma.store.sqlite.read_sessions import Filter, sessions

    settings = settings_for(database, timezone=timezone)
    zone = zone_of(settings)
    if limit is None and not as_json and sys.stdout.isatty():
        limit = _PAGE
    wanted = Filter(
        project=project,
        within=range_of(since, until, zone),
        status=status.value if status is not None else None,
        limit=limit or None,
    )
    with reading(settings.database) as connection:
        answer = sessions(connection, wanted, watch_of(settings))
        if as_json:
            print_json(answer)
            return
        width = unique_length(connection, [one.session_id for one in answer.sessions])
    from stemma.cli.render_sessions import show

    show(answer, width, zone)
