"""Builds projects folders for tests."""

import os
from pathlib import Path

from stemma.collect.discover import Discovery, discover
from stemma.model.source import RootSpec
from stemma.normalize.claude_code.locate import place

SESSION = "5b8c1f0e-2a47-4c19-9d36-7e0f4a61c2d8"
OTHER = "0ccf1a04-1b4c-43b6-8aa5-79e41db43a68"


class Tree:
    """A projects folder under construction.

    Attributes:
        path: Its real path.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(os.path.realpath(path))
        self.path.mkdir(parents=True, exist_ok=True)

    @property
    def spec(self) -> RootSpec:
        """The whole folder as a root."""
        return RootSpec(str(self.path))

    def write(self, relpath: str, data: bytes = b"{}\n") -> Path:
        """Write a file, with the folders that it needs."""
        path = self.path / relpath
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def append(self, relpath: str, data: bytes = b"{}\n") -> None:
        """Let a file grow."""
        with (self.path / relpath).open("ab") as file:
            file.write(data)

    def folder(self, relpath: str) -> Path:
        """Make a folder."""
        path = self.path / relpath
        path.mkdir(parents=True, exist_ok=True)
        return path

    def discover(self) -> Discovery:
        """List everything."""
        return discover(self.spec, place)

    def found(self) -> list[str]:
        """Paths of all sources."""
        return [file.relpath for file in self.discover().files]

    def skipped(self) -> dict[str, str]:
        """Why each skipped path is skipped."""
        return {skip.relpath: skip.reason.value for skip in self.discover().skips}
