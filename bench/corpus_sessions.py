"""A session's main file: start, turns, agents, compactions, resumes and the end."""

# the chances of a mix are plain numbers
# ruff: noqa: PLR2004

import random
import re
from pathlib import Path
from typing import NamedTuple

from bench.corpus_agents import Agent, AgentFile, AgentPlan, agent_folder, cut_clock, warmups
from bench.corpus_dialects import Dialect, Layout, Level
from bench.corpus_records import Chain, Lines, Place
from bench.corpus_starts import clear, copy_history, modes, start
from bench.corpus_text import Clock, Ids, Sizes, filler, wire
from bench.corpus_tools import Call, Toolbox
from bench.corpus_turns import Asked, Books, Conversation, Ledger, Tally

AGENT_SIZES = Sizes(median=70_000, p90=250_000, low=4_000, high=900_000)
COMPACT_AT_TOKENS = 160_000
KEPT_TOKENS = 18_000
HOUR_MS = 3_600_000


class Plan(NamedTuple):
    """What is decided about a session before it is written.

    Attributes:
        size: Bytes of the main file.
        agents: How many subagents it calls.
        agent_limit: Most bytes of an agent's records.
        plain: No rare events and no opening records: for trees of tiny files.
    """

    dialect: Dialect
    cwd: str
    start: int
    size: int
    agents: int = 0
    agent_limit: int = 900_000
    line_limit: int = 2_000_000
    text_scale: float = 1.0
    plain: bool = False


class Origin(NamedTuple):
    """What a following session takes over.

    Attributes:
        lines: History to copy, empty after ``/clear``.
        process: Session id that the process started with, empty for a new process.
    """

    session: str
    lines: list[str]
    process: str
    ledger: Ledger


def project_folder(cwd: str) -> str:
    """Return the project folder's name for a working directory."""
    return re.sub(r"[^A-Za-z0-9]", "-", cwd)


