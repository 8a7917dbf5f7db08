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
    """Examine the record: sources, skips, faults, quarantine, and what the adapters can and cannot tell."""
    from stemma.bootstrap import adapters  # noqa: PLC0415 - see the package
    from stemma.operate.doctor import examine  # noqa: PLC0415 - see the package

    settings = settings_for(database, timezone=timezone)
    health = examine(settings, adapters())
    if as_json:
        print_json(health)
    else:
        from stemma.cli.render_doctor import show  # noqa: PLC0415 - see the package

        show(health, zone_of(settings), verbose=verbose)
    if health.database.integrity:
        raise typer.Exit(1)
