"""The agent tree of a session: a query over stored edges, which no cycle among them can trap."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import apsw

from stemma.model.entity import HELPER_KINDS, MAIN
from stemma.model.evidence import Grade
from stemma.store.answers.moment import known, microseconds_of, time_of
from stemma.store.answers.sessions import Agent, Edge, Link, Run, Tree, Untraced
from stemma.store.answers.usage import By, Figures
from stemma.store.sqlite.overlay import StoredStatus, Watch, shown
from stemma.store.sqlite.read import Named, ids
from stemma.store.sqlite.read_sessions import session
from stemma.store.sqlite.read_usage import sums

WAVE_MICROSECONDS = 10_000
"""Siblings that start within this of each other have no order (DESIGN section 4)."""

_LAST = "9"
"""Sorts behind every time."""

_DEPTHS = (
    "WITH RECURSIVE below(agent, depth) AS ("
    "  SELECT id, 0 FROM names WHERE text = :main "
    "  UNION SELECT e.child, b.depth + 1 FROM below b JOIN edges e ON e.parent = b.agent "
    "  WHERE e.session = :session AND b.depth < (SELECT count(*) FROM edges WHERE session = :session)"
    ") SELECT n.text, min(b.depth) FROM below b JOIN names n ON n.id = b.agent GROUP BY n.text"
)
"""Every agent has one edge, so a chain from the main thread is at most as long as there are edges."""


def tree(connection: apsw.Connection, named: Named, watch: Watch) -> Tree:
    """The agents of a session, connected as their edges say.

    Args:
        connection: A reading connection.
        named: The session.
        watch: The clock.
    """
    whole = session(connection, named.number, watch)
    tokens = _tokens(connection, named.number)
    agents = _agents(connection, named.number, tokens, watch)
    helpers = [agent for agent in agents.values() if agent.kind in HELPER_KINDS]
    main = agents.get(MAIN)
    below = _children([agent for agent in agents.values() if agent.kind not in HELPER_KINDS])
    connected = _walk(MAIN, below, set())
    found = {MAIN, *(agent.agent_id for agent in connected)}
    return Tree(
        session=whole,
        lineage=_links(connection, named.number, "origin", "session"),
        descendants=_links(connection, named.number, "session", "origin"),
        main=main,
        agents=connected,
        workflow_runs=_runs(connection, named.number, agents),
        orphans=_orphans(agents, below, found),
        helpers=sorted(helpers, key=_start),
        untraced=[
            Untraced(agent_id=agent, tokens=figures)
            for agent, figures in sorted(tokens.items())
            if agent not in agents
        ],
    )


def _tokens(connection: apsw.Connection, number: int) -> dict[str, Figures]:
    found = sums(connection, By.AGENT, sessions=[number])
    names = connection.execute(
        "SELECT id, text FROM names WHERE id IN (SELECT value FROM json_each(?))",
        (ids([agent for _, agent in found]),),
    )
    return {text: found[number, agent] for agent, text in names}


def _agents(
    connection: apsw.Connection, number: int, tokens: dict[str, Figures], watch: Watch
) -> dict[str, Agent]:
    depths = dict(connection.execute(_DEPTHS, {"main": MAIN, "session": number}))
    edges = _edges(connection, number)
    rows = list(
        connection.execute(
            "SELECT a.agent, n.text, a.kind, a.kind_grade, t.text, a.name, a.description, m.text, a.first_at, a.last_at, "
            "a.runs, a.responses, a.tools, a.workflow_run, a.status, a.status_reason, a.status_grade, a.status_basis, "
            "a.status_at FROM agents a JOIN names n ON n.id = a.agent JOIN names t ON t.id = a.type "
            "JOIN names m ON m.id = a.model WHERE a.session = ? ORDER BY n.text",
            (number,),
        )
    )
    latest = _latest({row[1]: row[9] for row in rows}, edges)
    return {
        row[1]: _agent(
            row,
            tokens=tokens.get(row[1], Figures()),
            depth=depths.get(row[1]),
            edge=edges.get(row[1]),
            last_evidence=latest[row[1]],
            watch=watch,
        )
        for row in rows
    }


def _agent(  # noqa: PLR0913 - what the parts of a row were read from
    row: tuple[Any, ...],
    *,
    tokens: Figures,
    depth: int | None,
    edge: Edge | None,
    last_evidence: int,
    watch: Watch,
) -> Agent:
    (_, agent, kind, kind_grade, label, name, description, model, first_at, last_at, runs, responses, tools, run,
     *status) = row  # fmt: skip
    return Agent(
        agent_id=agent,
        kind=kind,
        kind_grade=Grade(kind_grade).word,
        type=known(label),
        name=known(name),
        description=known(description),
        model=known(model),
        first_at=time_of(first_at),
        last_at=time_of(last_at),
        runs=runs,
        responses=responses,
        tools=tools,
        tokens=tokens,
        status=shown(StoredStatus(*status), last_evidence, watch),
        workflow_run=known(run),
        depth=depth,
        edge=edge,
    )


def _edges(connection: apsw.Connection, number: int) -> dict[str, Edge]:
    return {
        child: Edge(
            parent=parent,
            source=path,
            grade=Grade(grade).word,
            basis=basis,
            spawned_at=time_of(spawned_at),
            tool_use_id=known(tool_use),
            path=place,
            offset=offset,
        )
        for child, parent, path, grade, basis, spawned_at, tool_use, place, offset in connection.execute(
            "SELECT c.text, p.text, e.path, e.grade, e.basis, e.spawned_at, e.tool_use, s.path, e.offset FROM edges e "
            "JOIN names c ON c.id = e.child JOIN names p ON p.id = e.parent JOIN sources s ON s.id = e.source "
            "WHERE e.session = ?",
            (number,),
        )
    }


def _latest(own: dict[str, int], edges: dict[str, Edge]) -> dict[str, int]:
    """For each agent, the last record of it or of any agent below it: who waits for a busy agent is not silent."""
    latest = dict(own)
    for child, at in own.items():
        seen = {child}
        current = child
        while (edge := edges.get(current)) is not None and edge.parent not in seen:
            current = edge.parent
            seen.add(current)
            if current in latest:
                latest[current] = max(latest[current], at)
    return latest


def start(agent: Agent) -> str | None:
    """When an agent was started: the time of its call, else of its first record.

    Agents of a workflow share one call, and start when their script comes to them.
    """
    edge = agent.edge
    called = edge.spawned_at if edge is not None and edge.source != "directory" else None
    return called or agent.first_at


def _start(agent: Agent) -> tuple[str, str]:
    return (start(agent) or _LAST, agent.agent_id)


def _children(agents: list[Agent]) -> dict[str, list[Agent]]:
    """Agents by parent, in the order of their starts, waves marked."""
    below: dict[str, list[Agent]] = defaultdict(list)
    for agent in sorted(agents, key=_start):
        if agent.edge is not None:
            below[agent.edge.parent].append(agent)
    number = 0
    for parent in sorted(below):
        for wave in _waves(below[parent]):
            number += 1
            for agent in wave:
                agent.wave = number
    return dict(below)


def _waves(siblings: list[Agent]) -> list[list[Agent]]:
    """Runs of siblings of which each starts less than 10 ms after the one before; a run of one is no wave."""
    runs: list[list[Agent]] = []
    last = None
    for agent in siblings:
        at = _microseconds(agent)
        if last is not None and at is not None and at - last < WAVE_MICROSECONDS:
            runs[-1].append(agent)
        else:
            runs.append([agent])
        last = at
    return [run for run in runs if len(run) > 1]


def _microseconds(agent: Agent) -> int | None:
    at = _start(agent)[0]
    return microseconds_of(at) if at != _LAST else None


def _walk(parent: str, below: dict[str, list[Agent]], seen: set[str]) -> list[Agent]:
    """Everything below an agent, each before those below it."""
    found: list[Agent] = []
    waiting = list(reversed(below.get(parent, [])))
    while waiting:
        agent = waiting.pop()
        if agent.agent_id not in seen:
            seen.add(agent.agent_id)
            found.append(agent)
            waiting.extend(reversed(below.get(agent.agent_id, [])))
    return found


def _orphans(
    agents: dict[str, Agent], below: dict[str, list[Agent]], found: set[str]
) -> list[Agent]:
    """Agents that no edge connects with the main thread: first those without a known parent, then what a cycle holds."""
    rest = [
        agent
        for agent in agents.values()
        if agent.agent_id not in found and agent.kind not in HELPER_KINDS
    ]
    roots = [agent for agent in rest if agent.edge is None or agent.edge.parent not in agents]
    orphans: list[Agent] = []
    seen: set[str] = set()
    for agent in (*sorted(roots, key=_start), *sorted(rest, key=_start)):
        if agent.agent_id not in seen:
            seen.add(agent.agent_id)
            orphans += [agent, *_walk(agent.agent_id, below, seen)]
    return orphans


def _runs(connection: apsw.Connection, number: int, agents: dict[str, Agent]) -> list[Run]:
    return [
        Run(
            run_id=run,
            name=known(name),
            agent_id=agent,
            agent_grade=Grade(grade).word,
            tool_use_id=known(tool_use),
            task_id=known(task),
            status=known(status),
            started_at=time_of(started_at),
            members=[one.agent_id for one in agents.values() if one.workflow_run == run],
        )
        for run, name, agent, grade, tool_use, task, status, started_at in connection.execute(
            "SELECT w.run, w.name, n.text, w.agent_grade, w.tool_use, w.task, w.status, w.started_at "
            "FROM workflow_runs w JOIN names n ON n.id = w.agent WHERE w.session = ? "
            "ORDER BY CASE w.started_at WHEN 0 THEN 1 ELSE 0 END, w.started_at, w.run",
            (number,),
        )
    ]


def _links(connection: apsw.Connection, number: int, other: str, mine: str) -> list[Link]:
    return [
        Link(
            session_id=session_id,
            kind=kind,
            grade=Grade(grade).word,
            basis=basis,
            inherited=shared,
        )
        for session_id, kind, grade, basis, shared in connection.execute(
            f"SELECT n.text, l.kind, l.grade, l.basis, l.shared FROM lineage l JOIN names n ON n.id = l.{other} "
            f"WHERE l.{mine} = ? ORDER BY l.kind, n.text",
            (number,),
        )
    ]
