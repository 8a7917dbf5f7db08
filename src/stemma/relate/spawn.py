"""Who spawned whom: every proof there is, and the strongest one (DESIGN section 4).

An edge exists only when structure proves it. Ids are matched by position in a record, never by substring.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from stemma.model.claim import Body, ClaimKind, SourcedClaim
from stemma.model.entity import MAIN
from stemma.model.evidence import Grade
from stemma.relate.evidence import AgentEvidence, current

PATHS = (
    "sidecar_parent",
    "tool_use",
    "directory",
    "task_notification",
    "queue_operation",
    "legacy_explore",
)
"""Join paths, strongest first."""


class Proof(Struct, frozen=True):
    """One proof of a parent.

    Attributes:
        path: Join path.
        parent: ``main`` or an agent id.
        source: Stable name of the proving record's source.
        generation: Its generation.
        offset: Offset of the proving record.
        grade: Grade of the claim.
        basis: Which field proves it, in words.
        spawned_at: Time of the spawn block, 0 when it is not known.
        tool_use: Tool-use id of the spawn, or empty.
    """

    path: str
    parent: str
    source: str
    generation: int
    offset: int
    grade: Grade
    basis: str
    spawned_at: int
    tool_use: str


class _Block(NamedTuple):
    parent: str
    at: int
    claim: SourcedClaim


def proofs(evidence: AgentEvidence) -> list[Proof]:
    """All proofs of the agent's parent, strongest first.

    Proofs are ranked, not conditioned on the absence of others; a tie goes to the earliest spawn block.
    """
    found = [
        *_from_sidecar(evidence),
        *_from_calls(evidence),
        *_from_prompt(evidence),
        *_from_directory(evidence),
        *_from_notifications(evidence),
        *_from_foreign_progress(evidence),
    ]
    unique = {(p.path, p.parent, p.source, p.generation, p.offset): p for p in reversed(found)}
    return sorted(unique.values(), key=_rank)


def _rank(proof: Proof) -> tuple[int, int, int, str, int, int]:
    when = proof.spawned_at or 1 << 62
    return (
        PATHS.index(proof.path),
        -proof.grade,
        when,
        proof.source,
        proof.generation,
        proof.offset,
    )


def spawn_block(evidence: AgentEvidence, tool_use: str) -> _Block | None:
    """The materialised block of a spawn call: where it was first written, not where history was copied to."""
    blocks = [
        one
        for one in current(evidence.by_tool.get(tool_use, ()))
        if one.claim.kind is ClaimKind.SPAWN_BLOCK and one.claim.body.agent != evidence.agent
    ]
    if not blocks:
        return None
    first = min(blocks, key=_first_written)
    return _Block(first.claim.body.agent, first.claim.at, first)


def _from_sidecar(evidence: AgentEvidence) -> list[Proof]:
    found = []
    for one in evidence.of(ClaimKind.SIDECAR):
        body = one.claim.body
        if body.agent and body.agent != evidence.agent:
            block = spawn_block(evidence, body.tool_use)
            found.append(
                Proof("sidecar_parent", body.agent, one.source, one.generation, one.claim.offset, Grade.OBSERVED,
                      "sidecar.parentAgentId", block.at if block else 0, body.tool_use)
            )  # fmt: skip
    return found


_NAMING = {
    ClaimKind.SIDECAR: "sidecar.toolUseId",
    ClaimKind.LAUNCH: "result record names the agent",
    ClaimKind.INLINE_ROOT: "sidechain prompt equals the call's",
}


def _from_calls(evidence: AgentEvidence) -> list[Proof]:
    found = []
    for one in evidence.of(*_NAMING):
        body = one.claim.body
        block = spawn_block(evidence, body.tool_use) if body.tool_use else None
        if block is None:
            continue
        inline = one.claim.kind is ClaimKind.INLINE_ROOT
        found.append(
            Proof("tool_use", block.parent, block.claim.source, block.claim.generation, block.claim.claim.offset,
                  Grade.DERIVED if inline else Grade.OBSERVED, _NAMING[one.claim.kind], block.at, body.tool_use)
        )  # fmt: skip
    return found


def _from_prompt(evidence: AgentEvidence) -> list[Proof]:
    """Exactly one call of the session passes the very prompt that the agent's transcript begins with.

    It is what remains when an interrupt keeps the client from writing the record that names the agent.
    """
    first = _prompting_call(evidence)
    if first is None:
        return []
    return [
        Proof("tool_use", first.claim.body.agent, first.source, first.generation, first.claim.offset, Grade.INFERRED,
              "its prompt equals that of one call", first.claim.at, first.claim.subject)
    ]  # fmt: skip


def _prompting_call(evidence: AgentEvidence) -> SourcedClaim | None:
    candidates = [
        one for one in current(evidence.by_prompt) if one.claim.body.agent != evidence.agent
    ]
    calls = {one.claim.subject for one in candidates}
    return min(candidates, key=_first_written) if len(calls) == 1 else None


def prompting(evidence: AgentEvidence) -> list[Body]:
    """What the one call says that passes the agent's prompt; empty when there is none or more than one."""
    first = _prompting_call(evidence)
    return [first.claim.body] if first is not None else []


def _first_written(one: SourcedClaim) -> tuple[bool, int, str, int]:
    return (one.claim.body.agent != MAIN, one.claim.at, one.source, one.claim.offset)


def _from_directory(evidence: AgentEvidence) -> list[Proof]:
    found = []
    for one in evidence.of(ClaimKind.DIRECTORY):
        run = one.claim.body.run
        dispatches = [
            d for d in current(evidence.by_run.get(run, ())) if d.claim.kind is ClaimKind.DISPATCH
        ]
        parent = dispatches[0].claim.body.agent if dispatches else MAIN
        basis = "workflow directory; dispatch record" if dispatches else "workflow directory"
        at = dispatches[0].claim.at if dispatches else 0
        tool_use = dispatches[0].claim.body.tool_use if dispatches else ""
        if parent != evidence.agent:
            found.append(
                Proof("directory", parent, one.source, one.generation, one.claim.offset, Grade.DERIVED, basis, at,
                      tool_use)
            )  # fmt: skip
    return found


def _from_notifications(evidence: AgentEvidence) -> list[Proof]:
    found = []
    resumes = {one.claim.body.tool_use for one in evidence.of(ClaimKind.RESUME)}
    for one in evidence.of(ClaimKind.NOTIFICATION):
        body = one.claim.body
        block = spawn_block(evidence, body.tool_use) if body.tool_use else None
        parent = (
            block.parent if block is not None else body.agent
        )  # it may be told to another than the parent
        if body.tool_use and body.tool_use not in resumes and parent != evidence.agent:
            found.append(
                Proof(body.name, parent, one.source, one.generation, one.claim.offset, Grade.DERIVED,
                      "notification names agent and call", 0, body.tool_use)
            )  # fmt: skip
    return found


def _from_foreign_progress(evidence: AgentEvidence) -> list[Proof]:
    bare = [
        one
        for one in evidence.of(ClaimKind.SIDECAR)
        if not one.claim.body.tool_use and not one.claim.body.agent
    ]
    if not bare:
        return []
    return [
        Proof("legacy_explore", one.claim.body.agent, one.source, one.generation, one.claim.offset, Grade.INFERRED,
              "progress record with the agent's id", 0, "")
        for one in evidence.of(ClaimKind.FOREIGN_PROGRESS)
        if one.claim.body.agent != evidence.agent
    ]  # fmt: skip
