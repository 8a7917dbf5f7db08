"""Opening the database for reading, and finding what a person names by its first characters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw

from stemma.errors import Damaged, NotFound, StoreError
from stemma.store.sqlite.connection import connect
from stemma.store.sqlite.migrate import available, check
from stemma.store.sqlite.trouble import damaged, plainly

Connection = apsw.Connection
"""What readers hand on, for those who may not know the library."""

_MOST_CANDIDATES = 10
_SHORTEST = 8


@contextmanager
def reading(path: Path) -> Iterator[apsw.Connection]:
    """A connection that only reads, in one snapshot: a collector that writes meanwhile changes no answer half-way.

    Args:
        path: The database.

    Raises:
        NotFound: There is no database yet, or it holds nothing.
        Damaged: The file is no database, or broken.
        StoreError: It cannot be read, or was written by another version.
    """
    if not path.exists():
        raise NotFound(f"there is no database at {path}: run `stemma ingest` first")
    try:
        connection = connect(path, writer=False)
    except StoreError as error:
        if isinstance(error.__cause__, apsw.NotADBError | apsw.CorruptError):
            raise damaged(path, str(error.__cause__)) from error
        raise
    try:
        with plainly(path):
            _check(connection, path)
            connection.execute("BEGIN")
            yield connection
    finally:
        connection.close()


def _check(connection: apsw.Connection, path: Path) -> None:
    known = connection.execute(
        "SELECT count(*) FROM sqlite_schema WHERE name = 'migrations' AND type = 'table'"
    ).get
    if not known:
        others = connection.execute("SELECT count(*) FROM sqlite_schema").get
        if others:
            raise StoreError(f"{path} is a database of another program")
        raise NotFound(f"{path} is empty: run `stemma ingest` first")
    check(connection)
    newest = connection.execute("SELECT coalesce(max(number), 0) FROM migrations").get
    if newest < available()[-1].number:
        raise StoreError(
            f"{path} was written by an older version: run `stemma ingest` to update it"
        )


def integrity(path: Path) -> list[str]:
    """What is wrong with the file; empty when nothing is.

    Raises:
        StoreError: It cannot even be opened for another reason than damage.
    """
    try:
        with reading(path) as connection:
            found = [str(text) for (text,) in connection.execute("PRAGMA quick_check(20)")]
    except Damaged as error:
        cause = error.__cause__.__cause__ or error.__cause__ if error.__cause__ else error
        return [str(cause)]
    return [] if found == ["ok"] else found


class Named(NamedTuple):
    """A session that was asked for.

    Attributes:
        number: Its number in this database.
        session_id: Its id.
    """

    number: int
    session_id: str


def find_session(connection: apsw.Connection, text: str) -> Named:
    """The session with an id, or the only one whose id begins with a text.

    Args:
        connection: A reading connection.
        text: An id or the start of one.

    Raises:
        NotFound: There is none, or more than one.
    """
    statement = (
        "SELECT s.session, n.text, s.title FROM sessions s JOIN names n ON n.id = s.session "
        "WHERE {} ORDER BY s.last_at DESC"
    )
    for condition in (
        "n.text = ?1",
        "substr(n.text, 1, length(?1)) = ?1",
        "substr(lower(n.text), 1, length(?1)) = lower(?1)",
    ):
        found = list(connection.execute(statement.format(condition), (text,))) if text else []
        if len(found) == 1:
            number, session_id, _ = found[0]
            return Named(number, session_id)
        if found:
            raise NotFound(_ambiguous(text, [(session, title) for _, session, title in found]))
    raise NotFound(f"no session's id begins with {text!r}: `stemma sessions` lists them")


def _ambiguous(text: str, found: list[tuple[str, str]]) -> str:
    lines = [f"  {session}  {_one_line(title)}" for session, title in found[:_MOST_CANDIDATES]]
    if len(found) > _MOST_CANDIDATES:
        lines.append(f"  … and {len(found) - _MOST_CANDIDATES} more")
    return "\n".join([f"{len(found)} sessions begin with {text!r}:", *lines])


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)[:60]


def unique_length(connection: apsw.Connection, sessions: list[str]) -> int:
    """How many first characters tell each of the given sessions from all others; at least eight."""
    longest = _SHORTEST
    for (text,) in connection.execute("SELECT value FROM json_each(?)", (json.dumps(sessions),)):
        while longest < len(text) and _shared(connection, text[:longest]) > 1:
            longest += 1
    return longest


def _shared(connection: apsw.Connection, start: str) -> int:
    found = connection.execute(
        "SELECT count(*) FROM names n JOIN sessions s ON s.session = n.id WHERE n.text >= ?1 AND n.text < ?1 || ?2",
        (start, "\U0010ffff"),
    ).get
    return int(found)


def ids(values: list[int]) -> str:
    """Numbers as the JSON list that ``json_each`` takes."""
    return json.dumps(values)
