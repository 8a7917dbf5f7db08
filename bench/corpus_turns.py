"""Conversations: API responses cut into records, with true and reported token counts."""

# the chances of a mix are plain numbers
# ruff: noqa: PLR2004

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from bench.corpus_dialects import Level, Usage, reported_outputs
from bench.corpus_records import Chain, Message
from bench.corpus_text import Sizes, filler
from bench.corpus_tools import Call, Toolbox

if TYPE_CHECKING:
    from collections.abc import Callable

SYSTEM_TOKENS = 14_000
SEVERAL_CALLS = 0.16  # share of messages that make more than one call
OUTPUTS = Sizes(median=260, p90=1_600, low=4, high=16_000)
THOUGHTS = Sizes(median=420, p90=2_400, low=60, high=12_000)
SIGNATURES = Sizes(median=520, p90=5_600, low=200, high=20_000)
SPEECHES = Sizes(median=170, p90=900, low=30, high=6_000)
ANSWERS = Sizes(median=900, p90=2_800, low=60, high=9_000)
MICRO_USD = {
    "claude-opus-5-5": (4.0, 20.0, 5.0, 8.0, 0.2),
    "claude-haiku-5-5": (0.1, 0.5, 0.125, 0.2, 0.01),
}


@dataclass
class Tally:
    """Token totals with each response counted once.

    Attributes:
        output: The most that any record of each response reports.
        output_true: What the service charged; more than ``output`` where records keep a placeholder.
    """

    messages: int = 0
    input: int = 0
    output: int = 0
    output_true: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    cache_read: int = 0

    def add(self, usage: Usage, reported: int) -> None:
        """Count one response."""
        self.messages += 1
        self.input += usage.input
        self.output += reported
        self.output_true += usage.output
        self.cache_write_5m += usage.write_5m
        self.cache_write_1h += usage.write_1h
        self.cache_read += usage.read


@dataclass
class Ledger:
    """A session lineage's own bill, as the client keeps it per model."""

    models: dict[str, list[int]] = field(default_factory=dict)

    def add(self, model: str, usage: Usage) -> None:
        """Charge one response."""
        sums = self.models.setdefault(model, [0] * 5)
        for index, count in enumerate(usage):
            sums[index] += count

    def copy(self) -> "Ledger":
        """Return the bill that a fork starts from."""
        return Ledger({model: list(sums) for model, sums in self.models.items()})

    def state(self, started: int, now: int) -> str:
        """Return the members of a cost-state record."""
        total, models = 0.0, []
        for model, (fresh, write_5m, write_1h, read, output) in self.models.items():
            price = MICRO_USD.get(model, MICRO_USD["claude-opus-5-5"])
            counts = (fresh, output, write_5m, write_1h, read)
            cost = round(sum(count * each for count, each in zip(counts, price, strict=True))) / 1e6
            total += cost
            models.append(
                f'"{model}":{{"inputTokens":{fresh},"outputTokens":{output},"thinkingTokens":{output // 3},'
                f'"cacheReadInputTokens":{read},"cacheCreationInputTokens":{write_5m + write_1h},'
                f'"cacheCreationEphemeral5mInputTokens":{write_5m},"cacheCreationEphemeral1hInputTokens":{write_1h},'
                f'"webSearchRequests":0,"costUSD":{cost:.6f}}}'
            )
        return (
            f'"totalCostUSD":{total:.6f},"totalAPIDuration":{(now - started) // 3},"totalToolDuration":'
            f'{(now - started) // 7},"totalLinesAdded":12,"totalLinesRemoved":4,"totalDuration":{now - started},'
            f'"startTime":{started},"modelUsage":{{{",".join(models)}}},"hasUnknownModelCost":false'
        )


class Books(NamedTuple):
    """Where responses are counted: the corpus's totals and the session's bill."""

    tally: Tally
    ledger: Ledger


class Asked(NamedTuple):
    """A tool call that was written: its id and the record that made it."""

    tool: str
    record: str


