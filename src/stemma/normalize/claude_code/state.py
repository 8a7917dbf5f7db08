"""What the adapter must remember between records of one source: explicit, serialisable, bounded.

Law: folding ``a + b`` in one go equals folding ``a``, saving, restoring and folding ``b``, for every cut.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec import Struct

from stemma.model.entity import ToolExecution, Turn

REVISION = 1
"""Raised whenever the same bytes would yield other events or claims; sources are then read again."""

MOST_OPEN_CALLS = 4096
MOST_CHAIN_LINKS = 4096
MOST_SPAWNS = 512
MOST_AGENTS = 1024


V = TypeVar("V")


def remember(table: dict[str, V], key: str, value: V, most: int) -> None:
    """Put an entry into a table of the state and forget the oldest one beyond the bound."""
    table[key] = value
    if len(table) > most:
        del table[next(iter(table))]


class SpawnMemory(Struct, array_like=True):
    """A spawn call of this source, kept to match inline sidechains with it.

    Attributes:
        tool_use: Its tool-use id.
        prompt: Digest of the prompt it passes.
        agent: Who called.
        matched: Whether a sidechain has been anchored on it.
    """

    tool_use: str
    prompt: str
    agent: str
    matched: bool = False


class FoldState(Struct):
    """Memory of one source's fold.

    Attributes:
        session: Last session id that a record stated.
        last_at: Last time that a record stated, microseconds.
        started: Sessions whose ``session.started`` event this source has emitted.
        seen: Agents whose ``subagent.started`` event this source has emitted, and claims that are made once.
        turns: The current turn of each agent.
        calls: Open tool calls by tool-use id.
        denied: Latest denied call of each agent, which an interrupt marker turns into an interrupted one.
        chains: Agent of each recent inline-sidechain record, by uuid.
        spawns: Recent spawn calls.
        queued: Whether a queue record came before the first prompt.
        left: Whether the user left by the latest prompt.
    """

    session: str = ""
    last_at: int = 0
    started: dict[str, int] = {}
    seen: dict[str, int] = {}
    turns: dict[str, Turn] = {}
    calls: dict[str, ToolExecution] = {}
    denied: dict[str, ToolExecution] = {}
    chains: dict[str, str] = {}
    spawns: list[SpawnMemory] = []
    queued: bool = False
    left: bool = False


def save(state: FoldState) -> bytes:
    """The state as bytes, to be stored in the transaction of the offset it belongs to."""
    return msgspec.msgpack.encode(state)


def restore(data: bytes) -> FoldState:
    """The inverse of ``save``; a fresh state for no bytes."""
    return msgspec.msgpack.decode(data, type=FoldState) if data else FoldState()
