"""Split anywhere: folding ``a + b`` equals folding ``a``, saving, restoring, and folding ``b``."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.builders import FILES
from tests.laws.builders import transcripts as transcripts_of
from tests.laws.kinds import SECRETS
from tests.laws.observing import examples
from tests.laws.trees import SAMPLE, shared_folder, tree_of, unruly

from stemma.model.entity import Participation, extended
from stemma.model.source import Placement
from stemma.model.usage import UsageClaim, merge_key, merged
from stemma.normalize.claude_code import state as memory
from stemma.normalize.claude_code.adapter import ClaudeCode
from stemma.normalize.claude_code.locate import place
from stemma.normalize.port import Normalized

Lines = list[tuple[int, bytes]]


def lines_of(data: bytes) -> Lines:
    """Lines with their offsets."""
    out, offset = [], 0
    for line in data.split(b"\n"):
        out.append((offset, line))
        offset += len(line) + 1
    return out


def folded(placement: Placement, lines: Lines, cuts: list[int]) -> dict[str, object]:
    """What the store keeps of a fold that is interrupted at each cut."""
    adapter, state = ClaudeCode(), b""
    pieces: list[Normalized] = []
    edges = [0, *sorted(cuts), len(lines)]
    for start, end in pairwise(edges):
        found = adapter.normalize(placement, state, lines[start:end])
        state = found.state
        pieces.append(found)
    return {**united(pieces), "state": state}


def united(pieces: list[Normalized]) -> dict[str, object]:
    """Pieces put together as the store does: rows replace, increments add, claims merge."""
    usage: dict[tuple[str, ...], UsageClaim] = {}
    turns: dict[int, object] = {}
    tools: dict[tuple[int, int], object] = {}
    parts: dict[tuple[str, str], Participation] = {}
    kinds: dict[tuple[str, str], tuple[int, int, int]] = {}
    for piece in pieces:
        for claim in msgspec.msgpack.decode(
            msgspec.msgpack.encode(piece.usage), type=list[UsageClaim]
        ):
            key = merge_key(claim)
            usage[key] = merged(usage[key], claim) if key in usage else claim
        turns.update({k: msgspec.to_builtins(v) for k, v in piece.turns.items()})
        tools.update({k: msgspec.to_builtins(v) for k, v in piece.tools.items()})
        for who, part in piece.parts.items():
            parts[who] = extended(parts[who], part) if who in parts else part
        for kind, entry in piece.kinds.items():
            held = kinds.get(kind)
            first = held[1] if held else entry.first_offset
            kinds[kind] = (entry.count + (held[0] if held else 0), first, entry.last_offset)
    return {
        "events": [event for piece in pieces for event in piece.events],
        "claims": [claim for piece in pieces for claim in piece.claims],
        "faults": [fault for piece in pieces for fault in piece.faults],
        "compactions": [one for piece in pieces for one in piece.compactions],
        "usage": usage,
        "turns": turns,
        "tools": tools,
        "parts": {who: msgspec.to_builtins(part) for who, part in parts.items()},
        "kinds": kinds,
    }


def transcripts(folder: Path) -> list[tuple[Placement, bytes]]:
    """Transcripts and journals below a projects folder."""
    found = []
    for relpath, data in tree_of(folder).items():
        placement = place(tuple(relpath.split("/")))
        if isinstance(placement, Placement) and not placement.kind.is_document:
            found.append((placement, data))
    return found


SOURCES = transcripts(SAMPLE)


def holds(placement: Placement, data: bytes, rng: random.Random, rounds: int) -> None:
    """The law for some random partitions, and for a cut behind every line."""
    lines = lines_of(data)
    whole = folded(placement, lines, [])
    assert folded(placement, lines, list(range(1, len(lines)))) == whole
    for _ in range(rounds):
        cuts = rng.sample(
            range(1, max(len(lines), 2)), min(rng.randint(1, 6), max(len(lines) - 1, 1))
        )
        assert folded(placement, lines, cuts) == whole


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(range(len(SOURCES))), st.integers(0, 10_000))
def test_any_partition_of_an_unruly_transcript_folds_alike(index: int, seed: int) -> None:
    """Lost, repeated, swapped, glued, torn and undated lines included."""
    placement, data = SOURCES[index]
    rng = random.Random(seed)
    holds(placement, unruly({"a.jsonl": data}, rng, 0.2)["a.jsonl"], rng, 2)


@pytest.mark.parametrize("version", ["1.0.128", "2.0.60", "2.1.20", "2.1.112", "2.1.332"])
def test_any_partition_of_what_clients_wrote_folds_alike(version: str) -> None:
    """Every scenario of a client version."""
    rng = random.Random(version)
    folders = sorted((shared_folder() / "rig-data" / version).glob("*/projects"))
    assert folders
    for folder in folders:
        for placement, data in transcripts(folder):
            holds(placement, data, rng, 2)


def test_any_partition_of_real_transcripts_folds_alike() -> None:
    """Real sessions, up to a size that keeps a cut behind every line affordable."""
    rng = random.Random(2)
    found = [
        t
        for t in transcripts(shared_folder() / "corpus" / "claude" / "projects")
        if len(t[1]) < 300_000
    ]
    assert len(found) > 15
    for placement, data in found:
        holds(placement, data, rng, 2)


def bound(patch: pytest.MonkeyPatch, most: int) -> None:
    """Let every table of the memory hold only so many entries."""
    for module in ("state", "tools", "subagents", "turns", "fold", "context"):
        for name in ("MOST_OPEN_CALLS", "MOST_CHAIN_LINKS", "MOST_SPAWNS", "MOST_AGENTS"):
            patch.setattr(f"stemma.normalize.claude_code.{module}.{name}", most, raising=False)


def test_memory_is_bounded_and_forgetting_keeps_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """With tables of a few entries each, cuts still leave no trace, and the state stays small."""
    bound(monkeypatch, 3)
    rng = random.Random(9)
    for placement, data in SOURCES:
        holds(placement, unruly({"a.jsonl": data}, rng, 0.2)["a.jsonl"], rng, 3)


def test_endless_open_calls_do_not_grow_the_state() -> None:
    """Twenty thousand calls, sidechains and agents without an end leave a state below a fixed size."""
    placement = place(("p", "s.jsonl"))
    assert isinstance(placement, Placement)
    lines: Lines = []
    for number in range(20_000):
        block = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "Task",
            "input": {"prompt": f"p{number}"},
        }
        record = {
            "type": "assistant",
            "uuid": f"u{number}",
            "isSidechain": bool(number % 2),
            "sessionId": f"s{number % 1500}",
            "timestamp": "2026-11-03T10:00:00.000Z",
            "message": {"id": f"m{number}", "model": "m", "content": [block]},
        }
        lines.append((number * 400, msgspec.json.encode(record)))
    found = ClaudeCode().normalize(placement, b"", lines)
    state = memory.restore(found.state)
    assert len(state.calls) == memory.MOST_OPEN_CALLS
    assert len(state.chains) == memory.MOST_CHAIN_LINKS
    assert len(state.turns) <= memory.MOST_AGENTS
    assert len(state.spawns) <= memory.MOST_SPAWNS
    assert len(found.state) < 4_000_000


MADE_UP = sorted(FILES)


@examples(80)
@given(st.data(), st.integers(0, 1 << 16))
def test_any_partition_of_a_made_up_transcript_folds_alike(data: st.DataObject, seed: int) -> None:
    """Every kind of record, ids that collide, lines that are glued, torn and dressed up; no memory holds a secret."""
    path = data.draw(st.sampled_from(MADE_UP))
    placement = place(tuple(path.split("/")))
    assert isinstance(placement, Placement)
    content = data.draw(transcripts_of(path, 25))
    holds(placement, content, random.Random(seed), 3)
    whole = ClaudeCode().normalize(placement, b"", lines_of(content))
    assert not any(secret in whole.state for secret in SECRETS)


@examples(60)
@given(st.data(), st.integers(0, 1 << 16))
def test_forgetting_keeps_the_law_for_made_up_transcripts(data: st.DataObject, seed: int) -> None:
    """With a memory of two entries a table, so that nearly everything is forgotten."""
    path = data.draw(st.sampled_from(MADE_UP))
    placement = place(tuple(path.split("/")))
    assert isinstance(placement, Placement)
    content = data.draw(transcripts_of(path, 25))
    with pytest.MonkeyPatch.context() as patch:
        bound(patch, 2)
        holds(placement, content, random.Random(seed), 3)
