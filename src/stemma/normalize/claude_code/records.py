"""Typed structs of what Claude Code writes: the fields that are read, nothing more.

Fields that are not named here are skipped by the decoder without being built, which is what makes reading fast.
Every field is optional, because every client version leaves some of them out (``docs/formats/claude-code.md``).
Bodies whose shape differs by tool stay ``Raw`` and are decoded only when somebody needs them.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct

Count = int | float | str | None
"""A counter as gateways write it: an integer, an integral float, a numeric string, or null (ACCOUNTING rule 9)."""


class CacheCreation(Struct, gc=False):
    """The split of cache writes by time to live."""

    ephemeral_5m_input_tokens: Count = None
    ephemeral_1h_input_tokens: Count = None


class ServerToolUse(Struct, gc=False):
    """Requests that the service made on the model's behalf."""

    web_search_requests: Count = None


class Iteration(Struct, gc=False):
    """One pass inside a response; ``advisor_message`` and ``compaction`` passes are billed beside the top level."""

    type: str | None = None
    model: str | None = None
    input_tokens: Count = None
    output_tokens: Count = None
    cache_creation_input_tokens: Count = None
    cache_read_input_tokens: Count = None
    cache_creation: CacheCreation | None = None


class Usage(Struct):
    """The usage object of a response, repeated on each of its records."""

    input_tokens: Count = None
    output_tokens: Count = None
    cache_creation_input_tokens: Count = None
    cache_read_input_tokens: Count = None
    cache_creation: CacheCreation | None = None
    server_tool_use: ServerToolUse | None = None
    service_tier: str | None = None
    inference_geo: str | None = None
    speed: str | None = None
    iterations: list[Iteration] | None = None


class ToolInput(Struct, gc=False):
    """Arguments of a tool call, as far as they name what the call is about."""

    file_path: str | None = None
    notebook_path: str | None = None
    path: str | None = None
    command: str | None = None
    description: str | None = None
    prompt: str | None = None
    subagent_type: str | None = None
    name: str | None = None
    skill: str | None = None
    pattern: str | None = None
    query: str | None = None
    url: str | None = None
    to: str | None = None
    run_in_background: bool | None = None


class Block(Struct):
    """One content block of a message; ``input`` and ``content`` are kept raw."""

    type: str | None = None
    id: str | None = None
    name: str | None = None
    text: str | None = None
    tool_use_id: str | None = None
    is_error: bool | None = None
    input: Raw = Raw()
    content: Raw = Raw()


class Message(Struct):
    """The API message inside a user or assistant record."""

    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: Usage | None = None
    content: str | list[Block] | None = None


class InnerRecord(Struct):
    """The agent's record that old clients embed in ``agent_progress``."""

    type: str | None = None
    timestamp: str | None = None
    uuid: str | None = None
    requestId: str | None = None  # noqa: N815 - the client's own spelling, as in all fields below
    message: Message | None = None


class ProgressData(Struct):
    """Body of a ``progress`` record."""

    type: str | None = None
    agentId: str | None = None  # noqa: N815
    hookName: str | None = None  # noqa: N815
    message: InnerRecord | None = None


class Attachment(Struct):
    """Body of an ``attachment`` record."""

    type: str | None = None
    prompt: str | list[Block] | None = None
    commandMode: str | None = None  # noqa: N815


class CompactMetadata(Struct, gc=False):
    """What a compaction did to the context."""

    trigger: str | None = None
    preTokens: Count = None  # noqa: N815
    postTokens: Count = None  # noqa: N815
    durationMs: Count = None  # noqa: N815


class Origin(Struct, gc=False):
    """Who caused a user record."""

    kind: str | None = None


class ApiErrorBody(Struct, gc=False):
    """The error of a retried request."""

    status: Count = None


class Record(Struct):
    """One line of a transcript or journal."""

    type: str | None = None
    uuid: str | None = None
    parentUuid: str | None = None  # noqa: N815
    timestamp: str | None = None
    sessionId: str | None = None  # noqa: N815
    agentId: str | None = None  # noqa: N815
    isSidechain: bool | None = None  # noqa: N815
    isMeta: bool | None = None  # noqa: N815
    message: Message | None = None
    requestId: str | None = None  # noqa: N815
    toolUseResult: Raw = Raw()  # noqa: N815
    cwd: str | None = None
    gitBranch: str | None = None  # noqa: N815
    version: str | None = None
    entrypoint: str | None = None
    subtype: str | None = None
    session_id: str | None = None
    requestSessionId: str | None = None  # noqa: N815
    sourceToolUseID: str | None = None  # noqa: N815
    toolDenialKind: str | None = None  # noqa: N815
    isApiErrorMessage: bool | None = None  # noqa: N815
    error: str | ApiErrorBody | None = None
    apiErrorStatus: Count = None  # noqa: N815
    isCompactSummary: bool | None = None  # noqa: N815
    compactMetadata: CompactMetadata | None = None  # noqa: N815
    durationMs: Count = None  # noqa: N815
    attributionAgent: str | None = None  # noqa: N815
    attributionSkill: str | None = None  # noqa: N815
    attributionMcpServer: str | None = None  # noqa: N815
    costUSD: Count = None  # noqa: N815
    origin: Origin | None = None
    data: ProgressData | None = None
    parentToolUseID: str | None = None  # noqa: N815
    attachment: Attachment | None = None
    operation: str | None = None
    content: Raw = Raw()
    aiTitle: str | None = None  # noqa: N815
    customTitle: str | None = None  # noqa: N815
    isAbortedMidStream: bool | None = None  # noqa: N815
    prNumber: Count = None  # noqa: N815
    prUrl: str | None = None  # noqa: N815
    parentSessionId: str | None = None  # noqa: N815
    label: str | None = None
    modelUsage: Raw = Raw()  # noqa: N815
    totalCostUSD: Count = None  # noqa: N815


def decoder() -> msgspec.json.Decoder[Record]:
    """A decoder of one line; not shared between threads."""
    return msgspec.json.Decoder(Record)
