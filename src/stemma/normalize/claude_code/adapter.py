"""The Claude Code adapter: what the rest of the program sees of this package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stemma.model.source import Placement
from stemma.normalize.claude_code.decode import whole_length
from stemma.normalize.claude_code.fold import fold
from stemma.normalize.claude_code.sidecars import read_sidecar
from stemma.normalize.claude_code.state import REVISION, restore, save
from stemma.normalize.claude_code.versions import CAPABILITIES
from stemma.normalize.port import Capability, Normalized
from stemma.normalize.redact import sweep


class ClaudeCode:
    """Reads Claude Code's transcripts, workflow journals and sidecars."""

    agent = "claude-code"
    revision = REVISION

    def normalize(
        self, placement: Placement, state: bytes, lines: Iterable[tuple[int, bytes]]
    ) -> Normalized:
        """See ``AgentAdapter.normalize``."""
        memory = restore(state)
        out = fold(placement, memory, lines)
        _redact(out)
        out.state = save(
            memory
        )  # behind the redactor: memory is stored too, and holds the same turns and calls
        return out

    def whole_length(self, tail: bytes) -> int:
        """See ``AgentAdapter.whole_length``."""
        return whole_length(tail)

    def sidecar(self, placement: Placement, data: bytes) -> Normalized | None:
        """See ``AgentAdapter.sidecar``."""
        found = read_sidecar(placement, data)
        if found is None:
            return None
        out = Normalized(claims=found.claims, faults=found.faults)
        _redact(out)
        return out

    def capabilities(self) -> tuple[Capability, ...]:
        """See ``AgentAdapter.capabilities``."""
        return CAPABILITIES


def _redact(out: Normalized) -> None:
    """Redact every text that will be stored."""
    holders = list(_texts(out))
    redacted = sweep([getattr(holder, name) for holder, name in holders])
    if redacted is not None:
        for (holder, name), text in zip(holders, redacted, strict=True):
            setattr(holder, name, text)


_PART_TEXTS = ("title", "first_prompt", "cwd", "branch", "type", "version", "entrypoint", "model")


def _texts(out: Normalized) -> Iterator[tuple[object, str]]:
    """Every text that content was copied into, by its holder and field."""
    yield from ((event, "summary") for event in out.events if event.summary)
    yield from ((event, "subject") for event in out.events if "/" in event.subject)
    yield from ((turn, "prompt") for turn in out.turns.values())
    yield from ((tool, "target") for tool in out.tools.values())
    for claim in out.claims:
        body = claim.body
        yield from ((body, name) for name in ("description", "type", "name") if getattr(body, name))
    for part in out.parts.values():
        yield from ((part, name) for name in _PART_TEXTS if getattr(part, name))
