"""Opening the database: every pragma with its reason."""

from __future__ import annotations

import os
from pathlib import Path

import apsw

from stemma.errors import StoreBusy, StoreError

OLDEST_SQLITE = (3, 51, 3)
"""Older libraries can corrupt a WAL file that two processes share."""

BUSY_MILLISECONDS = 10_000


def connect(path: Path, *, writer: bool) -> apsw.Connection:
    """Open the database.

    Args:
        path: The file; a writer creates it and its folder, readable by the user alone.
        writer: Whether this connection may write.

    Raises:
        StoreError: The SQLite library is too old, or the file cannot be opened.
    """
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    if version < OLDEST_SQLITE:
        message = f"SQLite {apsw.sqlite_lib_version()} is too old: at least 3.51.3 is needed"
        raise StoreError(message)
    if writer:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        path.chmod(0o600)
    flags = apsw.SQLITE_OPEN_READWRITE if writer else apsw.SQLITE_OPEN_READONLY
    try:
        connection = apsw.Connection(os.fspath(path), flags=flags, statementcachesize=200)
    except apsw.Error as error:
        message = f"the database cannot be opened: {error}"
        raise StoreError(message) from error
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    try:
        _configure(connection, writer=writer)
    except apsw.BusyError as error:
        connection.close()
        message = "the database is in use by another writer; try again when it is done"
        raise StoreBusy(message) from error
    except apsw.Error as error:
        connection.close()
        message = f"the database cannot be used: {error}"
        raise StoreError(message) from error
    return connection


def _configure(connection: apsw.Connection, *, writer: bool) -> None:
    # A constraint that is declared and not enforced is a comment.
    connection.pragma("foreign_keys", True)
    # Half of the default would thrash on a cold ingest; 64 MiB holds the upper levels of every tree.
    connection.pragma("cache_size", -65_536)
    # Sorts and temporary tables of queries never touch the disk.
    connection.pragma("temp_store", "MEMORY")
    if writer:
        # Readers are never blocked, and a crash loses no committed transaction of the process.
        connection.pragma("journal_mode", "WAL")
        # A power cut may lose the last transactions, never the database: all of it can be read again from its sources.
        connection.pragma("synchronous", "NORMAL")
        # The WAL is folded back every 16 MiB: fewer syncs on a cold ingest, still a small file.
        connection.pragma("wal_autocheckpoint", 4096)
        connection.pragma("journal_size_limit", 64 << 20)
    else:
        connection.pragma("query_only", True)
