"""The source tree as the architecture tests see it."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parent.parent.parent
PACKAGE = REPOSITORY / "src" / "stemma"
PYTHON_FOLDERS = ("src", "tests", "tools", "bench")


class Module(NamedTuple):
    """One Python file.

    Attributes:
        name: Its path below the repository.
        folder: The top folder below the package (`collect`, `store`, …), empty for a top module.
        text: Its source.
    """

    name: str
    folder: str
    text: str

    @property
    def tree(self) -> ast.Module:
        """The parsed source."""
        return ast.parse(self.text, self.name)

    @property
    def lines(self) -> int:
        """Its length."""
        return len(self.text.splitlines())


def modules(*folders: str) -> Iterator[Module]:
    """All Python files below folders of the repository, in order."""
    for folder in folders:
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            below = path.relative_to(PACKAGE).parts if path.is_relative_to(PACKAGE) else ()
            yield Module(
                name=path.relative_to(REPOSITORY).as_posix(),
                folder=below[0] if len(below) > 1 else "",
                text=path.read_text(encoding="utf-8"),
            )
