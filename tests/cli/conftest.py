"""Whole commands, run in the test's own process and far from the user's own data."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.architecture.source import PACKAGE
from typer.testing import CliRunner

from stemma.bootstrap import collect_once
from stemma.cli.app import app

SAMPLE = PACKAGE / "sample" / "projects"


class Ran(NamedTuple):
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - any JSON
        """Its output as JSON."""
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No configuration, no transcripts and no database of the machine."""
    for name in ("CLAUDE_CONFIG_DIR", "STEMMA_CONFIG", "STEMMA_DATABASE", "STEMMA_ROOTS"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.setenv("STEMMA_TIMEZONE", "UTC")
    monkeypatch.setenv("COLUMNS", "120")


@pytest.fixture
def run() -> Run:
    """Run a command line."""

    def invoke(*arguments: object, env: dict[str, str] | None = None) -> Ran:
        result = CliRunner().invoke(app, [str(one) for one in arguments], env=env)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ran(result.exit_code, result.stdout, result.stderr)

    return invoke


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the bundled sample."""
    database = tmp_path_factory.mktemp("sample") / "stemma.db"
    collect_once(database, [SAMPLE])
    return database


@pytest.fixture
def database(tmp_path: Path) -> Callable[..., Path]:
    """Take in some trees."""

    def build(*roots: Path) -> Path:
        path = tmp_path / "built.db"
        collect_once(path, roots)
        return path

    return build


def column(text: str, head: str) -> Sequence[str]:
    """The words below the head of a column, right to left aligned or not."""
    lines = text.splitlines()
    end = lines[0].index(head) + len(head)
    return [line[:end].split()[-1] for line in lines[1:] if line[:end].split()]
