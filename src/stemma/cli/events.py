"""``stemma events``: the timeline of a session."""

from __future__ import annotations

import difflib
from typing import Annotated

import typer

from stemma.cli.options import (
    AsJson,
    Database,
    SessionId,
    Timezone,
    print_json,
    settings_for,
    zone_of,
)


def command(
    session: SessionId,
    type_: Annotated[
        str | None,
        typer.Option(
            "--type",
            metavar="TYPE",
            help="Only events of this type, such as tool.failed; record.unknown lists records of unknown kinds.",
            show_default=False,
        ),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            metavar="AGENT",
            help="Only events of `main`, or of the agent whose id begins so.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", min=1, metavar="N", help="Only the newest N of them.", show_default=False
        ),
    ] = None,
    timezone: Timezone = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Show what happened in a session, in the order of time."""
    from stemma.store.sqlite.read import find_session, reading
    from stemma.store.sqlite.read_events import WORDS, Choice, events

    if type_ is not None and type_ not in WORDS.values():
        near = difflib.get_close_matches(type_, WORDS.values(), n=3, cutoff=0.4)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise typer.BadParameter(f"{type_!r} is no event type{hint}", param_hint="--type")
    settings = settings_for(database, timezone=timezone)
    with reading(settings.database) as connection:
        named = find_session(connection, session)
        answer = events(connection, named, Choice(type_, agent, limit))
    if as_json:
        print_json(answer)
        return
    from stemma.cli.render_events import show

    show(answer, zone_of(settings))
