"""``stemma statusline`` as a command among the others: its help, and a way in for who calls it from Python."""

from __future__ import annotations

from stemma.cli.options import Database


def command(database: Database = None) -> None:
    """Print one line for an agent's status line: session, today, block or limits, context.

    Reads the agent's JSON from standard input; prints ? for what is not known, and never fails.
    In Claude Code's settings: "statusLine": {"type": "command", "command": "stemma statusline"}.
    """
    from stemma.cli.statusline import run

    run([] if database is None else ["--database", str(database)])
