"""Whole commands, run in the test's own process and far from the user's own data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from stemma.cli.app import app


class Commands:
    """A command line with a database of its own.

    Attributes:
        database: The database; made by the first ``ingest``.
    """

    def __init__(self, folder: Path) -> None:
        self.database = folder / "commands.db"
        home = str(folder)
        names = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR")
        self._environment: dict[str, str | None] = dict.fromkeys(names, home)
        self._environment |= {"STEMMA_TIMEZONE": "UTC", "STEMMA_CONFIG": None, "STEMMA_ROOTS": None}

    def json(self, *arguments: object) -> Any:  # noqa: ANN401 - any JSON
        """What a command prints with ``--json``."""
        words = [*map(str, arguments), "--json", "--database", str(self.database)]
        result = CliRunner().invoke(app, words, env=self._environment)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)
