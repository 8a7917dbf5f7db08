"""Facts are functions of sets of claims: any order, any repetition, any grouping."""

from __future__ import annotations

import random
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.builders import trees
from tests.laws.observing import examples
from tests.laws.trees import SAMPLE, Tree, shared_folder, tick, tree_of, unruly, workplace, write

from stemma.bootstrap import writing
from stemma.derive.agents import derive_agent
from stemma.derive.sessions import derive_session
from stemma.derive.usage import SessionTimes, SourcedUsage, count
from stemma.model.entity import Participation, extended
from stemma.model.usage import UsageClaim, merged
from stemma.relate.evidence import AgentEvidence
from stemma.relate.spawn import PATHS, proofs
from stemma.store.sqlite.writer import Writer

T = TypeVar("T")
AT = 1_796_000_000_000_000


@st.composite
def usage_claims(draw: st.DrawFn) -> SourcedUsage:
    """A usage claim of the message ``m``, with few values so that ties are common."""
    small = st.integers(0, 2)
    return SourcedUsage(
        draw(st.sampled_from(["a.jsonl", "b.jsonl", "c.jsonl"])),
        draw(st.integers(0, 1)),
        UsageClaim(
            message_id="m",
            request_id=draw(st.sampled_from(["", "r1", "r2"])),
            uuid=draw(st.sampled_from(["", "u1", "u2"])),
            offset=draw(small),
            winner_offset=draw(small),
            at=draw(st.sampled_from([0, AT, AT + 1])),
            session=draw(st.sampled_from(["s1", "s2", "s3"])),
            agent=draw(st.sampled_from(["main", "x"])),
            sidechain=draw(st.booleans()),
            via=draw(st.sampled_from(["transcript", "transcript", "progress", "search"])),
            model="model",
            input=draw(small),
            output=draw(small),
            cache_write_5m=0,
            cache_write_1h=0,
            cache_read=draw(small),
            web_searches=draw(small),
            flags=draw(st.sampled_from([0, 0, 1, 2])),
        ),
    )  # fmt: skip


def copy(one: SourcedUsage) -> SourcedUsage:
    """An independent copy: claims are mutable while they are merged."""
    fields = {name: getattr(one.claim, name) for name in one.claim.__struct_fields__}
    return SourcedUsage(one.source, one.generation, UsageClaim(**fields))


def distinct(claims: list[SourcedUsage]) -> list[SourcedUsage]:
    """One claim for each place, as the store keeps them."""
    return list({(c.source, c.generation, c.claim.offset): c for c in claims}.values())


@settings(deadline=None, max_examples=300)
@given(st.lists(usage_claims(), min_size=1, max_size=7), st.randoms())
def test_counting_does_not_depend_on_order_or_repetition_of_claims(
    claims: list[SourcedUsage], rng: random.Random
) -> None:
    """Also where times, counters and sessions tie."""
    claims = distinct(claims)
    times = {"s1": SessionTimes(AT, 0), "s2": SessionTimes(AT, AT), "s3": SessionTimes(0, 0)}
    expected = count([copy(c) for c in claims], times.__getitem__)
    for _ in range(4):
        repeated = claims + rng.sample(claims, len(claims) // 2)
        rng.shuffle(repeated)
        assert count([copy(c) for c in repeated], times.__getitem__) == expected
    counted = [request for request in expected.requests if request.part_kind == "message"]
    assert len({(request.request, request.part) for request in counted}) == len(counted)


@given(st.lists(usage_claims(), min_size=3, max_size=3))
def test_merging_claims_is_associative_and_commutative(claims: list[SourcedUsage]) -> None:
    """For claims of one merge key: whatever was read first."""
    one, two, three = (copy(c).claim for c in claims)
    for claim in (one, two, three):
        claim.via = "transcript"
        claim.request_id = "r"
        claim.winner_at = claim.at
    for offset, claim in enumerate((one, two, three)):
        claim.offset = claim.winner_offset = offset

    def again(*given: UsageClaim) -> list[UsageClaim]:
        return [copy(SourcedUsage("", 0, claim)).claim for claim in given]

    a, b, c = again(one, two, three)
    left = merged(merged(a, b), c)
    a, b, c = again(one, two, three)
    right = merged(a, merged(b, c))
    a, b, c = again(one, two, three)
    turned = merged(merged(c, a), b)
    assert left == right == turned


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 6), min_size=3, max_size=3))
def test_participations_extend_associatively(values: list[tuple[int, ...]]) -> None:
    """What one source says of an agent does not depend on where its stretches were cut."""
    one, two, three = (
        Participation(
            "s", "main", first_at=v[0], last_at=v[1], first_offset=i, last_offset=i, records=1, prompts=v[2],
            title=f"t{v[3]}" if v[3] else "", title_rank=v[3], status=["", "working", "waiting", "error"][v[4]],
            status_at=v[5], process_ended_at=v[0], headless=bool(v[1]), cwd=f"/{v[2]}" if v[2] else "",
        )
        for i, v in enumerate(values)
    )  # fmt: skip
    assert extended(extended(one, two), three) == extended(one, extended(two, three))


