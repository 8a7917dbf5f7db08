"""The agent tree: each agent on one line where there is room, else on two."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import tzinfo
from typing import NamedTuple

from rich.text import Text

from stemma.cli.render import (
    UNKNOWN,
    Cell,
    Column,
    clean,
    compact,
    console,
    counted,
    cut,
    duration,
    joined,
    model,
    moment,
    number,
    place,
    status,
    table,
)
from stemma.store.answers.sessions import Agent, Link, Run, Tree
from stemma.store.sqlite.read_tree import start

_WIDE = 130
_PLACE = 20

_COLUMNS = (
    Column("AGENT", least=30),
    Column("MODEL", least=8),
    Column("STATUS", least=9),
    Column("TOKENS", right=True),
    Column("EDGE"),
    Column("ID", least=9),
)


class Node(NamedTuple):
    """An agent or a workflow run, as it is drawn.

    Attributes:
        label: What it is.
        cells: Its other columns.
        below: What hangs below it.
    """

    label: str
    cells: tuple[Cell, Cell, str, str, str]
    below: list[Node]


def show(tree: Tree, zone: tzinfo | None) -> None:
    """Print the tree, what it is a tree of, and who has no place in it."""
    out = console()
    for line in _header(tree, zone, out.width):
        out.print(line)
    out.print()
    drawn = list(_draw(_forest(tree)))
    sections = [("", drawn)]
    if tree.orphans:
        title = "orphans: no record proves who started them"
        sections.append((title, list(_draw(_orphans(tree)))))
    if tree.helpers:
        title = "helpers: started by the client for itself"
        sections.append((title, list(_draw([Node(*_agent(one), []) for one in tree.helpers]))))
    if tree.untraced:
        title = "untraced: only their responses are there, in another agent's transcript"
        nodes = [
            Node("agent", ("", UNKNOWN, compact(one.tokens.total), "", clean(one.agent_id)), [])
            for one in tree.untraced
        ]
        sections.append((title, list(_draw(nodes))))
    for line in _lines(sections, out.width):
        out.print(line)
    if any(agent.wave for agent in (*tree.agents, *tree.orphans)):
        out.print(Text("∥ agents with one number started at once, in no order", style="dim"))


def _header(tree: Tree, zone: tzinfo | None, width: int) -> Iterator[Text]:
    one = tree.session
    yield Text(cut(clean(one.title), width), style="bold")
    yield Text(f"session {clean(one.session_id)}")
    client = " ".join(part for part in (one.product, one.client_version, one.entrypoint) if part)
    facts = [clean(one.branch), model(one.model), client]
    room = max(width - len(" · ".join(["", *facts])), _PLACE)
    lines = joined([cut(place(one), room, "middle"), *facts], width)
    counts = [counted(one.prompts, "prompt")]
    counts += [counted(one.compactions, "compaction")] if one.compactions else []
    counts += [counted(one.api_errors, "API error")] if one.api_errors else []
    lines += joined(
        [
            f"{moment(one.started_at, zone)} to {moment(one.last_at, zone)}",
            f"active {duration(one.active_us)} of {duration(one.wall_us)}",
            *counts,
        ],
        width,
    )
    responses = counted(one.tokens.responses, "response")
    lines.append(f"{number(one.tokens.total)} tokens in {responses}, all agents together")
    yield from (Text(line) for line in lines)
    if one.sources_removed:
        removed = f"{one.sources_removed:,} of {counted(one.sources, 'source')} removed"
        yield Text(removed, style="yellow")
    for links, fork, clear in (
        (tree.lineage, "forked from", "cleared from"),
        (tree.descendants, "forked into", "cleared into"),
    ):
        for link in links:
            for line in joined(_link(link, fork, clear), width, "  "):
                yield Text(
                    line.removeprefix("  ") if line.lstrip().startswith((fork, clear)) else line,
                    "cyan",
                )


def _link(link: Link, fork: str, clear: str) -> list[str]:
    words = fork if link.kind == "fork" else clear
    inherited = [f"{counted(link.inherited, 'response')} inherited"] if link.inherited else []
    return [
        f"{words} {clean(link.session_id)}",
        *inherited,
        f"{link.grade}: {clean(link.basis)}",
    ]


# ---------------------------------------------------------------------- what hangs where


def _forest(tree: Tree) -> list[Node]:
    """The main thread, or what stands in for it, with everything below."""
    below = _below(tree)["main"]
    if tree.main is not None:
        return [Node(*_agent(tree.main), below)]
    return [Node("main (no transcript)", ("", UNKNOWN, "", "", ""), below)]


def _below(tree: Tree) -> dict[str, list[Node]]:
    """Nodes by the agent they hang below; members of a run hang below the run, which hangs below who ran it."""
    nodes: dict[str, list[Node]] = defaultdict(list)
    runs = {run.run_id: run for run in tree.workflow_runs}
    members: dict[str, list[Node]] = defaultdict(list)
    starts: list[tuple[str, Agent | Run]] = [
        *((run.started_at or run.run_id, run) for run in tree.workflow_runs),
        *((start(agent) or "", agent) for agent in tree.agents),
    ]
    for _, one in sorted(starts, key=lambda entry: entry[0]):
        if isinstance(one, Run):
            nodes[one.agent_id].append(Node(*_run(one), members[one.run_id]))
            continue
        parent = one.edge.parent if one.edge is not None else ""
        run = runs.get(one.workflow_run or "")
        siblings = (
            members[run.run_id] if run is not None and run.agent_id == parent else nodes[parent]
        )
        siblings.append(Node(*_agent(one), nodes[one.agent_id]))
    return nodes


def _orphans(tree: Tree) -> list[Node]:
    """Orphans with what hangs below them; one whose parent comes later in the list closes a cycle, and is a root."""
    below: dict[str, list[Node]] = {}
    roots: list[Node] = []
    for agent in tree.orphans:
        node = Node(*_agent(agent), [])
        parent = agent.edge.parent if agent.edge is not None else ""
        below.get(parent, roots).append(node)
        below[agent.agent_id] = node.below
    return roots


def _agent(agent: Agent) -> tuple[str, tuple[Cell, Cell, str, str, str]]:
    if agent.agent_id == "main":
        label = "main"
    else:
        kind = "" if agent.kind == "task" else f" ({agent.kind})"
        words = " ".join(dict.fromkeys(clean(part) for part in (agent.type, agent.name) if part))
        label = f"{words or 'agent'}{kind}"
        label += f": {clean(agent.description)}" if agent.description else ""
        label += f", {agent.runs} runs" if agent.runs > 1 else ""
        label = f"∥{agent.wave} {label}" if agent.wave is not None else label
    edge = f"{agent.edge.source} {agent.edge.grade}" if agent.edge is not None else ""
    if agent.edge is not None and agent.depth is None:
        edge += f" of {clean(agent.edge.parent)}"
    identity = "" if agent.agent_id == "main" else clean(agent.agent_id)
    return label, (
        model(agent.model),
        status(agent.status),
        compact(agent.tokens.total),
        edge,
        identity,
    )


def _run(run: Run) -> tuple[str, tuple[Cell, Cell, str, str, str]]:
    label = f"workflow {clean(run.name) if run.name else clean(run.run_id)}"
    return label, (
        "",
        clean(run.status) if run.status else UNKNOWN,
        "",
        f"run {run.agent_grade}",
        clean(run.run_id),
    )


# ---------------------------------------------------------------------- lines


class Drawn(NamedTuple):
    """A node with the lines that lead to it.

    Attributes:
        lead: Before its label.
        under: Before a second line of it.
        node: The node.
    """

    lead: str
    under: str
    node: Node


def _draw(roots: list[Node]) -> Iterator[Drawn]:
    """Nodes from top to bottom; without recursion, since nobody promises how deep a tree is."""
    waiting = [(root, "", "") for root in reversed(roots)]
    while waiting:
        node, lead, under = waiting.pop()
        yield Drawn(lead, under + ("│  " if node.below else "   "), node)
        last = len(node.below) - 1
        for index in range(last, -1, -1):
            arm, space = ("└─ ", "   ") if index == last else ("├─ ", "│  ")
            waiting.append((node.below[index], under + arm, under + space))


def _lines(sections: list[tuple[str, list[Drawn]]], width: int) -> Iterator[Text]:
    every = [one for _, drawn in sections for one in drawn]
    chosen = range(len(_COLUMNS)) if width >= _WIDE else (0, 2, 3)
    rows = [(one.lead + one.node.label, *one.node.cells) for one in every]
    head, *firsts = table(
        [_COLUMNS[index] for index in chosen],
        [[row[index] for index in chosen] for row in rows],
        width,
    )
    yield head
    index = 0
    for title, drawn in sections:
        if title:
            yield Text()
            yield Text(cut(title, width), style="yellow")
        for one in drawn:
            yield firsts[index]
            index += 1
            if width < _WIDE:
                yield from _second(one, width)


def _second(one: Drawn, width: int) -> Iterator[Text]:
    name, _, _, edge, identity = one.node.cells
    facts = [str(part) for part in (name, edge, identity) if str(part)]
    if facts:
        yield Text(cut(one.under + " · ".join(facts), width), style="dim")
