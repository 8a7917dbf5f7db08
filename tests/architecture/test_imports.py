"""Data flows one way: the import contracts of pyproject.toml hold, and would notice a breach."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.architecture.source import REPOSITORY

BREACHES = [
    ("derive/breach.py", "import stemma.store\n", "Data flows one way"),
    ("relate/breach.py", "import stemma.normalize\n", "Data flows one way"),
    ("service/__init__.py", "", "Data flows one way"),
    ("model/breach.py", "import time\n", "Pure stages"),
    ("normalize/breach.py", "import os\n", "Pure stages"),
    ("collect/breach.py", "import apsw\n", "Only the store"),
    ("cli/breach.py", "import sqlite3\n", "Only the store"),
]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the contracts over the package below `folder`."""
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder / "src"), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_import_contracts_hold() -> None:
    """No stage imports a later one, pure stages no I/O, and only the store a database."""
    run = lint(REPOSITORY)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("path", "text", "contract"), BREACHES)
def test_a_breach_is_reported(tmp_path: Path, path: str, text: str, contract: str) -> None:
    """A contract that cannot fail protects nothing."""
    shutil.copy(REPOSITORY / "pyproject.toml", tmp_path)
    ignored = shutil.ignore_patterns("__pycache__", "sample")
    shutil.copytree(REPOSITORY / "src", tmp_path / "src", ignore=ignored)
    planted = tmp_path / "src" / "stemma" / path
    planted.parent.mkdir(exist_ok=True)
    planted.write_text(f'"""Planted."""\n\n{text}', encoding="utf-8")
    run = lint(tmp_path)
    assert run.returncode != 0
    assert re.search(rf"{contract}.* BROKEN", run.stdout), run.stdout + run.stderr
