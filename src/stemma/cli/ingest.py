"""``stemma ingest``: transcripts in."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stemma.cli.options import AsJson, Database, print_json, settings_for

if TYPE_CHECKING:
    from stemma.bootstrap import Found
    from stemma.operate.once import IngestAnswer
    from stemma.pipeline import Progress
    from stemma.settings import Settings

Report = Callable[[str, "Progress", int], None]


def command(
    roots: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[ROOT]...",
            help="Configuration folders, their `projects`, or any folder laid out like it; by default the agent's own.",
            show_default=False,
        ),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(
            "--session", metavar="ID", help="Read only this session's files.", show_default=False
        ),
    ] = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Read what is new in the transcripts: one pass."""
    from stemma.bootstrap import find_roots

    settings = settings_for(database)
    found = find_roots(roots or settings.roots, os.environ, str(Path.home()))
    try:
        answer, elapsed = _run(settings, found, session)
    except KeyboardInterrupt:
        typer.echo(
            "stemma: interrupted; what was read so far is stored, and the next run goes on from there",
            err=True,
        )
        raise typer.Exit(130) from None
    if as_json:
        print_json(answer)
    else:
        from stemma.cli.render_ingest import summary

        for line in summary(answer, elapsed):
            typer.echo(line)
    _explain(found, answer)
    if answer.failures:
        raise typer.Exit(1)


def _explain(found: Found, answer: IngestAnswer) -> None:
    """What went wrong, and what to do about it, on standard error."""
    if not found.specs and not found.missing:
        places = " and ".join(found.looked)
        typer.echo(
            f"stemma: no transcripts found; looked in {places}.\n"
            "Name a folder: `stemma ingest FOLDER`, or set CLAUDE_CONFIG_DIR.",
            err=True,
        )
    for root in answer.failures:
        typer.echo(
            f"stemma: {root.root}: {root.outcome}: {root.detail or ''}".rstrip(": "), err=True
        )
    if answer.session_id is not None and not answer.session_sources and found.specs:
        typer.echo(
            f"stemma: no file of session {answer.session_id} has changed, or there is none",
            err=True,
        )


def _run(settings: Settings, found: Found, session: str | None) -> tuple[IngestAnswer, float]:
    from stemma.bootstrap import SystemClock, collector, writing
    from stemma.operate.once import Session, ingest

    clock = SystemClock()
    started = clock.monotonic()
    with writing(settings.database) as writer, _progress() as report:
        answer = ingest(
            writer,
            [collector(writer, spec, host=settings.host) for spec in found.specs],
            missing=found.missing,
            only=Session(session) if session is not None else None,
            report=report,
        )
    return answer, clock.monotonic() - started


@contextmanager
def _progress() -> Iterator[Report | None]:
    """A bar on standard error, when that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from stemma.cli.render_ingest import Bar

    with Bar() as bar:
        yield bar.report
