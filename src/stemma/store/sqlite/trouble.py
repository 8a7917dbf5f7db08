"""Errors of the SQLite library as ours: what is wrong, and what a person can do about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from stemma.errors import Damaged, StoreBusy, StoreError


@contextmanager
def plainly(path: Path) -> Iterator[None]:
    """Turn errors of the library into errors of ours.

    Args:
        path: The database, for the message.

    Raises:
        StoreBusy: Another process writes.
        Damaged: The file is no database, or parts of it are broken.
        StoreError: It cannot be read or written for another reason.
    """
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StoreBusy(f"{path} is in use by another writer; try again when it is done") from error
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise damaged(path, str(error)) from error
    except apsw.Error as error:
        raise StoreError(f"{path} cannot be used: {error}") from error


def damaged(path: Path, detail: str) -> Damaged:
    """The error for a database that is broken."""
    return Damaged(
        f"{path} is damaged ({detail}): move it away, or restore a copy of it, and run `stemma ingest`"
    )
