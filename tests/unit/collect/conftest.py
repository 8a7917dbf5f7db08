"""What the tests of collecting share."""

from pathlib import Path

import pytest
from tests.unit.collect.tree import Tree


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """An empty projects folder."""
    return Tree(tmp_path / "projects")
