"""Writes facts: each is replaced whole, and what no longer holds is removed."""

from __future__ import annotations

import json
from collections.abc import Iterable

from stemma.derive.agents import AgentFact
from stemma.derive.sessions import Lineage, SessionFact
from stemma.derive.usage import STATE_SHARED, Counted, SessionTimes
from stemma.derive.workflows import WorkflowRun
from stemma.relate.spawn import Proof
from stemma.store.sqlite.writer import Writer


class Facts:
    """Fact tables, written through the single writer.

    Attributes:
        changed: Sessions whose facts changed in this batch, for the changes journal.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._instances: dict[str, int] = {}
        self.changed: dict[str, None] = {}

    def instance(self, session: str) -> int:
        """Installation of a session, asked once a batch."""
        found = self._instances.get(session)
        if found is None:
            found = self._instances[session] = self._writer.loading.instance(session)
        return found

    def _put(self, table: str, session: str, rows: list[tuple[object, ...]]) -> None:
        before = self._writer.rows_written
        self._writer.put(table, rows)
        if self._writer.rows_written != before:
            self.changed[session] = None

    def _keep(self, statement: str, session: str, bindings: tuple[object, ...]) -> None:
        before = self._writer.rows_written
        self._writer.change(statement, bindings)
        if self._writer.rows_written != before:
            self.changed[session] = None

    def put_session(self, session: str, fact: SessionFact | None) -> None:
        """Write a session, or remove one that no record states any more."""
        name = self._writer.names.id
        number = name(session)
        if fact is None:
            self._keep("DELETE FROM sessions WHERE session = ?", session, (number,))
            return
        row = (
            number, self.instance(session), fact.project, name(fact.cwd), name(fact.branch), name(fact.model),
            name(fact.version), name(fact.entrypoint), fact.title, fact.title_basis, fact.started_at, fact.last_at,
            fact.prompts, fact.compactions, fact.api_errors, name(fact.root_session), fact.completeness,
        )  # fmt: skip
        self._put("sessions", session, [row])

    def put_agent(
        self, session: str, agent: str, fact: AgentFact | None, proofs: list[Proof]
    ) -> None:
        """Write an agent with the proofs of its parent and its current edge."""
        name = self._writer.names.id
        numbers = (name(session), name(agent))
        if fact is None:
            self._keep("DELETE FROM agents WHERE session = ? AND agent = ?", session, numbers)
        else:
            status = fact.status
            row = (
                *numbers, self.instance(session), fact.kind, int(fact.kind_grade), name(fact.type), fact.name,
                fact.description, name(fact.model), fact.first_at, fact.last_at, fact.runs, fact.responses, fact.tools,
                status.status, status.reason, int(status.grade), status.basis, status.at, fact.workflow_run,
            )  # fmt: skip
            self._put("agents", session, [row])
        self._put_proofs(session, numbers, proofs)

    def _put_proofs(self, session: str, numbers: tuple[int, int], proofs: list[Proof]) -> None:
        name, source = self._writer.names.id, self._writer.loading.number
        rows: list[tuple[object, ...]] = [
            (*numbers, p.path, name(p.parent), source(p.source), p.generation, p.offset, int(p.grade), p.basis,
             p.spawned_at, p.tool_use)
            for p in proofs
        ]  # fmt: skip
        kept = {row[2:7] for row in rows}
        for row in list(
            self._writer.connection.execute(
                "SELECT path, parent, source, generation, offset FROM relationships WHERE session = ? AND child = ?",
                numbers,
            )
        ):
            if row not in kept:
                self._keep(
                    "DELETE FROM relationships WHERE session = ? AND child = ? AND path = ? AND parent = ? "
                    "AND source = ? AND generation = ? AND offset = ?",
                    session,
                    (*numbers, *row),
                )
        self._put("relationships", session, rows)
        if not proofs:
            self._keep("DELETE FROM edges WHERE session = ? AND child = ?", session, numbers)
            return
        best = proofs[0]
        edge = (
            *numbers, self.instance(session), name(best.parent), best.path, int(best.grade), best.basis,
            source(best.source), best.generation, best.offset, best.spawned_at, best.tool_use,
        )  # fmt: skip
        self._put("edges", session, [edge])

    def put_run(self, run: WorkflowRun | None, session: str, identity: str) -> None:
        """Write a workflow run."""
        name = self._writer.names.id
        if run is None:
            self._keep(
                "DELETE FROM workflow_runs WHERE session = ? AND run = ?",
                session,
                (name(session), identity),
            )
            return
        row = (
            name(session), run.run, self.instance(session), run.name, name(run.agent), int(run.agent_grade),
            run.tool_use, run.task, run.status, run.started_at,
        )  # fmt: skip
        self._put("workflow_runs", session, [row])

    def put_usage(
        self, counted: dict[str, Counted], known: Iterable[str] = (), *, shrinking: bool = False
    ) -> set[str]:
        """Write counted requests.

        Args:
            counted: What the claims of each message id add up to.
            known: Ids that may have rows already; of these, rows that no longer hold are removed.
            shrinking: A session that held one of the known ids together with others may not do so any more.

        Returns:
            Sessions that lost something: a response of their own, or one that they held together with others.
        """
        writer, name = self._writer, self._writer.names.id
        rows: list[tuple[object, ...]] = []
        holders: list[tuple[object, ...]] = []
        for message, result in counted.items():
            for r in result.requests:
                rows.append(
                    (r.message_id, r.request, r.part, r.part_kind, self.instance(r.session), name(r.session),
                     name(r.agent), name(r.model), r.first_at, r.input, r.output, r.cache_write_5m, r.cache_write_1h,
                     r.cache_read, r.web_searches, r.largest_input, r.speed, r.tier, r.geo, r.skill, r.tool_server,
                     r.recorded_nano_usd, r.state, writer.loading.number(r.source), r.generation, r.offset, r.records)
                )  # fmt: skip
                self.changed[r.session] = None
            holders.extend(
                (name(session), message, name(owner)) for session, owner in result.holders.items()
            )
        lost = self._remove_stale(list(known), {row[:3] for row in rows}, counted)
        if shrinking:
            lost |= self._remove_holders(known, {(row[1], row[0]) for row in holders})
        writer.put("usage", rows)
        writer.put("message_sessions", holders)
        return {writer.names.text(session) for session in lost}

    def _remove_stale(
        self, ids: list[str], usage: set[tuple[object, ...]], counted: dict[str, Counted]
    ) -> set[int]:
        """Remove rows that no longer hold; the sessions to which one was their own that is not so any more."""
        if not ids:
            return set()
        own = {
            (r.message_id, self._writer.names.id(r.session), r.first_at)
            for message in ids
            for r in counted[message].requests
            if not r.state & STATE_SHARED
        }
        lost: set[int] = set()
        for *key, session, at, state in list(
            self._writer.connection.execute(
                "SELECT message_id, request, part, session, first_at, state FROM usage "
                "WHERE message_id IN (SELECT value FROM json_each(?))",
                (json.dumps(ids),),
            )
        ):
            if not state & STATE_SHARED and (key[0], session, at) not in own:
                lost.add(session)
            if tuple(key) not in usage:
                self._writer.change(
                    "DELETE FROM usage WHERE message_id = ? AND request = ? AND part = ?",
                    tuple(key),
                )
        return lost

    def _remove_holders(self, known: Iterable[str], held: set[tuple[object, ...]]) -> set[int]:
        lost: set[int] = set()
        for row in list(
            self._writer.connection.execute(
                "SELECT message_id, session FROM message_sessions "
                "WHERE session IN (SELECT session FROM shared_sessions) "
                "AND message_id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(known)),),
            )
        ):
            if row not in held:
                lost.add(row[1])
                self._writer.change(
                    "DELETE FROM message_sessions WHERE message_id = ? AND session = ?", row
                )
        return lost

    def put_shared_times(self, session: str, times: SessionTimes | None) -> None:
        """Write when a session that shares responses began, and when its first own response was; or that it shares none."""
        number = self._writer.names.id(session)
        if times is None:
            self._writer.change("DELETE FROM shared_sessions WHERE session = ?", (number,))
        else:
            self._writer.put("shared_sessions", [(number, *times)])

    def move(self, sessions: Iterable[str]) -> None:
        """Have the rows of sessions name the installation that they belong to by now; it may be another with several roots."""
        if not self._writer.loading.has_several_instances():
            return
        for session in sessions:
            number = self._writer.names.id(session)
            instance = self._writer.loading.instance(session)
            for table in ("sessions", "agents", "edges", "workflow_runs", "usage"):
                self._keep(
                    f"UPDATE {table} SET instance = ?1 WHERE session = ?2 AND instance <> ?1",
                    session,
                    (instance, number),
                )

    def put_lineage(self, session: str, found: list[Lineage]) -> None:
        """Write where a session comes from."""
        name = self._writer.names.id
        number = name(session)
        rows: list[tuple[object, ...]] = [
            (number, name(one.origin), one.kind, int(one.grade), one.basis, one.shared)
            for one in found
        ]
        kept = {row[1:3] for row in rows}
        for row in list(
            self._writer.connection.execute(
                "SELECT origin, kind FROM lineage WHERE session = ?", (number,)
            )
        ):
            if row not in kept:
                self._keep(
                    "DELETE FROM lineage WHERE session = ? AND origin = ? AND kind = ?",
                    session,
                    (number, *row),
                )
        self._put("lineage", session, rows)

    def journal(self, now: int) -> None:
        """Give every session that changed a sequence number."""
        self._writer.connection.executemany(
            "INSERT INTO changes (entity, key, at) VALUES ('session', ?, ?)",
            [(s, now) for s in self.changed],
        )