class Conversation:
    """One chain's exchange with the model."""

    def __init__(self, chain: Chain, toolbox: Toolbox, books: Books, *, model: str) -> None:
        """Start with an empty context.

        Args:
            chain: Where records go.
            toolbox: Source of tool calls and of every choice.
            books: Where responses are counted.
            model: Model that answers.

        ``meanwhile``, where set, is called between a call and its result.
        """
        self.chain = chain
        self.toolbox = toolbox
        self.rng = toolbox.rng
        self.books = books
        self.model = model
        self.context = SYSTEM_TOKENS
        self.hour_cache = not chain.agent and self.rng.random() < 0.5
        self.logs_requests = False
        self.last_usage = Usage(0, 0, 0, 0, 0)
        self.meanwhile: Callable[[Asked, Call], None] | None = None
        self._shape = chain.ids.digest()
        self._unsent: list[str] = []
        self._filler = filler()

    def prompt(self, text: str, extra: str = "") -> str:
        """Write a user record with ``text`` (wire text); return its uuid."""
        if self.logs_requests:
            self._unsent.append(f'"{text}"')
        return self.chain.user(f'"{text}"', extra)

    def step(self) -> list[Call]:
        """Let the model make one to three calls and write their results."""
        draw = self.rng.random()
        calls = [
            self.toolbox.draw()
            for _ in range(1 if draw > SEVERAL_CALLS else 2 if draw > SEVERAL_CALLS / 3 else 3)
        ]
        self.ask(calls, answered=True)
        return calls

    def ask(self, calls: list[Call], *, answered: bool = False) -> list[Asked]:
        """Write one response that makes ``calls``, with their results if ``answered``."""
        chain, rng = self.chain, self.rng
        message = self._message("tool_use")
        ids = [chain.ids.tool() for _ in calls]
        lead = self._lead()
        contents = lead + [
            f'{{"type":"tool_use","id":"{tool}","name":"{call.name}","input":{call.arguments}}}'
            for tool, call in zip(ids, calls, strict=True)
        ]
        outputs = self._outputs(message.usage, len(contents))
        between = answered and rng.random() < chain.dialect.between / SEVERAL_CALLS
        asked: list[Asked] = []
        for index, (content, output) in enumerate(zip(contents, outputs, strict=True)):
            record = chain.block(message, content, output=output, index=index)
            if index >= len(lead):
                asked.append(Asked(ids[len(asked)], record))
                if between:
                    self._work(asked[-1], calls[len(asked) - 1])
        if answered and not between:
            for one, call in zip(asked, calls, strict=True):
                self._work(one, call)
        return asked

    def _work(self, asked: Asked, call: Call) -> None:
        if self.meanwhile:
            self.meanwhile(asked, call)
        self.answer(asked, call)

    def answer(self, asked: Asked, call: Call) -> None:
        """Write the result of a call."""
        if self.logs_requests and len(call.content) < 4_000:
            block = (
                f'{{"type":"tool_result","tool_use_id":"{asked.tool}","content":{call.content}}}'
            )
            self._unsent.append(f"[{block}]")
        self.chain.result(call, asked.tool, asked.record)

    def conclude(self, *, cut: bool = False) -> str:
        """Write a response without calls, the end of a turn; ``cut`` if broken off. Return its text."""
        text = self._filler.prose.take(self.rng, self._size(SPEECHES if cut else ANSWERS))
        message = self._message("" if cut else "end_turn")
        lead = [] if cut else self._thinking()
        contents = [*lead, f'{{"type":"text","text":"{text}"}}']
        outputs = self._outputs(message.usage, len(contents), cut=cut)
        for index, (content, output) in enumerate(zip(contents, outputs, strict=True)):
            self.chain.block(message, content, output=output, index=index)
        return text

    def _outputs(self, usage: Usage, blocks: int, *, cut: bool = False) -> list[int]:
        chain = self.chain
        if cut:
            reported = [1]
        else:
            reported = reported_outputs(
                chain.dialect, self.rng, blocks=blocks, true=usage.output, agent=bool(chain.agent)
            )
        self.books.tally.add(usage, max(reported))
        return reported

    def _size(self, sizes: Sizes) -> int:
        return int(sizes.draw(self.rng) * min(1.0, self.toolbox.scale))

    def _lead(self) -> list[str]:
        blocks = self._thinking()
        if self.rng.random() < self.chain.dialect.speech:
            text = self._filler.prose.take(self.rng, self._size(SPEECHES))
            blocks.append(f'{{"type":"text","text":"{text}"}}')
        return blocks

    def _thinking(self) -> list[str]:
        rng = self.rng
        if rng.random() >= self.chain.dialect.thinking:
            return []
        thought = ""
        if self.chain.level < Level.V2_1_112:
            thought = self._filler.prose.take(rng, self._size(THOUGHTS))
        signature = self._filler.base64(rng, self._size(SIGNATURES))
        return [f'{{"type":"thinking","thinking":"{thought}","signature":"{signature}"}}']

    def _message(self, stop: str) -> Message:
        rng, ids = self.rng, self.chain.ids
        written = 120 + int(rng.random() * 2_600)
        hour = written if self.hour_cache and rng.random() < 0.8 else 0
        usage = Usage(
            1 + int(rng.random() * 24), written - hour, hour, self.context, OUTPUTS.draw(rng)
        )
        self.context += written + usage.output
        self.last_usage = usage
        self.books.ledger.add(self.model, usage)
        ref = ids.uuid() if self.chain.level >= Level.V2_1_332 else ""
        if self.logs_requests:
            self._log_request(ref)
        return Message(ids.message(), ids.request(), ref, self.model, usage, stop)

    def _log_request(self, ref: str) -> None:
        chain = self.chain
        session, tail = chain.place.session, []
        for content in self._unsent:
            tail.append(chain.ids.digest())
            chain.lines.append(
                f'{{"type":"api-request-blob","sessionId":"{session}","hash":"{tail[-1]}",'
                f'"message":{{"role":"user","content":{content}}}}}'
            )
        self._unsent.clear()
        source = f"agent:builtin:{chain.agent_type}" if chain.agent else "repl_main_thread"
        hashes = ",".join(f'"{digest}"' for digest in tail)
        chain.lines.append(
            f'{{"type":"api-request","sessionId":"{session}","id":"{ref}","timestamp":"{chain.clock.stamp(2)}",'
            f'"version":"2.1.332","querySource":"{source}","shapeHash":"{self._shape}","params":{{"model":'
            f'"{self.model}","betas":["claude-code-20250219","interleaved-thinking-2025-05-14"],"max_tokens":128000,'
            '"thinking":{"type":"adaptive","display":"updates"},"context_management":{"edits":[{"type":'
            '"clear_thinking_20251015","keep":"all"}]},"output_config":{"effort":"medium"}},"thread":{"type":"none"},'
            f'"echoWireToolInputs":false,"keep":2,"tail":[{hashes}],"cacheControl":[{{"path":["system",0],"value":'
            f'{{"type":"ephemeral"}}}}],"requestDigest":"{chain.ids.digest()}"}}'
        )

    def log_shape(self) -> None:
        """Write the big record with system prompt and tools, and log each request from here on."""
        chain, fill, rng = self.chain, self._filler, self.rng
        self.logs_requests = True
        tools = ",".join(
            f'{{"name":"{name}","description":"{fill.prose.take(rng, 2_400)}","input_schema":{{"type":"object",'
            f'"properties":{{"{fill.phrase(rng)}":{{"type":"string"}}}}}}}}'
            for name in (
                "Agent",
                "Bash",
                "Edit",
                "Glob",
                "Grep",
                "Read",
                "SendMessage",
                "Skill",
                "TaskStop",
                "Write",
            )
        )
        system = ",".join(
            f'{{"type":"text","text":"{fill.prose.take(rng, 7_000)}"}}' for _ in range(3)
        )
        chain.lines.append(
            f'{{"type":"api-request-shape","sessionId":"{chain.place.session}","shapeHash":"{self._shape}",'
            f'"timestamp":"{chain.clock.stamp(2)}","version":"2.1.332","shape":{{"system":[{system}],'
            f'"tools":[{tools}]}}}}'
        )
