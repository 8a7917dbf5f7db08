"""Reads, through the writer's own connection, what relating and deriving need from the past."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple, cast

import apsw

from stemma.derive.sessions import Distinct
from stemma.derive.status import main_thread
from stemma.derive.usage import SessionTimes, SourcedUsage
from stemma.model.claim import Claim, ClaimKind, SourcedClaim, decode_body
from stemma.model.entity import MAIN, Participation
from stemma.model.evidence import Grade
from stemma.model.usage import UsageClaim
from stemma.relate.evidence import AgentEvidence, SourcedPart, latest_parts
from stemma.store.sqlite.names import Names
from stemma.store.sqlite.pack import USAGE_COLUMNS, UsageRow, unpack_usage
from stemma.store.sqlite.rows import PARTICIPATION_COLUMNS, participation_of


class KnownUsage(NamedTuple):
    """Usage claims that are there already.

    Attributes:
        mine: Those of the source at hand.
        anywhere: Message ids that have claims in any source.
    """

    mine: list[UsageClaim]
    anywhere: set[str]


class SourceKey(NamedTuple):
    """A source's stable name and its number.

    Attributes:
        name: Path and root: unlike the number, independent of the order of ingest.
        number: The number.
        project: Project slug of its path.
        kind: Kind of source.
        instance: Number of its installation.
        root: Root of its installation.
    """

    name: str
    number: int
    project: str
    kind: str
    instance: int
    root: str


class Loading:
    """Loads evidence by key. What it remembers of sources never changes."""

    def __init__(self, connection: apsw.Connection, names: Names) -> None:
        self._connection = connection
        self._names = names
        self._by_number: dict[int, SourceKey] = {}
        self._by_name: dict[str, int] = {}

    def forget(self) -> None:
        """Drop what is remembered, after a rollback."""
        self._by_number.clear()
        self._by_name.clear()

    def source(self, number: int) -> SourceKey:
        """A source by its number."""
        found = self._by_number.get(number)
        if found is None:
            row = self._connection.execute(
                "SELECT s.path, s.project, s.kind, s.instance, i.root FROM sources s "
                "JOIN instances i ON i.id = s.instance WHERE s.id = ?",
                (number,),
            ).get
            path, project, kind, instance, root = row
            found = SourceKey(f"{path}\x00{root}", number, project, kind, instance, root)
            self._by_number[number] = found
            self._by_name[found.name] = number
        return found

    def number(self, name: str) -> int:
        """Number of a source that has been loaded before."""
        return self._by_name[name]

    # ------------------------------------------------------------------ usage

    def usage_claims_of(self, key: tuple[int, int], ids: list[str]) -> KnownUsage:
        """Claims of one source for the given ids, and which of the ids any source has claims for."""
        mine = []
        anywhere = set()
        for source, generation, row in self._usage_rows(ids):
            anywhere.add(row[0])
            if (source, generation) == key:
                mine.append(unpack_usage(row, self._names.text))
        return KnownUsage(mine, anywhere)

    def usage_claims(self, ids: list[str]) -> dict[str, list[SourcedUsage]]:
        """All claims of the given message ids."""
        found: dict[str, list[SourcedUsage]] = {message: [] for message in ids}
        for source, generation, row in self._usage_rows(ids):
            claim = unpack_usage(row, self._names.text)
            found[row[0]].append(SourcedUsage(self.source(source).name, generation, claim))
        return found

    def _usage_rows(self, ids: list[str]) -> Iterator[tuple[int, int, UsageRow]]:
        if not ids:
            return
        for source, generation, *row in self._connection.execute(
            f"SELECT source, generation, {USAGE_COLUMNS} FROM usage_claims "
            "WHERE message_id IN (SELECT value FROM json_each(?))",
            (json.dumps(ids),),
        ):
            yield source, generation, cast("UsageRow", tuple(row))

    def shared_messages(self, session: str) -> list[str]:
        """Message ids that the session holds together with others."""
        rows = self._connection.execute(
            "SELECT message_id FROM message_sessions WHERE session = ?",
            (self._names.find(session),),
        )
        return [message for (message,) in rows]

    def shared_times(self, session: str) -> SessionTimes | None:
        """The times of a session that shares responses, as they were derived last; nothing when it shares none."""
        row = self._connection.execute(
            "SELECT started_at, first_own_at FROM shared_sessions WHERE session = ?",
            (self._names.find(session),),
        ).fetchone()
        return SessionTimes(*row) if row is not None else None

    def started_at(self, session: str) -> int:
        """Earliest time of any record that states the session's id; 0 when none has one."""
        row = self._connection.execute(
            "SELECT min(first_at) FROM participations WHERE session = ? AND first_at > 0",
            (self._names.find(session),),
        ).get
        return row or 0

    def session_times(self, session: str) -> SessionTimes:
        """When the session began, and when its first response was that no other session holds.

        Reads all usage of the session: only for sessions that share some.
        """
        own = self._connection.execute(
            "SELECT min(first_at) FROM usage WHERE session = ? AND state & 8 = 0 AND first_at > 0",
            (self._names.find(session),),
        ).get
        return SessionTimes(self.started_at(session), own or 0)

    def inherited(self, session: str) -> dict[str, int]:
        """How many responses a session holds that others own, by owner."""
        number = self._names.find(session)
        rows = self._connection.execute(
            "SELECT owner, count(*) FROM message_sessions WHERE session = ? AND owner <> session GROUP BY owner",
            (number,),
        )
        return {self._names.text(owner): count for owner, count in rows}

    def instance(self, session: str) -> int:
        """The installation that a session belongs to: of all that state its id, the one whose root sorts first; 0 when none does."""
        found = self._connection.execute(
            "SELECT s.instance FROM (SELECT source FROM participations WHERE session = ?1 UNION "
            "SELECT source FROM claims WHERE session = ?1) p JOIN sources s ON s.id = p.source "
            "JOIN instances i ON i.id = s.instance ORDER BY i.root, i.host LIMIT 1",
            (self._names.find(session),),
        ).get
        return int(found or 0)

    def has_several_instances(self) -> bool:
        """Whether sessions may be stated in more than one installation."""
        return bool(self._connection.execute("SELECT count(*) > 1 FROM instances").get)

    # ------------------------------------------------------------------ sessions and agents

    def participation(self, numbers: tuple[int, int], key: tuple[int, int]) -> Participation | None:
        """What one source said so far of one agent."""
        row = self._connection.execute(
            f"SELECT {PARTICIPATION_COLUMNS} FROM participations "
            "WHERE session = ? AND agent = ? AND source = ? AND generation = ?",
            (*numbers, *key),
        ).fetchone()
        if row is None:
            return None
        text = self._names.text
        return participation_of(text(numbers[0]), text(numbers[1]), row, text)

    def parts(self, session: str, agent: str | None = None) -> list[SourcedPart]:
        """Participations of a session, or of one agent of it."""
        statement = f"SELECT agent, source, generation, {PARTICIPATION_COLUMNS} FROM participations WHERE session = ?"
        bindings: tuple[object, ...] = (self._names.find(session),)
        if agent is not None:
            statement += " AND agent = ?"
            bindings = (*bindings, self._names.find(agent))
        text = self._names.text
        found = []
        for number, source, generation, *columns in self._connection.execute(statement, bindings):
            at = self.source(source)
            part = participation_of(session, text(number), tuple(columns), text)
            found.append(SourcedPart(at.name, generation, at.project, at.kind, part))
        return found

    def distinct(self, session: str, parts: list[SourcedPart]) -> Distinct | None:
        """Counts of the main thread by record id; nothing when it stands in one source, where nothing is copied."""
        main = latest_parts(one for one in parts if one.part.agent == MAIN)
        if len(main) < 2:  # noqa: PLR2004 - more than one
            return None
        where = json.dumps([[self.number(one.source), one.generation] for one in main])
        names = (self._names.find(session), self._names.find(MAIN), where)
        prompts, compactions = (
            self._connection.execute(
                f"SELECT count(DISTINCT CASE WHEN uuid = '' THEN source || ':' || offset ELSE uuid END) FROM {table} "
                f"WHERE session = ? AND agent = ? AND {condition} AND (source, generation) IN "
                "(SELECT value ->> 0, value ->> 1 FROM json_each(?))",
                names,
            ).get
            for table, condition in (
                ("turns", "origin IN ('human', 'command')"),
                ("compactions", "TRUE"),
            )
        )
        return Distinct(int(prompts), int(compactions))

    def evidence(self, session: str, agent: str) -> AgentEvidence:
        """All evidence about one agent."""
        found = AgentEvidence(session, agent, self.parts(session, agent))
        if agent == MAIN:
            return found
        found.about = self.claims(session, agent)
        for tool_use in found.tool_uses():
            found.by_tool[tool_use] = self.claims(session, tool_use)
        for run in found.runs():
            found.by_run[run] = self.claims(session, run)
        for digest in found.prompts():
            found.by_prompt.extend(self._spawn_blocks(session, digest))
        found.main = main_thread(self.parts(session, MAIN))
        return found

    def claims(self, session: str, subject: str) -> list[SourcedClaim]:
        """Claims of a session about one subject."""
        return self._claims(session, "subject = ?", subject)

    def lineage_claims(self, session: str) -> list[SourcedClaim]:
        """What a session says of where it comes from."""
        return self._claims(session, "kind = ?", ClaimKind.LINEAGE)

    def _spawn_blocks(self, session: str, prompt: str) -> list[SourcedClaim]:
        """Calls of a session that pass a prompt, by its digest."""
        return self._claims(session, "kind = 'spawn_block' AND link = ?", prompt)

    def _claims(self, session: str, condition: str, value: str) -> list[SourcedClaim]:
        rows = self._connection.execute(
            "SELECT kind, subject, source, generation, offset, ordinal, at, grade, body FROM claims "
            f"WHERE session = ? AND {condition}",
            (self._names.find(session), value),
        )
        return [
            SourcedClaim(
                self.source(source).name,
                generation,
                Claim(
                    ClaimKind(kind),
                    session,
                    subject,
                    offset,
                    ordinal,
                    at,
                    Grade(grade),
                    decode_body(body),
                ),
            )
            for kind, subject, source, generation, offset, ordinal, at, grade, body in rows
        ]

    def agents_prompted(self, session: str, prompt: str) -> list[str]:
        """Agents whose first prompt has the given digest."""
        rows = self._connection.execute(
            "SELECT DISTINCT agent FROM participations WHERE session = ? AND prompt_digest = ? AND prompt_digest <> ''",
            (self._names.find(session), prompt),
        )
        return [self._names.text(agent) for (agent,) in rows]

    def agents_linked(self, session: str, link: str) -> list[str]:
        """Agents whose claims name a tool-use id or a workflow run."""
        rows = self._connection.execute(
            "SELECT DISTINCT subject FROM claims WHERE session = ? AND link = ? AND link <> '' AND kind IN "
            "('sidecar', 'launch', 'inline_root', 'notification', 'directory', 'journal', 'resume')",
            (self._names.find(session), link),
        )
        return [subject for (subject,) in rows]

    def is_headless(self, session: str) -> bool:
        """Whether a program drives the client, as far as any source of the session's main thread says."""
        found = self._connection.execute(
            "SELECT max(headless) FROM participations WHERE session = ? AND agent = ?",
            (self._names.find(session), self._names.find(MAIN)),
        ).get
        return bool(found)

    def unfinished(self, session: str) -> list[str]:
        """Agents of a session whose end may depend on its main thread."""
        rows = self._connection.execute(
            "SELECT agent FROM agents WHERE session = ? AND (status IN ('working', 'waiting', 'unknown') OR runs > 1 OR "
            "status_basis IN ('the client''s process ended', "
            "'a headless client of this version ends with its main turn'))",
            (self._names.find(session),),
        )
        return [self._names.text(agent) for (agent,) in rows]