def shuffled(evidence: AgentEvidence, rng: random.Random) -> AgentEvidence:
    """The same evidence in another order, with repetitions."""

    def mix(items: list[T]) -> list[T]:
        mixed = items + rng.sample(items, len(items) // 2)
        rng.shuffle(mixed)
        return mixed

    return AgentEvidence(
        evidence.session, evidence.agent, mix(evidence.parts), mix(evidence.about),
        {key: mix(claims) for key, claims in evidence.by_tool.items()},
        {key: mix(claims) for key, claims in evidence.by_run.items()},
        mix(evidence.by_prompt), evidence.main,
    )  # fmt: skip


def agents_of(writer: Writer) -> list[tuple[str, str]]:
    """All sessions and agents that anything is known of."""
    name = writer.names.text
    pairs = {
        (name(s), name(a))
        for s, a in writer.connection.execute("SELECT session, agent FROM participations")
    }
    claimed = writer.connection.execute(
        "SELECT session, subject FROM claims WHERE kind IN ('sidecar', 'launch')"
    )
    return sorted(pairs | {(name(session), subject) for session, subject in claimed})


@pytest.mark.parametrize("seed", range(3))
def test_agents_sessions_and_proofs_do_not_depend_on_order_or_repetition(seed: int) -> None:
    """For every agent and session of the sample and of real client runs, disturbed."""
    rng = random.Random(seed)
    tree = tree_of(SAMPLE)
    for scenario in (
        "2.1.332/workflow",
        "2.1.332/agentresume",
        "2.1.112/interrupt",
        "1.0.128/parallel",
    ):
        tree |= tree_of(shared_folder() / "rig-data" / scenario / "projects")
    with workplace() as folder:
        write(folder, unruly(tree, rng, 0.05))
        with writing(folder / "a.db") as writer:
            tick(writer, folder)
            assert len(agents_of(writer)) > 20
            derives_alike(writer, rng)


@examples(60)
@given(trees(), st.integers(0, 1 << 16))
def test_made_up_facts_do_not_depend_on_order_or_repetition(tree: Tree, seed: int) -> None:
    """For agents that every kind of record names, in several transcripts, and for their sessions."""
    with workplace() as folder:
        write(folder, tree)
        with writing(folder / "a.db") as writer:
            tick(writer, folder)
            derives_alike(writer, random.Random(seed))


def derives_alike(writer: Writer, rng: random.Random) -> None:
    """Derive every agent and session from its evidence, and from the same in another order and with repetitions."""
    pairs = agents_of(writer)
    for session, agent in pairs:
        evidence = writer.loading.evidence(session, agent)
        expected = derive_agent(evidence)
        other = shuffled(evidence, rng)
        assert proofs(other) == proofs(evidence)
        assert derive_agent(other) == expected
    for session in {pair[0] for pair in pairs}:
        parts = writer.loading.parts(session)
        mixed = parts + parts[: len(parts) // 2]
        rng.shuffle(mixed)
        assert derive_session(session, parts) == derive_session(session, mixed)


def test_proofs_are_ranked_by_join_path() -> None:
    """The ranks of DESIGN section 4, strongest first."""
    assert PATHS == (
        "sidecar_parent", "tool_use", "directory", "task_notification", "queue_operation", "legacy_explore",
    )  # fmt: skip
