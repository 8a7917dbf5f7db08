"""What is shipped: a wheel holds what the program needs besides its code."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.architecture.source import PACKAGE, REPOSITORY


@pytest.mark.slow
def test_the_wheel_holds_code_migrations_sample_and_type_marker(tmp_path: Path) -> None:
    """Every file below the package is in the wheel."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", tmp_path],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    shipped = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("stemma/")}
    wanted = {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert shipped == wanted
    assert "stemma/sample/README.md" in shipped
    assert "stemma/py.typed" in shipped
