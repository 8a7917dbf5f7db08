"""What was read and what was not: sources, passes, skips, faults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import apsw
import msgspec

from stemma.model.entity import HELPER_KINDS, AgentKind
from stemma.model.source import Checkpoint, SkipReason
from stemma.store.answers.health import (
    Epoch,
    Fault,
    Kinds,
    Orphan,
    Pending,
    RemovedSource,
    SkippedPath,
    UnknownKind,
)
from stemma.store.answers.moment import known, time_of

_LATEST = "(SELECT source, max(generation) AS generation, bytes FROM generations GROUP BY source)"
"""Each source as it was last; SQLite takes the other columns from the row with the maximum."""

_MOST_EPOCHS = 10


class Root(NamedTuple):
    """Sources of one installation, added up."""

    host: str
    product: str
    root: str
    sources: int
    removed: int
    bytes: int


def sqlite_version() -> str:
    """Version of the SQLite library."""
    return apsw.sqlite_lib_version()


def schema(connection: apsw.Connection) -> int:
    """Number of the last migration."""
    return int(connection.execute("SELECT max(number) FROM migrations").get)


def installations(connection: apsw.Connection) -> list[Root]:
    """Agent installations with what was read of them."""
    return [
        Root(*row)
        for row in connection.execute(
            "SELECT i.host, i.agent, i.root, count(s.id), coalesce(sum(c.removed_at > 0), 0), coalesce(sum(g.bytes), 0) "
            f"FROM instances i LEFT JOIN sources s ON s.instance = i.id LEFT JOIN {_LATEST} g ON g.source = s.id "
            "LEFT JOIN checkpoints c ON c.source = s.id GROUP BY i.id ORDER BY i.host, i.agent, i.root"
        )
    ]


def kinds(connection: apsw.Connection) -> list[Kinds]:
    """Sources by kind."""
    return [
        Kinds(kind=kind, sources=sources, removed=removed, bytes=size)
        for kind, sources, removed, size in connection.execute(
            "SELECT s.kind, count(*), coalesce(sum(c.removed_at > 0), 0), coalesce(sum(g.bytes), 0) FROM sources s "
            f"LEFT JOIN {_LATEST} g ON g.source = s.id LEFT JOIN checkpoints c ON c.source = s.id "
            "GROUP BY s.kind ORDER BY count(*) DESC, s.kind"
        )
    ]


def removed_sources(connection: apsw.Connection) -> list[RemovedSource]:
    """Sources whose files are gone."""
    return [
        RemovedSource(root=root, path=path, removed_at=time_of(at))
        for root, path, at in connection.execute(
            "SELECT i.root, s.path, c.removed_at FROM checkpoints c JOIN sources s ON s.id = c.source "
            "JOIN instances i ON i.id = s.instance WHERE c.removed_at > 0 ORDER BY c.removed_at DESC, i.root, s.path"
        )
    ]


def epochs(connection: apsw.Connection) -> list[Epoch]:
    """The latest collection passes, newest first."""
    return [
        Epoch(
            id=number, adapter=adapter, revision=revision, started_at=time_of(started), ended_at=time_of(ended),
            state=state, outcome=known(outcome), sources=sources, changed=changed, removed=removed,
            processed=processed, failed=failed, late=late, detail=known(detail),
        )
        for number, adapter, revision, started, ended, state, outcome, sources, changed, removed, processed, failed,
        late, detail in connection.execute(
            "SELECT id, adapter, revision, started_at, ended_at, state, outcome, sources, changed, removed, processed, "
            "failed, late, detail FROM epochs ORDER BY id DESC LIMIT ?",
            (_MOST_EPOCHS,),
        )
    ]  # fmt: skip


def skips(connection: apsw.Connection) -> list[SkippedPath]:
    """Paths that are not read."""
    return [
        SkippedPath(
            root=root,
            path=path,
            reason=reason,
            detail=known(detail),
            first_seen=time_of(first),
            last_seen=time_of(last),
        )
        for root, path, reason, detail, first, last in connection.execute(
            "SELECT i.root, k.path, k.reason, k.detail, k.first_seen, k.last_seen FROM skips k "
            "JOIN instances i ON i.id = k.instance ORDER BY k.reason, i.root, k.path"
        )
    ]


def is_duplicate(skip: SkippedPath) -> bool:
    """Whether a skip reports a session that two projects claim."""
    return skip.reason == SkipReason.DUPLICATE_SESSION


def faults(connection: apsw.Connection) -> list[Fault]:
    """What could not be read, in the sources as they are now."""
    return [
        Fault(
            root=root,
            path=path,
            generation=generation,
            offset=offset,
            length=length,
            reason=reason,
            detail=known(detail),
        )
        for root, path, generation, offset, length, reason, detail in connection.execute(
            "SELECT i.root, s.path, f.generation, f.offset, f.length, f.reason, f.detail FROM line_faults f "
            f"JOIN {_LATEST} g ON g.source = f.source AND g.generation = f.generation "
            "JOIN sources s ON s.id = f.source JOIN instances i ON i.id = s.instance "
            "ORDER BY f.reason, i.root, s.path, f.offset, f.detail"
        )
    ]


def unknown_kinds(connection: apsw.Connection) -> list[UnknownKind]:
    """Kinds of records that the adapter does not know."""
    return [
        UnknownKind(
            type=kind,
            subtype=known(subtype),
            count=count,
            sources=sources,
            path=path,
            offset=offset,
        )
        for kind, subtype, count, sources, path, offset in connection.execute(
            "SELECT k.type, k.subtype, sum(k.count), count(DISTINCT k.source), min(s.path), k.first_offset "
            f"FROM record_kinds k JOIN {_LATEST} g ON g.source = k.source AND g.generation = k.generation "
            "JOIN sources s ON s.id = k.source WHERE k.known = 0 "
            "GROUP BY k.type, k.subtype ORDER BY sum(k.count) DESC, k.type, k.subtype"
        )
    ]


class Failing(NamedTuple):
    """A source in quarantine, with its state as its owner packed it."""

    root: str
    path: str
    state: bytes


def quarantine(connection: apsw.Connection) -> list[Failing]:
    """Sources that could not be read the last time."""
    return [
        Failing(*row)
        for row in connection.execute(
            "SELECT i.root, q.path, q.body FROM quarantine q JOIN instances i ON i.id = q.instance "
            "ORDER BY i.root, q.path"
        )
    ]


def orphans(connection: apsw.Connection) -> list[Orphan]:
    """Agents without a proven parent; those that the client starts for itself have none by nature."""
    return [
        Orphan(session_id=session, agent_id=agent, type=known(kind))
        for session, agent, kind in connection.execute(
            "SELECT n.text, g.text, t.text FROM agents a JOIN names n ON n.id = a.session JOIN names g ON g.id = a.agent "
            "JOIN names t ON t.id = a.type LEFT JOIN edges e ON e.session = a.session AND e.child = a.agent "
            "WHERE e.child IS NULL AND a.kind NOT IN (?, ?, ?, ?) ORDER BY n.text, g.text",
            (AgentKind.MAIN, *HELPER_KINDS),
        )
    ]


def pending(connection: apsw.Connection) -> list[Pending]:
    """Last lines that are not complete yet, of files that are there."""
    found = []
    for root, path, body in _checkpoints(connection):
        waiting = msgspec.msgpack.decode(body, type=Checkpoint).pending
        if waiting:
            found.append(Pending(root=root, path=path, bytes=waiting))
    return found


def _checkpoints(connection: apsw.Connection) -> Iterator[tuple[str, str, bytes]]:
    yield from connection.execute(
        "SELECT i.root, s.path, c.body FROM checkpoints c JOIN sources s ON s.id = c.source "
        "JOIN instances i ON i.id = s.instance WHERE c.removed_at = 0 ORDER BY i.root, s.path"
    )
