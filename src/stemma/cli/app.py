"""The command line: which commands there are, and how anything that goes wrong is told."""

from __future__ import annotations

import sys
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from stemma import __version__
from stemma.cli import (
    cost_detail,
    doctor,
    dump,
    events,
    ingest,
    sessions,
    show,
    statusline_command,
    tree,
    usage,
)
from stemma.errors import StemmaError

FAILED = 1
INTERRUPTED = 130

_HELP = """Reconstructs what coding agents did: who spawned whom, with which tools, at what token cost.

`stemma ingest` reads the transcripts that the agents left; every other command shows what is in the record.
"""


class Guarded(TyperGroup):
    """Tells errors in one line: a traceback is for faults of ours, never for what a person can act on."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - the types of typer's own click are private
        """Run the command."""
        try:
            return super().invoke(ctx)
        except StemmaError as error:
            typer.echo(f"stemma: {error}", err=True)
            _leave(ctx, FAILED)
        except KeyboardInterrupt:
            typer.echo("stemma: interrupted", err=True)
            _leave(ctx, INTERRUPTED)


def _leave(ctx: Any, code: int) -> NoReturn:  # noqa: ANN401 - see above
    ctx.exit(code)
    raise AssertionError


app = typer.Typer(
    cls=Guarded,
    help=_HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _name, _command in (
    ("ingest", ingest.command),
    ("sessions", sessions.command),
    ("tree", tree.command),
    ("usage", usage.command),
    ("events", events.command),
    ("show", show.command),
    ("dump", dump.command),
    ("doctor", doctor.command),
    ("statusline", statusline_command.command),
):
    app.command(_name)(_command)

cost = typer.Typer(
    help="What it cost, and how that was computed.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
cost_detail.register(cost)
app.add_typer(cost, name="cost")


def _version(value: bool) -> None:
    if value:
        typer.echo(f"stemma {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Every option stands after the command."""


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets a question mark, not a traceback.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    app(prog_name="stemma")
