"""Answers about sessions and their agents."""

from __future__ import annotations

from msgspec import Struct

from stemma.store.answers.moment import Time
from stemma.store.answers.usage import Figures


class Status(Struct, kw_only=True):
    """Status of an agent as it is shown; a session shows that of its main thread.

    Attributes:
        status: ``working``, ``waiting``, ``completed``, ``error`` or ``unknown``.
        reason: Why, where it is evidenced.
        grade: How sure.
        basis: What it rests on, in words.
        at: Time of the evidence.
        stored_status: What the evidence alone says. It differs when an agent fell silent: then ``status`` is
            ``unknown`` for as long as nothing new is written.
    """

    status: str
    reason: str | None
    grade: str | None
    basis: str | None
    at: Time | None
    stored_status: str | None


class Session(Struct, kw_only=True):
    """One session in a list.

    Attributes:
        session_id: Id that the agent gave it.
        title: Its title, else its first prompt.
        title_basis: ``custom``, ``generated`` or ``first prompt``.
        project: Folder name of the project, verbatim.
        cwd: Working directory that its first record states.
        branch: Git branch, latest.
        model: Model of the main thread's latest response.
        host: Machine.
        product: Agent product.
        client_version: Version of the client, latest.
        entrypoint: How the client was started.
        completeness: ``main``, or ``no-main`` when only agents of it are there.
        started_at: First record; of a fork, the first that is not copied.
        last_at: Last record of the session or of any of its agents.
        wall_us: From the one to the other, microseconds.
        active_us: Durations of the main thread's own turns together, microseconds.
        prompts: Prompts by a person.
        agents: Subagents.
        helper_agents: Agents that the client started for itself (warm-ups, compactions, suggestions).
        compactions: How often the context was compacted.
        api_errors: Calls that failed for good.
        inherited: Responses it holds that another session made and that are counted there.
        tokens: Tokens of the main thread and all agents.
        sources: Files that it was read from.
        sources_removed: How many of those are gone by now.
        status: Status of its main thread.
    """

    session_id: str
    title: str | None
    title_basis: str | None
    project: str
    cwd: str | None
    branch: str | None
    model: str | None
    host: str
    product: str
    client_version: str | None
    entrypoint: str | None
    completeness: str
    started_at: Time | None
    last_at: Time | None
    wall_us: int | None
    active_us: int | None
    prompts: int
    agents: int
    helper_agents: int
    compactions: int
    api_errors: int
    inherited: int
    tokens: Figures
    sources: int
    sources_removed: int
    status: Status


class SessionsAnswer(Struct, kw_only=True):
    """What ``stemma sessions`` answers.

    Attributes:
        sessions: Newest first.
        matching: How many there are; more than are listed when a limit cut them.
    """

    sessions: list[Session]
    matching: int


class Edge(Struct, kw_only=True):
    """Who started an agent, and what proves it.

    Attributes:
        parent: ``main`` or an agent id.
        source: Join path of the proof.
        grade: How sure.
        basis: Which field proves it, in words.
        spawned_at: Time of the call.
        tool_use_id: Id of the call.
        path: Source of the proving record, inside its root.
        offset: Byte offset of the proving record.
    """

    parent: str
    source: str
    grade: str
    basis: str
    spawned_at: Time | None
    tool_use_id: str | None
    path: str
    offset: int


class Agent(Struct, kw_only=True):
    """One agent of a tree.

    Attributes:
        agent_id: ``main`` or its id.
        kind: What it is for.
        kind_grade: How sure the kind is.
        type: Agent type.
        name: Name given to it.
        description: What it was asked to do, in a few words.
        model: Its model.
        first_at: First record.
        last_at: Last record.
        runs: How often it was started.
        responses: Responses in its transcripts, copies included.
        tools: Tool calls in its transcripts.
        tokens: Its own tokens, without those of agents below it.
        status: Its status.
        workflow_run: Run that it belongs to.
        depth: Steps from the main thread; nothing when no edge leads there.
        edge: Edge to its parent.
        wave: Number shared by siblings whose starts are too close to have an order.
    """

    agent_id: str
    kind: str
    kind_grade: str
    type: str | None
    name: str | None
    description: str | None
    model: str | None
    first_at: Time | None
    last_at: Time | None
    runs: int
    responses: int
    tools: int
    tokens: Figures
    status: Status
    workflow_run: str | None
    depth: int | None
    edge: Edge | None
    wave: int | None = None


class Run(Struct, kw_only=True):
    """One run of a workflow.

    Attributes:
        run_id: Its id.
        name: Name of the workflow.
        agent_id: Agent that ran it.
        agent_grade: How sure that is.
        tool_use_id: Call that started it.
        task_id: Its background task.
        status: Status word as its source wrote it.
        started_at: Time of its start.
        members: Ids of its agents.
    """

    run_id: str
    name: str | None
    agent_id: str
    agent_grade: str
    tool_use_id: str | None
    task_id: str | None
    status: str | None
    started_at: Time | None
    members: list[str]


class Untraced(Struct, kw_only=True):
    """An agent without a transcript of its own, whose responses another one's transcript embeds.

    Attributes:
        agent_id: Its id.
        tokens: Its tokens.
    """

    agent_id: str
    tokens: Figures


class Link(Struct, kw_only=True):
    """Where a session comes from, or what came of it.

    Attributes:
        session_id: The other session.
        kind: ``fork`` (copied history) or ``clear`` (same process, emptied context).
        grade: How sure.
        basis: What it rests on, in words.
        inherited: Responses of the earlier session that the later one holds.
    """

    session_id: str
    kind: str
    grade: str
    basis: str
    inherited: int


class Tree(Struct, kw_only=True):
    """What ``stemma tree`` answers.

    Attributes:
        session: The session.
        lineage: Sessions that it comes from.
        descendants: Sessions that come from it.
        main: Its main thread; nothing when only agents of it are there.
        agents: Agents that edges connect with the main thread, each before those below it.
        workflow_runs: Runs of workflows.
        orphans: Agents without a proven parent, each before those below it.
        helpers: Agents that the client started for itself.
        untraced: Agents of which there are responses and nothing else.
    """

    session: Session
    lineage: list[Link]
    descendants: list[Link]
    main: Agent | None
    agents: list[Agent]
    workflow_runs: list[Run]
    orphans: list[Agent]
    helpers: list[Agent]
    untraced: list[Untraced]
