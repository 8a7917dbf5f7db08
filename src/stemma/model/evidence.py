"""How sure a claim is, and where it can be checked."""

from __future__ import annotations

from enum import IntEnum


class Grade(IntEnum):
    """Grade of evidence (DESIGN section 1, guarantee 3); a larger value is stronger.

    A lower grade never overwrites a higher one: every choice between claims compares grades first.
    """

    EXPERIMENTAL = 1
    INFERRED = 2
    DERIVED = 3
    OBSERVED = 4

    @property
    def word(self) -> str:
        """The grade as it is printed: ``observed``, ``derived``, ``inferred`` or ``experimental``."""
        return self.name.lower()
