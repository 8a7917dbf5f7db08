"""The lock that keeps the single writer single: two of them would each read on from their own memory of a source."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stemma.errors import StoreBusy, StoreError
from stemma.store.sqlite.connection import BUSY_MILLISECONDS

_PAUSE = 0.05


@contextmanager
def writing(database: Path, *, patience: float = BUSY_MILLISECONDS / 1000) -> Iterator[None]:
    """Be the one writer of a database; given back also when the process dies.

    The lock is a file of its own: closing any descriptor of the database would drop the locks that SQLite holds on it.

    Args:
        database: The database, which need not exist.
        patience: Seconds to wait for another writer.

    Raises:
        StoreBusy: Another process is writing still.
        StoreError: The folder cannot be written.
    """
    try:
        database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(database.with_name(f"{database.name}-lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StoreError(f"{database} cannot be written: {error.strerror}") from error
    try:
        _acquire(fd, time.monotonic() + patience, database)
        yield
    finally:
        os.close(fd)


def _acquire(fd: int, deadline: float, database: Path) -> None:
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() >= deadline:
                raise StoreBusy(
                    f"another process is writing to {database}; try again when it is done"
                ) from error
            time.sleep(_PAUSE)
        else:
            return
