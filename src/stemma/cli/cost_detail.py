"""``stemma cost receipt``, ``savings``, ``compaction`` and ``reconcile``: figures taken apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from stemma.cli.options import AsJson, Database, Timezone, print_json, settings_for, zone_of

if TYPE_CHECKING:
    from stemma.store.sqlite.read import Connection, Named

_OneSession = Annotated[
    str | None,
    typer.Argument(
        metavar="SESSION",
        help="Session id, or enough of its start to be unique; all sessions by default.",
        show_default=False,
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to ``stemma cost``."""
    app.command("receipt")(receipt)
    app.command("savings")(savings)
    app.command("compaction")(compaction)
    app.command("reconcile")(reconcile)


def receipt(
    what: Annotated[
        str,
        typer.Argument(
            metavar="SESSION|AGENT|MESSAGE|DAY",
            help="An id, or enough of its start to be unique; SESSION/main for a main thread; or a day, 2026-11-30.",
        ),
    ],
    timezone: Timezone = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Show what a figure is made of: lines read, prices with their dates and sources, and what is left out."""
    from stemma.operate.pricing import load_book
    from stemma.operate.receipts import receipt_for
    from stemma.store.sqlite.read import reading

    settings = settings_for(database, timezone=timezone)
    book = load_book(settings)
    with reading(settings.database) as connection:
        answer = receipt_for(
            connection, what, book, zone=zone_of(settings), timezone=settings.timezone
        )
    if as_json:
        print_json(answer)
        return
    from stemma.cli.render_receipt import show

    show(answer)


def savings(
    session: _OneSession = None, database: Database = None, as_json: AsJson = False
) -> None:
    """Estimate what subagents saved: their tokens on the model that started them, minus what they cost."""
    from stemma.operate.delegation import savings_answer
    from stemma.operate.pricing import load_book
    from stemma.store.sqlite.read import reading

    settings = settings_for(database)
    book = load_book(settings)
    with reading(settings.database) as connection:
        answer = savings_answer(connection, book, _named(connection, session))
    if as_json:
        print_json(answer)
        return
    from stemma.cli.render_analyses import show_savings

    show_savings(answer)


def compaction(
    session: _OneSession = None,
    timezone: Timezone = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Show what was billed between compactions, and what rebuilding the cache cost after each."""
    from stemma.operate.compacting import compaction_answer
    from stemma.operate.pricing import load_book
    from stemma.store.sqlite.read import reading

    settings = settings_for(database, timezone=timezone)
    book = load_book(settings)
    with reading(settings.database) as connection:
        answer = compaction_answer(connection, book, _named(connection, session))
    if as_json:
        print_json(answer)
        return
    from stemma.cli.render_analyses import show_compaction

    show_compaction(answer, zone_of(settings))


def reconcile(
    session: _OneSession = None,
    timezone: Timezone = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Compare our bill of each session with the client's own, and say where a difference comes from."""
    from stemma.operate.pricing import load_book
    from stemma.operate.reconciling import reconcile_answer
    from stemma.store.sqlite.read import reading

    settings = settings_for(database, timezone=timezone)
    book = load_book(settings)
    with reading(settings.database) as connection:
        answer = reconcile_answer(connection, book, _named(connection, session))
    if as_json:
        print_json(answer)
        return
    from stemma.cli.render_analyses import show_reconcile

    show_reconcile(answer, zone_of(settings))


def _named(connection: Connection, session: str | None) -> Named | None:
    from stemma.store.sqlite.read import find_session

    return find_session(connection, session) if session is not None else None
