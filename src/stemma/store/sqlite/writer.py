"""The single writer: one connection, whole batches, evidence and checkpoint in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import apsw
import msgspec
from msgspec import Struct, field

from stemma.errors import StoreError
from stemma.model.claim import Claim, ClaimKind, encode_body
from stemma.model.entity import MAIN, Participation, extended
from stemma.model.event import PackedEvent
from stemma.model.source import Checkpoint, SourceFile
from stemma.model.usage import UsageClaim, merge_key, merged
from stemma.normalize.port import Normalized
from stemma.store.sqlite.connection import connect
from stemma.store.sqlite.loading import Loading
from stemma.store.sqlite.migrate import migrate
from stemma.store.sqlite.names import Names
from stemma.store.sqlite.pack import SEGMENT_BYTES, pack_events, pack_usage, unpack_events
from stemma.store.sqlite.rows import participation_row, tool_row, turn_row
from stemma.store.sqlite.tables import Table

EVIDENCE_TABLES = (
    "generations", "record_kinds", "line_faults", "event_segments", "claims", "usage_claims", "participations", "turns",
    "tool_executions", "compactions", "relationships", "sessions", "agents", "edges", "workflow_runs", "usage",
    "message_sessions", "shared_sessions", "lineage", "inferences", "experimental_results",
)  # fmt: skip
"""Tables that are a function of the evidence alone; all others are dictionaries of texts or this collector's history."""

SOURCE_TABLES = (
    "record_kinds", "line_faults", "event_segments", "claims", "usage_claims", "participations", "turns",
    "tool_executions", "compactions",
)  # fmt: skip
"""Evidence tables whose rows belong to one generation of one source."""


class Touched(Struct):
    """Keys whose facts must be derived again.

    Attributes:
        messages: Message ids with new usage claims that had some before the batch.
        fresh: Message ids that had none before, with all of their claims: these need not be read back.
        agents: Sessions and agents.
        sessions: Sessions with new participations.
        runs: Sessions and workflow runs.
        lineages: Sessions with new lineage claims.
        main_threads: Sessions whose main thread changed in a way that may end agents; true: whoever drives the client,
            false: only if a program does.
        arrived: Sessions that a source states for the first time, or does not state any more.
        shrunk: Claims were taken back.
    """

    messages: dict[str, None] = field(default_factory=dict)
    fresh: dict[str, dict[tuple[int, int, tuple[str, ...]], UsageClaim]] = field(
        default_factory=dict
    )
    agents: dict[tuple[str, str], None] = field(default_factory=dict)
    sessions: dict[str, None] = field(default_factory=dict)
    runs: dict[tuple[str, str], None] = field(default_factory=dict)
    lineages: dict[str, None] = field(default_factory=dict)
    main_threads: dict[str, bool] = field(default_factory=dict)
    arrived: dict[str, None] = field(default_factory=dict)
    shrunk: bool = False

    def __bool__(self) -> bool:
        return bool(
            self.messages
            or self.fresh
            or self.agents
            or self.sessions
            or self.runs
            or self.lineages
            or self.main_threads
        )


class Restored(NamedTuple):
    """What is remembered of a source.

    Attributes:
        checkpoint: How far it was read.
        state: The adapter's memory.
        removed: Whether its file was gone.
    """

    checkpoint: Checkpoint
    state: bytes
    removed: bool


