"""Upserts that write only what differs, made from the tables' own declarations."""

from __future__ import annotations

from collections.abc import Sequence

import apsw


class Table:
    """Writes rows of one table; a row that is there already, field for field, is not written.

    Attributes:
        name: The table's name.
        columns: Its columns, in order.
        key: Columns of its primary key.
    """

    def __init__(self, connection: apsw.Connection, name: str) -> None:
        info = list(
            connection.execute("SELECT name, pk FROM pragma_table_info(?) ORDER BY cid", (name,))
        )
        self.name = name
        self.columns = [column for column, _ in info]
        self.key = [column for column, rank in sorted(info, key=lambda row: row[1]) if rank]
        self._connection = connection
        self._upsert = _upsert(name, self.columns, self.key)

    def put(self, rows: Sequence[tuple[object, ...]]) -> int:
        """Insert or update rows; the number of rows that changed the table."""
        if not rows:
            return 0
        before = self._connection.total_changes()
        self._connection.executemany(self._upsert, rows)
        return self._connection.total_changes() - before


def _upsert(name: str, columns: list[str], key: list[str]) -> str:
    quoted = [f'"{column}"' for column in columns]
    rest = [f'"{column}"' for column in columns if column not in key]
    places = ", ".join("?" for _ in columns)
    insert = f"INSERT INTO {name} ({', '.join(quoted)}) VALUES ({places})"
    if not rest:
        return f"{insert} ON CONFLICT DO NOTHING"
    changes = ", ".join(f"{column} = excluded.{column}" for column in rest)
    mine = ", ".join(f"{name}.{column}" for column in rest)
    theirs = ", ".join(f"excluded.{column}" for column in rest)
    target = ", ".join(f'"{column}"' for column in key)
    return (
        f"{insert} ON CONFLICT ({target}) DO UPDATE SET {changes} WHERE ({mine}) IS NOT ({theirs})"
    )
