"""The dictionary of repeated texts."""

from __future__ import annotations

import apsw


class Names:
    """Texts by number and numbers by text, read once and remembered.

    The numbers depend on the order of ingest and never leave the database.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._ids: dict[str, int] = {}
        self._texts: dict[int, str] = {}

    def id(self, text: str) -> int:
        """Number of a text, which is added when it is new. Only inside a writing transaction."""
        found = self._ids.get(text)
        if found is not None:
            return found
        number = self._connection.execute("SELECT id FROM names WHERE text = ?", (text,)).get
        if number is None:
            number = self._connection.execute(
                "INSERT INTO names (text) VALUES (?) RETURNING id", (text,)
            ).get
        self._remember(number, text)
        return int(number)

    def find(self, text: str) -> int | None:
        """Number of a text, or nothing when no row can refer to it."""
        found = self._ids.get(text)
        if found is None:
            found = self._connection.execute("SELECT id FROM names WHERE text = ?", (text,)).get
            if found is None:
                return None
            self._remember(found, text)
        return found

    def text(self, number: int) -> str:
        """Text of a number."""
        found = self._texts.get(number)
        if found is None:
            found = str(
                self._connection.execute("SELECT text FROM names WHERE id = ?", (number,)).get
            )
            self._remember(number, found)
        return found

    def forget(self) -> None:
        """Drop what is remembered: after a rollback, numbers may be given anew."""
        self._ids.clear()
        self._texts.clear()

    def _remember(self, number: int, text: str) -> None:
        if len(self._ids) > 200_000:  # noqa: PLR2004 - bounds memory; nothing else depends on it
            self.forget()
        self._ids[text] = number
        self._texts[number] = text