class Session:
    """Writes one session; lines wait in ``lines`` until somebody drains them."""

    def __init__(
        self, plan: Plan, rng: random.Random, tally: Tally, origin: Origin | None = None
    ) -> None:
        """Open a session, new or following ``origin``."""
        ids = Ids(rng)
        self.id = ids.uuid()
        slug = "-".join(filler().phrase(rng).split()[:3])
        process = (origin.process if origin else "") or self.id
        place = Place(
            plan.dialect,
            plan.cwd,
            "main" if rng.random() < 0.7 else f"topic/{slug}",
            self.id,
            process,
            "",
        )
        self.plan = plan
        self.dialect = plan.dialect
        self.level = plan.dialect.level
        self.lines = Lines()
        self.clock = Clock(plan.start)
        self.chain = Chain(place, rng, self.lines, self.clock)
        self.ledger = origin.ledger.copy() if origin and origin.lines else Ledger()
        toolbox = Toolbox(
            rng,
            level=self.level,
            cwd=plan.cwd,
            text_scale=plan.text_scale,
            line_limit=plan.line_limit,
        )
        self.talk = Conversation(
            self.chain, toolbox, Books(tally, self.ledger), model=plan.dialect.models[0]
        )
        self.agent_files: list[AgentFile] = []
        self.agents_called = 0
        self._rng = rng
        self._fill = filler()
        self._slug = slug
        self._background: list[Agent] = []
        self._turns = 0
        self._began = plan.start
        self._open(origin)

    # --- start and end -------------------------------------------------------------------------

    def _open(self, origin: Origin | None) -> None:
        if self.level == Level.V2_1_20 and not self.plan.plain:
            self.talk.meanwhile = self._report_progress
        if origin and origin.lines:
            copy_history(self.chain, origin.lines, origin.session)
        elif origin:
            clear(self.chain)
        elif not self.plan.plain:
            if self.level == Level.V2_0_60 and self._rng.random() < 0.3:
                self.agent_files += warmups(self.talk, self._rng)
            start(self.talk)

    def close(self) -> None:
        """Write what a process leaves behind when it ends; wait for background agents first."""
        while self._background:
            self._notify(self._background.pop(0), idle=True)
        if self.level >= Level.V2_1_332:
            self.chain.note("cost-state", self.ledger.state(self._began, self.clock.now))

    def _resume(self) -> None:
        self.close()
        self.clock.now += int(HOUR_MS * (1 + 20 * self._rng.random()))
        modes(self.chain)
        if self._rng.random() < 0.4:
            self.chain.synthetic("No response requested.", failed=False)

    # --- turns ---------------------------------------------------------------------------------

    def run(self) -> None:
        """Write turns until the planned size is reached, then close."""
        while True:
            self.turn()
            if self.lines.size >= self.plan.size and self.agents_called >= self.plan.agents:
                break
        self.close()

    def turn(self) -> None:
        """Write one prompt and everything up to the model's last word."""
        rng = self._rng
        if self._turns and not self.plan.plain:
            self._between_turns()
        self._prompt()
        steps = 1 if self.plan.plain else 1 + int(rng.expovariate(1 / 7))
        for _ in range(steps):
            if self._agents_due():
                self._spawn()
            self._step()
            if self.lines.size >= self.plan.size:
                break
        if self._background and rng.random() < 0.3:
            self._notify(self._background.pop(0), idle=False)
        self._end_turn()

    def _between_turns(self) -> None:
        rng = self._rng
        if self.talk.context > COMPACT_AT_TOKENS or rng.random() < 0.004:
            self._compact()
        if rng.random() < 0.03:
            self._resume()
        if rng.random() < 0.02:
            self.chain.move(self.chain.place._replace(branch=f"topic/{self._slug}"))
        if self._background and rng.random() < 0.5:
            self._notify(self._background.pop(0), idle=True)
        self.clock.now += int(rng.random() * 240_000)

    def _prompt(self) -> None:
        chain, rng = self.chain, self._rng
        self._turns += 1
        if self.level >= Level.V2_1_112:
            chain.prompt_id = chain.ids.uuid()
        text = self._fill.prose.take(rng, 40 + int(rng.random() ** 4 * 2_400))
        extra = ',"permissionMode":"default"' if self.level >= Level.V2_1_20 else ""
        if self.level >= Level.V2_1_332:
            extra += (
                ',"origin":{"kind":"human"},"promptSource":"typed","turnOrigin":"human",'
                f'"turnPosition":{{"promptIndex":{self._turns},"turnIndex":{self._turns}}}'
            )
        if self.level >= Level.V2_0_60 and rng.random() < 0.15:
            chain.queue("enqueue", text if self.level >= Level.V2_1_20 else "")
            chain.queue("dequeue")
        message = self.talk.prompt(text, extra)
        if self.level >= Level.V2_0_60:
            chain.snapshot(message, self._fill.path(rng) if rng.random() < 0.7 else "")

    def _step(self) -> None:
        calls = self.talk.step()
        if self.plan.plain:
            return
        if self.level >= Level.V2_1_112 and self._rng.random() < 0.2:
            self._attach(calls[0])
        if self._rng.random() < 0.01:
            self._api_error()

    def _report_progress(self, asked: Asked, call: Call) -> None:
        chain, rng = self.chain, self._rng
        if rng.random() < 0.6:
            event = (
                f'"hookEvent":"PreToolUse","hookName":"PreToolUse:{call.name}","command":"callback"'
            )
            chain.progress(f'"type":"hook_progress",{event}', asked.tool)
        if call.name == "Bash" and rng.random() < 0.2:
            text = self._fill.log.take(rng, 300)
            chain.progress(
                f'"type":"bash_progress","output":"{text}","fullOutput":"{text}",'
                f'"elapsedTimeSeconds":{2 + int(rng.random() * 60)},"totalLines":4',
                asked.tool,
            )

    def _attach(self, call: Call) -> None:
        chain, rng, fill = self.chain, self._rng, self._fill
        draw = rng.random()
        if draw < 0.5:
            chain.attachment(
                f'"type":"hook_success","hookName":"PostToolUse:{call.name}","toolUseID":"{chain.ids.tool()}",'
                f'"hookEvent":"PostToolUse","content":"","stdout":"{fill.phrase(rng)}","stderr":"","exitCode":0,'
                '"command":"lint.sh","durationMs":41'
            )
        elif draw < 0.75:
            text = fill.code.take(rng, 600)
            chain.attachment(
                f'"type":"edited_text_file","filename":"{fill.path(rng)}","snippet":"{text}"', text
            )
        else:
            chain.attachment(
                '"type":"task_reminder","content":[],"itemCount":0', fill.prose.take(rng, 300)
            )

    def _api_error(self) -> None:
        if self.level >= Level.V2_1_332:
            fields = (
                f'"error":{{"message":"529 Overloaded","status":529,"requestId":"{self.chain.ids.request()}"}},'
                '"retryInMs":572,"retryAttempt":1,"maxRetries":10,"source":"request_retry",'
            )
            self.chain.system("api_error", fields, level="error")
        else:
            self.chain.synthetic("API Error: 529 " + wire('{"type":"error"}'), failed=True)

    def _end_turn(self) -> None:
        chain, rng = self.chain, self._rng
        draw = 1.0 if self.plan.plain else rng.random()
        if draw < 0.02:
            self._interrupt()
        elif draw < 0.03:
            self.talk.conclude(cut=True)
            chain.user('[{"type":"text","text":"[Request interrupted by user]"}]')
        elif draw < 0.05:
            self._skill()
            self.talk.conclude()
        else:
            self.talk.conclude()
        if not self.plan.plain:
            self._turn_notes()

    def _turn_notes(self) -> None:
        chain, rng, fill = self.chain, self._rng, self._fill
        if self.level >= Level.V2_1_20:
            if rng.random() < 0.4:
                fields = '"hookCount":1,"hookInfos":[{"command":"notify.sh","durationMs":31}],"hookErrors":[],'
                chain.system(
                    "stop_hook_summary",
                    fields + '"preventedContinuation":false,',
                    level="suggestion",
                )
            chain.system("turn_duration", f'"durationMs":{int(rng.random() * 90_000)},')
        if self.level >= Level.V2_1_112:
            chain.note("last-prompt", f'"lastPrompt":"{fill.phrase(rng)}"')
        if self.level >= Level.V2_1_200:
            chain.note("ai-title", f'"aiTitle":"{fill.phrase(rng)}"')
            modes(self.chain)
        if self.level >= Level.V2_1_332:
            chain.note("tools-used", '"tools":["Bash","Edit","Read"]')
            chain.note("atis-latch", '"atis":""')

    def _interrupt(self) -> None:
        call = self.talk.toolbox.rejected()
        (asked,) = self.talk.ask([call])
        self.talk.answer(asked, call)
        self.chain.user('[{"type":"text","text":"[Request interrupted by user for tool use]"}]')

    def _skill(self) -> None:
        if self.level < Level.V2_0_60:
            return
        name = self._fill.phrase(self._rng).replace(" ", "-")
        call = Call(
            "Skill",
            f'{{"skill":"{name}"}}',
            f'"Launching skill: {name}"',
            f'{{"success":true,"commandName":"{name}"}}',
        )
        (asked,) = self.talk.ask([call])
        self.talk.answer(asked, call)
        body = self._fill.prose.take(self._rng, 2_500)
        text = f"Base directory for this skill: {self.plan.cwd}/.claude/skills/{name}\\n\\n{body}"
        self.chain.user(
            f'[{{"type":"text","text":"{text}"}}]',
            f',"sourceToolUseID":"{asked.tool}"',
            meta='"isMeta":true,',
        )

    def _compact(self) -> None:
        tokens = self.talk.context
        self.ledger.add(self.talk.model, self.talk.last_usage._replace(read=tokens, output=2_400))
        if self.level >= Level.V2_0_60:
            self.chain.move(self.chain.place._replace(slug=self._slug))
        self.chain.compact(self._fill.prose.take(self._rng, 6_000), tokens)
        self.talk.context = KEPT_TOKENS

    # --- agents --------------------------------------------------------------------------------

    def _agents_due(self) -> bool:
        plan = self.plan
        return self.agents_called < plan.agents and (
            self.lines.size * (plan.agents + 1) >= plan.size * (self.agents_called + 1)
            or plan.plain
        )

    def _agent_plan(self, *, alone: bool) -> AgentPlan:
        plan, rng = self.plan, self._rng
        size = min(AGENT_SIZES.draw(rng), plan.agent_limit)
        share = 0.75 if self.level >= Level.V2_1_200 else 0.25
        background = alone and self.level >= Level.V2_0_60 and rng.random() < share
        nested = self.level == Level.V2_1_332 and not plan.plain and rng.random() < 0.2
        return AgentPlan(size, background=background, nested=nested)

    def _spawn(self) -> None:
        room = self.plan.agents - self.agents_called
        group = min(room, 1 if self._rng.random() < 0.6 else 2 + int(self._rng.random() * 2))
        agents = [
            Agent(self.talk, self._agent_plan(alone=group == 1), self._rng) for _ in range(group)
        ]
        self.agents_called += group
        asked = self.talk.ask([agent.call() for agent in agents])
        for agent, one in zip(agents, asked, strict=True):
            agent.start(one.tool)
        if agents[0].plan.background:
            self.talk.answer(asked[0], agents[0].launched())
            agents[0].run()
            self._background.append(agents[0])
        else:
            self._run_together(agents)
            for agent, one in zip(agents, asked, strict=True):
                self.talk.answer(one, agent.finished())
        if self.dialect.layout is not Layout.INLINE:
            for agent in agents:
                self.agent_files += [agent.file(), *agent.children]

    def _run_together(self, agents: list[Agent]) -> None:
        active = list(agents)
        while active:
            for agent in list(active):
                if not agent.advance():
                    active.remove(agent)
                if self.level == Level.V2_1_20 and self._rng.random() < 0.4:
                    agent.progress()

    def _notify(self, agent: Agent, *, idle: bool) -> None:
        if self.level < Level.V2_1_20:
            return
        cut_clock(self.clock, agent.chain.clock)
        text = agent.notification()
        self.chain.queue("enqueue", text)
        if idle:
            self.chain.queue("dequeue")
            origin = (
                ',"origin":{"kind":"task-notification"}' if self.level >= Level.V2_1_200 else ""
            )
            self.talk.prompt(text, origin)
        else:
            self.chain.queue("remove", text if self.level >= Level.V2_1_332 else "")
            self.chain.attachment(
                f'"type":"queued_command","prompt":"{text}","commandMode":"task-notification"'
            )
        self.talk.conclude()

    def agent_path(self, session_file: Path, agent: AgentFile) -> Path:
        """Return the path of an agent's records."""
        return agent_folder(self.dialect.layout, session_file) / f"{agent.name}.jsonl"
