"""The shared data: where it lies, and that its absence is a skip for a person and a failure in CI."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

REPOSITORY = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("STEMMA_SHARED", REPOSITORY.parent / "shared"))
IN_CI = os.environ.get("CI", "").lower() == "true"


def each(pattern: str) -> list[ParameterSet]:
    """One parameter for each path of the shared data that fits a pattern.

    Without data there is one parameter all the same: it is skipped, or, in CI, does not exist when it is opened.
    """
    paths = sorted(SHARED.glob(pattern))
    if paths:
        return [pytest.param(path, id=_name(path)) for path in paths]
    missing = pytest.mark.skip(reason=f"no {pattern} in {SHARED}: set STEMMA_SHARED")
    return [pytest.param(SHARED / pattern, id="missing", marks=() if IN_CI else (missing,))]


def need(pattern: str) -> list[Path]:
    """All paths of the shared data that fit a pattern; skips, or fails in CI, when there is none."""
    paths = sorted(SHARED.glob(pattern))
    if not paths:
        message = f"no {pattern} in {SHARED}: set STEMMA_SHARED"
        (pytest.fail if IN_CI else pytest.skip)(message)
    return paths


def _name(path: Path) -> str:
    parts = path.relative_to(SHARED).parts
    return "-".join(parts[1:]) if len(parts) > 1 else parts[0]
