"""What each client version writes: names, folders, usage shapes, placeholders."""

import random
from collections.abc import Mapping
from enum import Enum, IntEnum
from typing import NamedTuple


class Level(IntEnum):
    """The client versions that are imitated, oldest first."""

    V1_0_128 = 0
    V2_0_60 = 1
    V2_1_20 = 2
    V2_1_112 = 3
    V2_1_200 = 4
    V2_1_332 = 5


class Layout(Enum):
    """Where a subagent's records stand."""

    INLINE = "in the session file"
    FLAT = "beside the session file"
    FOLDER = "in <session>/subagents"


class Outputs(Enum):
    """Which records of a message carry its true output count."""

    LAST = "placeholder first, true value on the last record"
    SELDOM = "mostly the placeholder, on the last record too"
    ALL = "every record"


class Dialect(NamedTuple):
    """One version's habits.

    Attributes:
        level: Place among the versions; most record shapes start at one.
        weight: Share of sessions written by this version.
        models: Main model first, then the agents' models.
        agent_digits: Length of an agent id.
        thinking: Chance of a thinking block in a message.
        speech: Chance of a text block before tool calls.
        between: Chance that tool results stand between a message's blocks.
    """

    level: Level
    version: str
    weight: float
    models: tuple[str, ...]
    agent_tool: str
    layout: Layout
    agent_digits: int
    outputs: Outputs
    thinking: float
    speech: float
    between: float


DIALECTS = (
    Dialect(
        Level.V1_0_128, "1.0.128", 0.12, ("claude-sonnet-4-20250514", "claude-opus-4-1-20250805"),
        "Task", Layout.INLINE, 8, Outputs.LAST, 0.15, 0.40, 0.005,
    ),
    Dialect(
        Level.V2_0_60, "2.0.60", 0.14, ("claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"),
        "Task", Layout.FLAT, 8, Outputs.LAST, 0.45, 0.50, 0.005,
    ),
    Dialect(
        Level.V2_1_20, "2.1.20", 0.18, ("claude-opus-4-5-20251101", "claude-haiku-4-5-20251001"),
        "Task", Layout.FOLDER, 7, Outputs.SELDOM, 0.50, 0.50, 0.03,
    ),
    Dialect(
        Level.V2_1_112, "2.1.112", 0.20, ("claude-opus-4-6", "claude-sonnet-4-6"),
        "Agent", Layout.FOLDER, 17, Outputs.ALL, 0.30, 0.35, 0.08,
    ),
    Dialect(
        Level.V2_1_200, "2.1.200", 0.18, ("claude-opus-4-8", "claude-haiku-4-5-20251001"),
        "Agent", Layout.FOLDER, 17, Outputs.ALL, 0.45, 0.45, 0.08,
    ),
    Dialect(
        Level.V2_1_332, "2.1.332", 0.18, ("claude-opus-5-5", "claude-haiku-5-5"),
        "Agent", Layout.FOLDER, 17, Outputs.ALL, 0.45, 0.45, 0.07,
    ),
)  # fmt: skip


class Usage(NamedTuple):
    """Token counts of one response; ``output`` is what the service charged."""

    input: int
    write_5m: int
    write_1h: int
    read: int
    output: int


def usage_json(level: Level, usage: Usage, output: int) -> str:
    """Return the usage object as ``level`` writes it, with ``output`` as the reported count."""
    writes = usage.write_5m + usage.write_1h
    counts = f'"input_tokens":{usage.input},"cache_creation_input_tokens":{writes},"cache_read_input_tokens":{usage.read},'
    if level < Level.V2_1_112:
        geo = ',"inference_geo":"not_available"' if level == Level.V2_1_20 else ""
        return (
            f'{{{counts}"cache_creation":{{"ephemeral_5m_input_tokens":{usage.write_5m},'
            f'"ephemeral_1h_input_tokens":{usage.write_1h}}},"output_tokens":{output},"service_tier":"standard"{geo}}}'
        )
    split = f'"cache_creation":{{"ephemeral_1h_input_tokens":{usage.write_1h},"ephemeral_5m_input_tokens":{usage.write_5m}}}'
    details = iterations = credit = ""
    if level == Level.V2_1_332:
        details = f'"output_tokens_details":{{"thinking_tokens":{output // 3}}},'
        credit = ',"fallback_credit":null'
    if level == Level.V2_1_200:
        iterations = (
            f'{{"input_tokens":{usage.input},"output_tokens":{output},"cache_read_input_tokens":{usage.read},'
            f'"cache_creation_input_tokens":{writes},{split},"type":"message"}}'
        )
    return (
        f'{{{counts}"output_tokens":{output},{details}"server_tool_use":{{"web_search_requests":0,'
        f'"web_fetch_requests":0}},"service_tier":"standard",{split},"inference_geo":"not_available",'
        f'"iterations":[{iterations}],"speed":"standard"{credit}}}'
    )


def reported_outputs(
    dialect: Dialect, rng: random.Random, *, blocks: int, true: int, agent: bool
) -> list[int]:
    """Return the output count that each of a message's ``blocks`` records carries."""
    if dialect.outputs is Outputs.ALL:
        return [true] * blocks
    placeholder = min(true, 1 + int(rng.random() * 8))
    told = dialect.outputs is Outputs.LAST or rng.random() < (0.05 if agent else 0.35)
    return [placeholder] * (blocks - 1) + [true if told else placeholder]


def most_wanted(written: Mapping[Level, int]) -> Dialect:
    """Return the version that is furthest behind its share, given the bytes ``written`` so far."""
    return min(DIALECTS, key=lambda dialect: written.get(dialect.level, 0) / dialect.weight)
