"""The logical content of the evidence tables: the same for the same evidence, whatever the order of ingest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import apsw
import msgspec

from stemma.store.sqlite.pack import unpack_events, unpack_usage
from stemma.store.sqlite.writer import EVIDENCE_TABLES

NAMED = frozenset(
    {"session", "agent", "model", "cwd", "branch", "version", "entrypoint", "type", "root_session", "child", "parent",
     "owner", "origin", "name"}
)  # fmt: skip
"""Columns that hold numbers of ``names`` wherever their declared type is INTEGER."""


class Row(NamedTuple):
    """One row of an evidence table with every internal number replaced by what it stands for."""

    table: str
    values: dict[str, Any]


def dump(connection: apsw.Connection) -> Iterator[Row]:
    """All evidence, table by table, each sorted.

    Installations appear by the order of their roots, not by folder: the same tree in two places dumps alike.
    """
    names = dict(connection.execute("SELECT id, text FROM names"))
    instances = {
        number: {"host": host, "agent": agent, "root": rank}
        for rank, (number, host, agent, _) in enumerate(
            connection.execute(
                "SELECT id, host, agent, root FROM instances ORDER BY root, host, agent"
            ),
            start=1,
        )
    }
    sources = {
        number: {**instances[instance], "path": path}
        for number, instance, path in connection.execute("SELECT id, instance, path FROM sources")
    }
    for table in EVIDENCE_TABLES:
        rows = [
            _row(table, values, names, instances, sources) for values in _select(connection, table)
        ]
        for text in sorted(msgspec.json.encode(row, order="sorted") for row in rows):
            yield Row(table, msgspec.json.decode(text))


def _select(connection: apsw.Connection, table: str) -> Iterator[dict[str, Any]]:
    columns = [
        (name, kind)
        for name, kind in connection.execute(
            "SELECT name, type FROM pragma_table_info(?)", (table,)
        )
    ]
    for values in connection.execute(f"SELECT * FROM {table}"):
        yield {
            (
                f"#{name}"
                if kind == "INTEGER" and (name in NAMED or name in ("source", "instance"))
                else name
            ): value
            for (name, kind), value in zip(columns, values, strict=True)
        }


def _row(
    table: str,
    values: dict[str, Any],
    names: dict[int, str],
    instances: dict[int, dict[str, Any]],
    sources: dict[int, dict[str, Any]],
) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in values.items():
        if name == "#source":
            row["source"] = sources[value]
        elif name == "#instance":
            row["instance"] = instances[value]
        elif name.startswith("#"):
            row[name[1:]] = names[value]
        else:
            row[name] = value
    if table == "event_segments":
        row["body"] = unpack_events(row["body"])
    elif table == "usage_claims":
        packed = (values["message_id"], values["offset"], 0, 0, 0, values["at"], row.pop("body"))
        row["claim"] = unpack_usage(packed, lambda _: "")
    return row
