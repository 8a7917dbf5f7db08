"""Subagents: their own records, their files and sidecars, and what the parent writes about them."""

import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from bench.corpus_dialects import Dialect, Layout, Level, usage_json
from bench.corpus_records import Chain, Lines
from bench.corpus_text import Clock, filler, wire
from bench.corpus_tools import Call
from bench.corpus_turns import Conversation

LOGGED = 0.3  # share of agents whose requests are logged where the session's are
NESTED_AFTER_CALLS = 2
AGENT_TYPES = ("general-purpose", "Explore", "Plan", "reviewer")


class AgentPlan(NamedTuple):
    """What is decided about an agent before it runs."""

    size: int
    background: bool
    nested: bool


@dataclass(frozen=True)
class AgentFile:
    """A finished agent's files.

    Attributes:
        meta: The sidecar's text, empty where the version writes none.
        nested: Called by another agent.
        warmup: Called by nobody.
    """

    name: str
    lines: Lines
    meta: str
    nested: bool = False
    warmup: bool = False


def agent_folder(layout: Layout, session_file: Path) -> Path:
    """Return the folder of a session's agent files."""
    return (
        session_file.parent if layout is Layout.FLAT else session_file.with_suffix("") / "subagents"
    )


class Agent:
    """One subagent from call to end."""

    def __init__(
        self, parent: Conversation, plan: AgentPlan, rng: random.Random, *, depth: int = 1
    ) -> None:
        """Decide id, type and prompt; nothing is written yet."""
        chain = parent.chain
        fill = filler()
        self.parent = parent
        self.plan = plan
        self.depth = depth
        self.dialect: Dialect = chain.dialect
        self.id = chain.ids.agent(self.dialect.agent_digits)
        self.type = rng.choice(AGENT_TYPES)
        self.description = fill.phrase(rng)
        self.prompt = fill.prose.take(rng, 120 + int(rng.random() * min(1_500, plan.size // 8)))
        self.children: list[AgentFile] = []
        self.tool = ""
        self.calls = 0
        self.answer = ""
        self._rng = rng
        inline = self.dialect.layout is Layout.INLINE
        self.lines = chain.lines if inline else Lines()
        clock = chain.clock.fork() if plan.background else chain.clock
        self.chain = Chain(chain.place, rng, self.lines, clock, agent=self.id)
        self.chain.agent_type = self.type
        self.chain.prompt_id = chain.prompt_id
        model = rng.choice(self.dialect.models)
        self.talk = Conversation(self.chain, parent.toolbox, parent.books, model=model)
        self._began = clock.now
        self._size = 0

    def call(self) -> Call:
        """Return the parent's call that starts this agent, with no result yet."""
        background = ',"run_in_background":true' if self.plan.background else ""
        return Call(
            self.dialect.agent_tool,
            f'{{"description":"{self.description}","prompt":"{self.prompt}","subagent_type":"{self.type}"{background}}}',
            '""',
            "{}",
        )

    def start(self, tool: str) -> None:
        """Write the prompt; ``tool`` is the id of the call."""
        self.tool = tool
        if self.parent.logs_requests and self._rng.random() < LOGGED:
            self.talk.log_shape()
        if self.dialect.layout is not Layout.FLAT:
            self.talk.prompt(self.prompt)

    def advance(self) -> bool:
        """Make one step; return whether there is more to do."""
        before = self.lines.size
        if self.plan.nested and self.calls == NESTED_AFTER_CALLS and self.depth == 1:
            self._spawn()
        self.calls += len(self.talk.step())
        self._size += self.lines.size - before
        if self._size < self.plan.size:
            return True
        self.answer = self.talk.conclude()
        return False

    def run(self) -> None:
        """Do everything that is left."""
        while self.advance():
            pass

    def _spawn(self) -> None:
        plan = AgentPlan(self.plan.size // 2, background=False, nested=False)
        child = Agent(self.talk, plan, self._rng, depth=2)
        (asked,) = self.talk.ask([child.call()])
        child.start(asked.tool)
        child.run()
        self.children.append(child.file())
        self.talk.answer(asked, child.finished())

    def file(self) -> AgentFile:
        """Return what goes to disk for this agent."""
        return AgentFile(f"agent-{self.id}", self.lines, self._meta(), nested=self.depth > 1)

    def _meta(self) -> str:
        level = self.dialect.level
        kind, what = f'"agentType":"{self.type}"', f'"description":"{self.description}"'
        if level < Level.V2_1_112:
            return ""
        if level == Level.V2_1_112:
            return f"{{{kind},{what}}}"
        link = f'"toolUseId":"{self.tool}"'
        if level == Level.V2_1_200:
            return f'{{{kind},{what},{link},"spawnDepth":{self.depth}}}'
        parent = f',"parentAgentId":"{self.parent.chain.agent}"' if self.depth > 1 else ""
        shape = "background" if self.plan.background else "foreground"
        return (
            f'{{{kind},"isBuiltIn":true,"launchedWithDefaults":true,{what},{link}{parent},"spawnDepth":{self.depth},'
            f'"requestShape":"{shape}","requestNonInteractive":false,"model":"{self.talk.model}","modelNotNamed":true,'
            f'"pickedEffortModel":"{self.talk.model}","finished":true}}'
        )

    def _last_tokens(self) -> int:
        return sum(self.talk.last_usage)

    def launched(self) -> Call:
        """Return the call with the result of a background start."""
        output = f"{self.chain.place.cwd}/.tasks/{self.id}.output"
        where = "" if self.dialect.level < Level.V2_1_20 else f',"outputFile":"{output}"'
        text = wire(
            f"Async agent launched successfully.\nagentId: {self.id}\noutput_file: {output}"
        )
        return self.call()._replace(
            content=f'[{{"type":"text","text":"{text}"}}]',
            result=(
                f'{{"isAsync":true,"status":"async_launched","agentId":"{self.id}","description":"{self.description}",'
                f'"prompt":"{self.prompt}"{where}}}'
            ),
        )

    def finished(self) -> Call:
        """Return the call with the result of a foreground run."""
        level, talk = self.dialect.level, self.talk
        usage = usage_json(level, talk.last_usage, talk.last_usage.output)
        answer = f'{{"type":"text","text":"{self.answer}"}}'
        hint = "" if level < Level.V2_1_20 else f',{{"type":"text","text":"agentId: {self.id}"}}'
        who = f'"status":"completed","prompt":"{self.prompt}","agentId":"{self.id}",'
        if level == Level.V1_0_128:
            who = ""
        elif level >= Level.V2_1_112:
            who += f'"agentType":"{self.type}",'
        return self.call()._replace(
            content=f"[{answer}{hint}]",
            result=(
                f'{{{who}"content":[{answer}],"totalDurationMs":{self.chain.clock.now - self._began},'
                f'"totalTokens":{self._last_tokens()},"totalToolUseCount":{self.calls},"usage":{usage}}}'
            ),
        )

    def progress(self) -> None:
        """Write into the parent's chain what the agent just said (2.1.9 to 2.1.47)."""
        chain = self.parent.chain
        said = f'{{"type":"assistant","timestamp":"{chain.now()}","message":{self.chain.spoken}}}'
        chain.progress(
            f'"message":{said},"normalizedMessages":[{said}],"type":"agent_progress","prompt":"{self.prompt}",'
            f'"agentId":"{self.id}"',
            self.tool,
        )

    def notification(self) -> str:
        """Return the task notification of a background run, as wire text."""
        head = wire(
            f"<task-notification>\n<task-id>{self.id}</task-id>\n<tool-use-id>{self.tool}</tool-use-id>\n"
            f"<output-file>{self.chain.place.cwd}/.tasks/{self.id}.output</output-file>\n<status>completed</status>\n"
            f'<summary>Agent "{self.description}" finished</summary>\n'
        )
        counter = "subagent_tokens" if self.dialect.level >= Level.V2_1_200 else "total_tokens"
        tail = wire(
            f"</result>\n<usage><{counter}>{self._last_tokens()}</{counter}><tool_uses>{self.calls}</tool_uses>"
            f"<duration_ms>{self.chain.clock.now - self._began}</duration_ms></usage>\n</task-notification>"
        )
        return f"{head}<result>{self.answer}{tail}"


def warmups(parent: Conversation, rng: random.Random) -> list[AgentFile]:
    """Return the two files that 2.0.x writes at each start, which no call points at."""
    files = []
    for kind in ("Explore", "Plan"):
        agent = Agent(parent, AgentPlan(0, background=True, nested=False), rng)
        agent.type = kind
        agent.talk.conclude()
        files.append(replace(agent.file(), warmup=True))
    return files


def cut_clock(main: Clock, agent: Clock) -> None:
    """Move ``main`` on to the end of a background agent that outlived it."""
    main.now = max(main.now, agent.now)
