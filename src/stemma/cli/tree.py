"""``stemma tree``: who spawned whom."""

from __future__ import annotations

from stemma.cli.options import (
    AsJson,
    Database,
    SessionId,
    Timezone,
    print_json,
    settings_for,
    watch_of,
    zone_of,
)


def command(
    session: SessionId,
    timezone: Timezone = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Show who started whom in a session, and what proves it."""
    from stemma.store.sqlite.read import find_session, reading
    from stemma.store.sqlite.read_tree import tree

    settings = settings_for(database, timezone=timezone)
    with reading(settings.database) as connection:
        answer = tree(connection, find_session(connection, session), watch_of(settings))
    if as_json:
        print_json(answer)
        return
    from stemma.cli.render_tree import show

    show(answer, zone_of(settings))