class Writer:
    """Writes evidence and facts. Not shared between threads.

    Attributes:
        names: The dictionary of texts.
        loading: Reads what deriving needs, through the same connection.
        rows_written: Rows of evidence tables inserted, changed or deleted since it was opened.
        touched: What the current batch touched; emptied by whoever derives it.
    """

    def __init__(self, path: Path) -> None:
        self.connection = connect(path, writer=True)
        migrate(self.connection)
        self.names = Names(self.connection)
        self.loading = Loading(self.connection, self.names)
        self.rows_written = 0
        self.touched = Touched()
        self._tables = {
            name: Table(self.connection, name)
            for name in (*EVIDENCE_TABLES, "checkpoints", "skips", "quarantine")
        }
        self._sources: dict[tuple[int, str], int] = {}

    def close(self) -> None:
        """Close the connection; the WAL is folded back."""
        self.connection.close()

    @contextmanager
    def batch(self) -> Iterator[None]:
        """One transaction; on any exception nothing of it remains."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException as error:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            self.names.forget()
            self._sources.clear()
            self.loading.forget()
            self.touched = Touched()
            if isinstance(error, apsw.FullError | apsw.IOError | apsw.ReadOnlyError):
                message = f"the database could not be written: {error}"
                raise StoreError(message) from error
            raise

    def put(self, table: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Write rows of an evidence table; only those that differ count."""
        self.rows_written += self._tables[table].put(rows)

    def put_control(self, table: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Write rows of a control table."""
        self._tables[table].put(rows)

    def change(self, statement: str, bindings: tuple[object, ...]) -> None:
        """Delete or update rows of an evidence table."""
        before = self.connection.total_changes()
        self.connection.execute(statement, bindings)
        self.rows_written += self.connection.total_changes() - before

    # ------------------------------------------------------------------ sources

    def instance(self, host: str, agent: str, root: str) -> int:
        """Number of an agent installation."""
        self.connection.execute(
            "INSERT INTO instances (host, agent, root) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (host, agent, root),
        )
        number = self.connection.execute(
            "SELECT id FROM instances WHERE host = ? AND agent = ? AND root = ?",
            (host, agent, root),
        ).get
        return int(number)

    def source(self, instance: int, file: SourceFile) -> int:
        """Number of a source, which is added when it is new."""
        path = file.placement.relpath_key
        found = self._sources.get((instance, path))
        if found is not None:
            return found
        number = self.connection.execute(
            "SELECT id FROM sources WHERE instance = ? AND path = ?", (instance, path)
        ).get
        if number is None:
            place = file.placement
            number = self.connection.execute(
                "INSERT INTO sources (instance, path, kind, project, session_hint, agent_hint, run_hint) "
                "VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id",
                (
                    instance,
                    path,
                    place.kind,
                    place.project_slug,
                    place.session_hint,
                    place.agent_hint,
                    place.run_hint,
                ),
            ).get
        self._sources[instance, path] = number
        return int(number)

    def restore(self, source: int) -> Restored | None:
        """What is remembered of a source, or nothing when it was never read."""
        row = self.connection.execute(
            "SELECT body, state, removed_at FROM checkpoints WHERE source = ?", (source,)
        ).fetchone()
        if row is None:
            return None
        return Restored(msgspec.msgpack.decode(row[0], type=Checkpoint), row[1], bool(row[2]))

    def generation(self, source: int) -> int | None:
        """Latest generation of a source of which anything was recorded, or nothing."""
        found = self.connection.execute(
            "SELECT max(generation) FROM generations WHERE source = ?", (source,)
        ).get
        return None if found is None else int(found)

    def save(self, source: int, checkpoint: Checkpoint, state: bytes) -> None:
        """Remember how far a source was read, in the transaction of what was read."""
        self.put(
            "generations", [(source, checkpoint.generation, checkpoint.offset, checkpoint.revision)]
        )
        body = msgspec.msgpack.encode(checkpoint)
        self.put_control("checkpoints", [(source, checkpoint.generation, body, state, 0)])

    def failing(self, instance: int, file: SourceFile) -> bytes | None:
        """How a source has been failing, as it was given, or nothing when its last reading went well."""
        row = self.connection.execute(
            "SELECT body FROM quarantine WHERE instance = ? AND path = ?",
            (instance, file.placement.relpath_key),
        ).fetchone()
        return row[0] if row is not None else None

    def failed(self, instance: int, file: SourceFile, state: bytes) -> None:
        """Remember a failure of a source."""
        self.put_control("quarantine", [(instance, file.placement.relpath_key, state)])

    def recovered(self, instance: int, file: SourceFile) -> None:
        """Forget the failures of a source."""
        self.connection.execute(
            "DELETE FROM quarantine WHERE instance = ? AND path = ?",
            (instance, file.placement.relpath_key),
        )

    def reset(self, source: int, generation: int) -> None:
        """Take back what a generation of a source said, before it is read again from the start."""
        key = (source, generation)
        self.touched.shrunk = True
        for session, agent in self.connection.execute(
            "SELECT session, agent FROM participations WHERE source = ? AND generation = ?", key
        ):
            self._touch_part(self.names.text(session), self.names.text(agent), None, None)
            self.touched.arrived[self.names.text(session)] = None
        for session, subject, kind, link in self.connection.execute(
            "SELECT session, subject, kind, link FROM claims WHERE source = ? AND generation = ?",
            key,
        ):
            self._touch_claim(self.names.text(session), subject, ClaimKind(kind), link)
            self.touched.arrived[self.names.text(session)] = None
        for (message,) in self.connection.execute(
            "SELECT message_id FROM usage_claims WHERE source = ? AND generation = ?", key
        ):
            self.touched.fresh.pop(message, None)
            self.touched.messages[message] = None
        for table in SOURCE_TABLES:
            self.change(f"DELETE FROM {table} WHERE source = ? AND generation = ?", key)

    # ------------------------------------------------------------------ what one stretch of a source says

    def record(self, source: int, generation: int, found: Normalized, *, fresh: bool) -> None:
        """Add what a stretch of a source says, and note which facts it touches.

        Args:
            source: Number of the source.
            generation: Generation of its bytes.
            found: What the stretch says.
            fresh: Nothing of this generation was recorded before.
        """
        key = (source, generation)
        name = self.names.id
        self._record_events(key, found.events, fresh=fresh)
        self._record_usage(key, found.usage)
        self._record_parts(key, found.parts, fresh=fresh)
        self.put("turns", [turn_row(key, turn, name) for turn in found.turns.values()])
        self.put("tool_executions", [tool_row(key, tool, name) for tool in found.tools.values()])
        self.put(
            "compactions",
            [
                (*key, c.offset, c.uuid, name(c.session), name(c.agent), c.at, c.trigger, c.tokens_before,
                 c.tokens_after, c.duration)
                for c in found.compactions
            ],
        )  # fmt: skip
        self.put(
            "line_faults", [(*key, f.offset, f.length, f.reason, f.detail) for f in found.faults]
        )
        self._record_kinds(key, found, fresh=fresh)
        self.record_claims(key, found.claims)
        if not found.parts:
            self.touched.arrived.update(dict.fromkeys(claim.session for claim in found.claims))

    def _record_events(
        self, key: tuple[int, int], events: list[PackedEvent], *, fresh: bool
    ) -> None:
        rows: list[tuple[object, ...]] = []
        for segment, group in groupby(events, lambda event: event.offset // SEGMENT_BYTES):
            packed = list(group)
            if not fresh and not rows:
                held = self.connection.execute(
                    "SELECT body FROM event_segments WHERE source = ? AND generation = ? AND segment = ?",
                    (*key, segment),
                ).fetchone()
                if held is not None:
                    packed = unpack_events(held[0]) + packed
            rows.append((*key, segment, len(packed), pack_events(packed)))
        self.put("event_segments", rows)

    def _record_usage(self, key: tuple[int, int], claims: list[UsageClaim]) -> None:
        if not claims:
            return
        touched, fresh = self.touched, self.touched.fresh
        asked = {claim.message_id: None for claim in claims if claim.message_id not in fresh}
        known = self.loading.usage_claims_of(key, list(asked))
        table: dict[tuple[str, ...], UsageClaim] = {merge_key(claim): claim for claim in known.mine}
        changed: dict[tuple[str, ...], UsageClaim] = {}
        for claim in claims:
            message = claim.message_id
            identity = merge_key(claim)
            mine = fresh.get(message)
            if mine is None and message not in known.anywhere:
                mine = fresh[message] = {}
            if mine is None:
                touched.messages[message] = None
                held = table.get(identity)
            else:
                held = mine.get((*key, identity))
            if held is not None:
                claim = merged(held, claim)  # noqa: PLW2901 - the union takes the claim's place
            changed[identity] = claim
            if mine is None:
                table[identity] = claim
            else:
                mine[(*key, identity)] = claim
        name = self.names.id
        self.put(
            "usage_claims",
            [
                (
                    c.message_id,
                    *key,
                    c.offset,
                    name(c.session),
                    name(c.agent),
                    name(c.model),
                    c.at,
                    pack_usage(c),
                )
                for c in changed.values()
            ],
        )

    def _record_parts(
        self, key: tuple[int, int], parts: dict[tuple[str, str], Participation], *, fresh: bool
    ) -> None:
        rows = []
        for (session, agent), part in parts.items():
            numbers = (self.names.id(session), self.names.id(agent))
            held = None if fresh else self.loading.participation(numbers, key)
            new = part if held is None else extended(held, part)
            rows.append(participation_row(numbers, key, new, self.names.id))
            self._touch_part(session, agent, held, new)
            if held is None:
                self.touched.arrived[session] = None
        self.put("participations", rows)

    def _record_kinds(self, key: tuple[int, int], found: Normalized, *, fresh: bool) -> None:
        rows = []
        for (kind, subtype), entry in found.kinds.items():
            count, first = entry.count, entry.first_offset
            if not fresh:
                held = self.connection.execute(
                    "SELECT count, first_offset FROM record_kinds "
                    "WHERE source = ? AND generation = ? AND type = ? AND subtype = ?",
                    (*key, kind, subtype),
                ).fetchone()
                if held is not None:
                    count, first = count + held[0], held[1]
            rows.append((*key, kind, subtype, int(entry.known), count, first, entry.last_offset))
        self.put("record_kinds", rows)

    def record_claims(self, key: tuple[int, int], claims: Iterable[Claim]) -> None:
        """Add claims and note which facts they touch."""
        rows = []
        for claim in claims:
            body = claim.body
            link = _link(claim)
            rows.append(
                (self.names.id(claim.session), claim.subject, claim.kind, *key, claim.offset, claim.ordinal, claim.at,
                 int(claim.grade), link, encode_body(body))
            )  # fmt: skip
            self._touch_claim(claim.session, claim.subject, claim.kind, link)
        self.put("claims", rows)

    # ------------------------------------------------------------------ what is touched

    def _touch_part(
        self, session: str, agent: str, held: Participation | None, new: Participation | None
    ) -> None:
        """Note that a participation changed: agents may depend on that of the main thread."""
        self.touched.sessions[session] = None
        self.touched.agents[session, agent] = None
        if agent == MAIN:
            surely = held is None or new is None or _ends(held) != _ends(new)
            if surely or _turn_state(held) != _turn_state(new):
                known = self.touched.main_threads.get(session, False)
                self.touched.main_threads[session] = surely or known

    def _touch_claim(self, session: str, subject: str, kind: ClaimKind, link: str) -> None:
        touched = self.touched
        if kind in (ClaimKind.SPAWN_BLOCK, ClaimKind.SPAWN_RESULT):
            for agent in self.loading.agents_linked(session, subject):
                touched.agents[session, agent] = None
            if kind is ClaimKind.SPAWN_BLOCK and link:
                for agent in self.loading.agents_prompted(session, link):
                    touched.agents[session, agent] = None
        elif kind in (ClaimKind.DISPATCH, ClaimKind.RUN_STATE):
            touched.runs[session, subject] = None
            for agent in self.loading.agents_linked(session, subject):
                touched.agents[session, agent] = None
        elif kind is ClaimKind.LINEAGE:
            touched.lineages[session] = None
        elif kind not in (ClaimKind.RECORDED_TOTAL, ClaimKind.PR_LINK):
            touched.agents[session, subject] = None
            if kind in (ClaimKind.DIRECTORY, ClaimKind.JOURNAL):
                touched.runs[session, link] = None


def _link(claim: Claim) -> str:
    """What the other side of a join names."""
    if claim.kind in (ClaimKind.DIRECTORY, ClaimKind.JOURNAL):
        return claim.body.run
    return claim.body.prompt if claim.kind is ClaimKind.SPAWN_BLOCK else claim.body.tool_use


def _ends(part: Participation) -> tuple[int, bool]:
    """What an agent's end may depend on, whoever drives the client."""
    return part.process_ended_at, bool(part.status)


def _turn_state(part: Participation | None) -> tuple[object, ...]:
    """What it may depend on where a program drives the client, as this or another source may state."""
    if part is None:
        return ()
    return part.status, part.status_reason, part.status_at, part.version, part.headless
