"""``stemma show``: one event with its evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from stemma.cli.options import AsJson, Database, Timezone, print_json, settings_for, zone_of

if TYPE_CHECKING:
    from stemma.store.answers.events import Shown
    from stemma.store.sqlite.read_events import Located


def command(
    event: Annotated[
        str, typer.Argument(metavar="EVENT", help="Event id, or enough of its start to be unique.")
    ],
    session: Annotated[
        str | None,
        typer.Option(
            "--session",
            metavar="SESSION",
            help="Look only in this session, which is faster.",
            show_default=False,
        ),
    ] = None,
    timezone: Timezone = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Show one event with the record it was read from.

    Secrets are taken out of the record.
    """
    settings = settings_for(database, timezone=timezone)
    answer = _look(settings.database, event, session)
    if as_json:
        print_json(answer)
        return
    from stemma.cli.render_events import show_one

    show_one(answer, zone_of(settings))


def _look(database: object, event: str, session: str | None) -> Shown:
    from pathlib import Path

    from stemma.operate.raw import RawState, read_back
    from stemma.store.answers.events import Shown
    from stemma.store.sqlite.read import find_session, reading
    from stemma.store.sqlite.read_event import (
        current_generation,
        find_event,
        removed_since,
    )
    from stemma.store.sqlite.read_events import Turns, envelope

    with reading(Path(str(database))) as connection:
        named = find_session(connection, session) if session is not None else None
        one = _single(find_event(connection, event, named), event)
        found = envelope(one, Turns(connection))
        newest, removed = current_generation(connection, one), removed_since(connection, one)
    raw = read_back(found.source.record_locator, newest, found.source.source_event_id)
    detail = raw.detail
    if raw.state is RawState.REMOVED and removed is not None:
        detail = f"its file has been gone since {removed}; what was derived from it stays"
    return Shown(event=found, raw_state=raw.state, raw_detail=detail or None, raw=raw.value)


def _single(found: list[Located], text: str) -> Located:
    from stemma.errors import NotFound
    from stemma.store.sqlite.read_events import WORDS

    if not found:
        raise NotFound(f"no event's id begins with {text!r}: `stemma events SESSION` lists them")
    if len(found) > 1:
        lines = [
            f"  {one.id}  {WORDS[one.packed.type]}  session {one.packed.session}"
            for one in found[:10]
        ]
        more = [f"  … and {len(found) - 10} more"] if len(found) > 10 else []  # noqa: PLR2004 - as above
        raise NotFound("\n".join([f"{len(found)} events begin with {text!r}:", *lines, *more]))
    return found[0]
