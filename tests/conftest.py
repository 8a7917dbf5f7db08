"""What every test run shares: the place of the corpora, and that an empty run is a failed run."""

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the working copy under test."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of corpora and cases: $STEMMA_SHARED, else `shared` beside the working copy."""
    folder = Path(os.environ.get("STEMMA_SHARED", REPOSITORY.parent / "shared"))
    if not folder.is_dir():
        absent = pytest.fail if os.environ.get("CI", "").lower() == "true" else pytest.skip
        absent(f"no corpora at {folder}: set STEMMA_SHARED")
    return folder


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A run in which nothing was executed (all skipped or deselected) must not look like success."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or session.config.option.collectonly:  # a worker of xdist, or only listing
        return
    executed = sum(len(reporter.stats.get(kind, ())) for kind in ("passed", "failed", "xfailed"))
    if not executed and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
