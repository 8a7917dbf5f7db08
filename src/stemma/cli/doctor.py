"""``stemma doctor``: what was read, what was not, and why."""

from __future__ import annotations

from typing import Annotated

import typer

from stemma.cli.options import AsJson, Database, Timezone, print_json, settings_for, zone_of


def command(
    verbose: Annotated[
        bool, typer.Option("--verbose", help="List everything that is only counted otherwise.")
    ] = False,
    timezone: Timezone = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Examine what was read, what was not, and why.

    Sources, skips, faults, quarantine, and what the adapters can and cannot tell.
    """
    from stemma.bootstrap import adapters
    from stemma.operate.doctor import examine

    settings = settings_for(database, timezone=timezone)
    health = examine(settings, adapters())
    if as_json:
        print_json(health)
    else:
        from stemma.cli.render_doctor import show

        show(health, zone_of(settings), verbose=verbose)
    if health.database.integrity:
        raise typer.Exit(1)
