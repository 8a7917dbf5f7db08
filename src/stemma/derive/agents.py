"""The agent fact: kind, type, model, status, and the edge to its parent."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from stemma.derive.status import StatusFact, main_status, run_starts, subagent_status
from stemma.model.claim import ClaimKind
from stemma.model.entity import MAIN, AgentKind
from stemma.model.evidence import Grade
from stemma.relate.evidence import AgentEvidence, latest_parts
from stemma.relate.spawn import Proof, prompting, proofs, spawn_block

MOST_WARMUP_RECORDS = 3
WARMUP_PROMPT = "Warmup"
LAST_WARMING_CLIENT = (2, 1, 29)


class AgentFact(Struct, frozen=True):
    """A participant of a session, from all evidence about it.

    Attributes:
        session: Its session.
        agent: ``main`` or its id.
        kind: What it is for.
        kind_grade: How sure the kind is.
        type: Agent type, empty when no record states it.
        name: Name given to it, or empty.
        description: What it was asked to do, in a few words.
        model: Model of its responses, else the one it was started with.
        first_at: First record, microseconds; 0 unknown.
        last_at: Last record.
        runs: How often it was started: 1, and one more for each message that resumed it.
        responses: Responses in its transcripts.
        tools: Tool calls in its transcripts.
        status: Its status.
        workflow_run: Workflow run it belongs to, or empty.
    """

    session: str
    agent: str
    kind: AgentKind
    kind_grade: Grade
    type: str
    name: str
    description: str
    model: str
    first_at: int
    last_at: int
    runs: int
    responses: int
    tools: int
    status: StatusFact
    workflow_run: str


class Derived(NamedTuple):
    """An agent and the proofs of its parent, strongest first; no proof, no edge."""

    fact: AgentFact
    proofs: list[Proof]


def derive_agent(evidence: AgentEvidence) -> Derived | None:
    """The agent that the evidence speaks of; nothing when only other transcripts mention it.

    An id that appears in a result or a notification alone is no agent here: history is copied between sessions, and
    such a record would invent one in each copy. Its own transcript or sidecar makes it one.
    """
    if evidence.agent == MAIN:
        return Derived(_main(evidence), []) if evidence.parts else None
    if not evidence.parts and not any(evidence.of(ClaimKind.SIDECAR)):
        return None
    found = proofs(evidence)
    kind, grade = _kind(evidence, found)
    if kind in (AgentKind.COMPACTION, AgentKind.SUGGESTION, AgentKind.WARMUP):
        found = []
    return Derived(_subagent(evidence, kind, grade), found)


def _main(evidence: AgentEvidence) -> AgentFact:
    parts = latest_parts(evidence.parts)
    return AgentFact(
        evidence.session, MAIN, AgentKind.MAIN, Grade.OBSERVED, "", "", "", _latest(evidence, "model"),
        *_span(evidence), 1,
        sum(one.part.responses for one in parts), sum(one.part.tools for one in parts),
        main_status(evidence.parts), "",
    )  # fmt: skip


def _subagent(evidence: AgentEvidence, kind: AgentKind, grade: Grade) -> AgentFact:
    parts = latest_parts(evidence.parts)
    bodies = [one.claim.body for one in evidence.of(ClaimKind.SIDECAR)]
    blocks = [block for tool in evidence.tool_uses() if (block := spawn_block(evidence, tool))]
    called = [block.claim.claim.body for block in sorted(blocks, key=lambda b: b.at)]
    if not called:
        called = prompting(evidence)
    launched = [one.claim.body for one in evidence.of(ClaimKind.LAUNCH)]
    journal = [one.claim.body for one in evidence.of(ClaimKind.JOURNAL)]
    first, last = _span(evidence)
    stated = [body.model for body in (*launched, *bodies) if body.model not in ("", "inherit")]
    return AgentFact(
        session=evidence.session,
        agent=evidence.agent,
        kind=kind,
        kind_grade=grade,
        type=_first(*(b.type for b in (*bodies, *called, *launched)), _latest(evidence, "type"),
                    "fork" if kind is AgentKind.FORK else ""),
        name=_first(*(b.name for b in bodies)),
        description=_first(*(b.description for b in (*bodies, *called, *launched, *journal))),
        model=_first(_latest(evidence, "model"), *stated),
        first_at=first,
        last_at=last,
        runs=len(run_starts(evidence)),
        responses=sum(one.part.responses for one in parts),
        tools=sum(one.part.tools for one in parts),
        status=subagent_status(evidence),
        workflow_run=_first(*evidence.runs()),
    )  # fmt: skip


def _first(*texts: str) -> str:
    return next((text for text in texts if text), "")


def _span(evidence: AgentEvidence) -> tuple[int, int]:
    firsts = [one.part.first_at for one in evidence.parts if one.part.first_at]
    return min(firsts, default=0), max((one.part.last_at for one in evidence.parts), default=0)


def _latest(evidence: AgentEvidence, field: str) -> str:
    """The value of the part with the latest record that states one."""
    stated = [one for one in evidence.parts if getattr(one.part, field)]
    last = max(stated, key=lambda one: (one.part.last_at, one.source, one.generation), default=None)
    return str(getattr(last.part, field)) if last is not None else ""


class _Kind(NamedTuple):
    kind: AgentKind
    grade: Grade


_BY_ID = (
    ("acompact", AgentKind.COMPACTION),
    ("compact", AgentKind.COMPACTION),
    ("aprompt_suggestion", AgentKind.SUGGESTION),
    ("prompt_suggestion", AgentKind.SUGGESTION),
    ("aside_question", AgentKind.SUGGESTION),
)


def _kind(evidence: AgentEvidence, found: list[Proof]) -> _Kind:
    for start, kind in _BY_ID:
        if evidence.agent.startswith(f"{start}-"):
            return _Kind(kind, Grade.DERIVED)
    bodies = [one.claim.body for one in evidence.of(ClaimKind.SIDECAR)]
    if any(b.is_fork or b.type == "fork" for b in bodies) or any(
        evidence.of(ClaimKind.CONTEXT_REF)
    ):
        return _Kind(AgentKind.FORK, Grade.OBSERVED)
    if any(b.teammate for b in bodies) or "@" in evidence.agent:
        return _Kind(AgentKind.TEAMMATE, Grade.OBSERVED)
    if any(b.in_workflow for b in bodies) or any(
        evidence.of(ClaimKind.DIRECTORY, ClaimKind.JOURNAL)
    ):
        return _Kind(AgentKind.WORKFLOW, Grade.OBSERVED)
    return _warmup(evidence) if not found else _Kind(AgentKind.TASK, Grade.OBSERVED)


def _warmup(evidence: AgentEvidence) -> _Kind:
    """Warm-ups have no spawn call: the one word of their prompt tells them, or its absence in clients that drop it."""
    parts = latest_parts(evidence.parts)
    small = all(
        one.part.records <= MOST_WARMUP_RECORDS and not one.part.tools for one in parts
    ) and bool(parts)
    if not small or any(evidence.of(ClaimKind.SIDECAR)):
        return _Kind(AgentKind.TASK, Grade.DERIVED)
    prompts = {one.part.first_prompt for one in parts} - {""}
    if prompts == {WARMUP_PROMPT}:
        return _Kind(AgentKind.WARMUP, Grade.DERIVED)
    versions = {one.part.version for one in parts}
    if not prompts and all(_drops_prompts(v) for v in versions):
        return _Kind(AgentKind.WARMUP, Grade.INFERRED)
    return _Kind(AgentKind.TASK, Grade.DERIVED)


def _drops_prompts(version: str) -> bool:
    """Whether a client of this version files the answer of a warm-up without its prompt, or under another session."""
    numbers = version.split(".")
    if len(numbers) != 3 or not all(n.isdigit() for n in numbers):  # noqa: PLR2004 - major, minor, patch
        return False
    return (2, 0, 0) <= tuple(int(n) for n in numbers) <= LAST_WARMING_CLIENT
