"""``stemma usage``: tokens."""

from __future__ import annotations

from typing import Annotated

import typer

from stemma.cli.options import (
    AsJson,
    Database,
    GroupWord,
    Since,
    Timezone,
    Until,
    print_json,
    range_of,
    settings_for,
    zone_of,
)


def command(
    by: Annotated[
        GroupWord | None,
        typer.Option(
            "--by", metavar="|".join(GroupWord), help="Sums of each of these.", show_default=False
        ),
    ] = None,
    since: Since = None,
    until: Until = None,
    timezone: Timezone = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Sum up tokens, each response counted once."""
    from stemma.store.answers.usage import By
    from stemma.store.sqlite.read import reading
    from stemma.store.sqlite.read_usage import usage

    settings = settings_for(database, timezone=timezone)
    zone = zone_of(settings)
    within = range_of(since, until, zone)
    with reading(settings.database) as connection:
        answer = usage(
            connection,
            By(by.value) if by is not None else None,
            within=within,
            zone=zone,
            timezone=settings.timezone,
        )
    if as_json:
        print_json(answer)
        return
    from stemma.cli.render_usage import show

    show(answer)
