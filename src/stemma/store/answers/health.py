"""Answers about the record itself: what was read, what was not, and why."""

from __future__ import annotations

from msgspec import Struct

from stemma.store.answers.moment import Time


class DatabaseFile(Struct, kw_only=True):
    """The database.

    Attributes:
        path: Its file.
        bytes: Size with its write-ahead log.
        schema: Number of the last migration; nothing when the file is damaged.
        sqlite: Version of the SQLite library.
        integrity: What is wrong with it; empty when nothing is.
    """

    path: str
    bytes: int
    schema: int | None
    sqlite: str
    integrity: list[str]


class Installation(Struct, kw_only=True):
    """One agent installation.

    Attributes:
        host: Machine.
        product: Agent product.
        root: Folder of its transcripts.
        present: Whether the folder is there.
        sources: Files that were read.
        removed: How many of those are gone; their record stays.
        bytes: Bytes that were read, of the files as they were last.
    """

    host: str
    product: str
    root: str
    present: bool
    sources: int
    removed: int
    bytes: int


class Kinds(Struct, kw_only=True):
    """Sources of one kind.

    Attributes:
        kind: ``main``, ``agent``, ``sidecar``, ``workflow`` or ``journal``.
        sources: Files that were read.
        removed: How many of those are gone.
        bytes: Bytes that were read.
    """

    kind: str
    sources: int
    removed: int
    bytes: int


class RemovedSource(Struct, kw_only=True):
    """A source whose file is gone.

    Attributes:
        root: Folder of the transcripts.
        path: The source inside it.
        removed_at: When that was noticed.
    """

    root: str
    path: str
    removed_at: Time | None


class Epoch(Struct, kw_only=True):
    """One collection pass.

    Attributes:
        id: Its number.
        adapter: Adapter.
        revision: Its revision.
        started_at: Start.
        ended_at: End.
        state: ``running``, ``completed`` or ``failed``.
        outcome: Tick outcome.
        sources: Sources of the root.
        changed: Sources that had changed.
        removed: Sources found gone.
        processed: Sources of which something was read.
        failed: Sources that could not be read.
        late: Sources that were gone when they were to be read.
        detail: Why it failed.
    """

    id: int
    adapter: str
    revision: int
    started_at: Time | None
    ended_at: Time | None
    state: str
    outcome: str | None
    sources: int
    changed: int
    removed: int
    processed: int
    failed: int
    late: int
    detail: str | None


class SkippedPath(Struct, kw_only=True):
    """A path that is not read.

    Attributes:
        root: Folder of the transcripts.
        path: The path inside it.
        reason: Why; of a ``duplicate-session`` the file is read nevertheless.
        detail: More about it.
        first_seen: First time.
        last_seen: Last time.
    """

    root: str
    path: str
    reason: str
    detail: str | None
    first_seen: Time | None
    last_seen: Time | None


class Fault(Struct, kw_only=True):
    """A record, or a field of one, that could not be read.

    Attributes:
        root: Folder of the transcripts.
        path: Source inside it.
        generation: Generation of its bytes.
        offset: Where the bytes begin.
        length: How many they are.
        reason: ``json``, ``not-an-object``, ``oversize`` or ``field``.
        detail: Position or path of the field.
    """

    root: str
    path: str
    generation: int
    offset: int
    length: int
    reason: str
    detail: str | None


class UnknownKind(Struct, kw_only=True):
    """A kind of record that the adapter does not know: counted, kept reachable.

    Attributes:
        type: Its type.
        subtype: Its subtype.
        count: Records.
        sources: Sources that hold some.
        path: One of those.
        offset: Where the first one stands in it.
    """

    type: str
    subtype: str | None
    count: int
    sources: int
    path: str
    offset: int


class Parked(Struct, kw_only=True):
    """A source that could not be read the last time.

    Attributes:
        root: Folder of the transcripts.
        path: The source inside it.
        failures: Failures in a row.
        parked: Whether it is left alone as it is now.
        reason: Why it failed last.
        will_retry: ``next-pass``, or ``on-change`` once it is parked.
    """

    root: str
    path: str
    failures: int
    parked: bool
    reason: str
    will_retry: str


class Orphan(Struct, kw_only=True):
    """An agent without a proven parent.

    Attributes:
        session_id: Its session.
        agent_id: Its id.
        type: Its type.
    """

    session_id: str
    agent_id: str
    type: str | None


class Pending(Struct, kw_only=True):
    """A source whose last line is not complete yet.

    Attributes:
        root: Folder of the transcripts.
        path: The source inside it.
        bytes: Bytes of the line so far.
    """

    root: str
    path: str
    bytes: int


class Signal(Struct, kw_only=True):
    """One kind of signal and whether an adapter's sources carry it.

    Attributes:
        adapter: Agent product.
        signal: What is asked for.
        supported: Whether any version writes it.
        since: First client version known to.
        measured: Whether values are read rather than estimated.
        note: What is missing, and why.
    """

    adapter: str
    signal: str
    supported: bool
    since: str | None
    measured: bool
    note: str | None


class Setting(Struct, kw_only=True):
    """A setting in force.

    Attributes:
        key: Its name.
        value: Its value.
        origin: Where that comes from.
    """

    key: str
    value: str
    origin: str


class Health(Struct, kw_only=True):
    """What ``stemma doctor`` answers. When the database is damaged, only ``database``, ``signals`` and ``settings`` are filled.

    Attributes:
        database: The database.
        installations: Agent installations.
        kinds: Sources by kind.
        removed_sources: Sources whose files are gone.
        epochs: The latest collection passes, newest first.
        skips: How many paths are skipped, by reason.
        skipped_paths: Those paths.
        line_faults: How many faults there are in sources as they are now, by reason.
        faults: Those faults.
        unknown_kinds: Kinds of records that are not known.
        quarantine: Sources that could not be read.
        duplicate_sessions: Projects that claim a session of another one.
        orphans: Agents without a proven parent.
        pending: Last lines that are not complete yet.
        signals: What the adapters can and cannot tell.
        settings: Settings in force.
    """

    database: DatabaseFile
    installations: list[Installation]
    kinds: list[Kinds]
    removed_sources: list[RemovedSource]
    epochs: list[Epoch]
    skips: dict[str, int]
    skipped_paths: list[SkippedPath]
    line_faults: dict[str, int]
    faults: list[Fault]
    unknown_kinds: list[UnknownKind]
    quarantine: list[Parked]
    duplicate_sessions: list[SkippedPath]
    orphans: list[Orphan]
    pending: list[Pending]
    signals: list[Signal]
    settings: list[Setting]
