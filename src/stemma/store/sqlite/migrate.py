"""Migrations: numbered SQL, each applied in one transaction with the record of it, checksummed."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import NamedTuple

import apsw

from stemma.errors import MigrationEdited, SchemaTooNew, StoreError


class Migration(NamedTuple):
    """One step of the schema."""

    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        """Digest of the text; an edited migration is refused."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def available() -> list[Migration]:
    """The migrations that this program brings, in order."""
    folder = files("stemma.store.sqlite") / "migrations"
    found = []
    for entry in folder.iterdir():
        number, _, rest = entry.name.partition("_")
        if number.isdigit() and rest.endswith(".sql"):
            found.append(
                Migration(int(number), rest.removesuffix(".sql"), entry.read_text("utf-8"))
            )
    return sorted(found)


def migrate(connection: apsw.Connection, migrations: list[Migration] | None = None) -> int:
    """Bring the schema up to date.

    Args:
        connection: A writing connection.
        migrations: Steps to apply; those of this program by default.

    Returns:
        Number of the last migration.

    Raises:
        MigrationEdited: A migration that was applied has another text now.
        SchemaTooNew: The database knows migrations that this program does not.
        StoreError: The file is a database of another program.
    """
    steps = available() if migrations is None else migrations
    foreign = connection.execute("SELECT count(*) FROM sqlite_schema").get
    ours = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'migrations'").get
    if foreign and not ours:
        raise StoreError("the file is a database of another program: name another one")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS migrations "
        "(number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL) STRICT"
    )
    check(connection, steps)
    applied = {number for (number,) in connection.execute("SELECT number FROM migrations")}
    for step in steps:
        if step.number not in applied:
            with connection:
                connection.execute(step.sql)
                connection.execute(
                    "INSERT INTO migrations VALUES (?, ?, ?)",
                    (step.number, step.name, step.checksum),
                )
    return steps[-1].number if steps else 0


def check(connection: apsw.Connection, migrations: list[Migration] | None = None) -> None:
    """Refuse a database that this program does not understand; for readers, who change nothing.

    Raises:
        MigrationEdited: See ``migrate``.
        SchemaTooNew: See ``migrate``.
    """
    steps = available() if migrations is None else migrations
    known = {step.number: step for step in steps}
    for number, checksum in connection.execute(
        "SELECT number, checksum FROM migrations ORDER BY number"
    ):
        if number not in known:
            message = f"the database was written by a newer version of Stemma (migration {number}): upgrade Stemma"
            raise SchemaTooNew(message)
        if known[number].checksum != checksum:
            message = (
                f"migration {number} ({known[number].name}) was edited after it had been applied"
            )
            raise MigrationEdited(message)
