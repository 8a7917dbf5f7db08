"""``stemma dump``: the record for scripts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from stemma.cli.options import AsJson, Database, settings_for

if TYPE_CHECKING:
    from stemma.store.sqlite.read import Connection


def command(
    everything: Annotated[
        bool,
        typer.Option("--all", help="Every evidence table, sorted: one JSON object a line."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            metavar="FILE",
            help="Write to this file, readable by you alone.",
            show_default=False,
        ),
    ] = None,
    database: Database = None,
    as_json: AsJson = False,  # noqa: ARG001 - accepted everywhere; a dump is always JSON
) -> None:
    """Print the whole record, neutral and sorted, always as JSON."""
    from stemma.store.sqlite.read import reading

    settings = settings_for(database)
    with reading(settings.database) as connection, _target(output, settings.database) as target:
        for piece in _rows(connection) if everything else _neutral(connection):
            target.write(piece)


def _neutral(connection: Connection) -> Iterator[bytes]:
    import msgspec

    from stemma.store.sqlite.neutral import neutral

    yield msgspec.json.format(msgspec.json.encode({"sessions": neutral(connection)}), indent=1)
    yield b"\n"


def _rows(connection: Connection) -> Iterator[bytes]:
    import msgspec

    from stemma.store.sqlite.dump import dump

    for row in dump(connection):
        yield msgspec.json.encode({"table": row.table, **row.values}) + b"\n"


@contextmanager
def _target(output: Path | None, database: Path) -> Iterator[BinaryIO]:
    """Standard output, or a regular file that appears whole or not at all; never the database or what belongs to it."""
    if output is None or str(output) == "-":
        yield typer.get_binary_stream("stdout")
        return
    if os.path.realpath(output).startswith(os.path.realpath(database)):
        raise typer.BadParameter(f"{output} belongs to the database: name another file")
    if output.is_symlink() or (output.exists() and not output.is_file()):
        raise typer.BadParameter(f"{output} is no regular file: redirect standard output instead")
    draft = output.with_name(f".{output.name}.part")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            yield file
        draft.replace(output)
    except OSError as error:
        raise typer.BadParameter(f"{output} cannot be written: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)
