"""The laws on made-up evidence, in which every kind of record meets every other under the same few ids."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.laws.builders import trees
from tests.laws.observing import (
    Observer,
    anything,
    cut_small,
    examples,
    grow_anyhow,
    once,
)
from tests.laws.trees import Tree, difference, workplace, write

from stemma.model.source import Placement
from stemma.normalize.claude_code.adapter import ClaudeCode
from stemma.normalize.port import Normalized

SEEDS = st.integers(0, 1 << 16)


def holds_however_grown(tree: Tree, seed: int) -> None:
    """Grow a tree under a collector to which anything may happen; compare with one pass over the finished tree."""
    rng = random.Random(seed)
    with workplace() as place:
        projects = place / "projects"
        projects.mkdir()
        observer = Observer(place / "grown.db", projects)
        with cut_small(rng):
            grow_anyhow(projects, tree, rng, lambda: anything(observer, rng))
            grown = observer.settled()
        assert difference(grown, once(place, place / "once.db")) == []


@examples(120)
@given(trees(), SEEDS)
def test_any_schedule_of_appends_gives_the_same_evidence(tree: Tree, seed: int) -> None:
    """Cut anywhere, interleaved, with ticks, restarts, lost checkpoints and crashes inside a pass."""
    holds_however_grown(tree, seed)


@pytest.mark.slow
@examples(1500)
@given(trees(), SEEDS)
def test_any_schedule_of_appends_gives_the_same_evidence_at_length(tree: Tree, seed: int) -> None:
    """The same law on many more examples."""
    holds_however_grown(tree, seed)


@examples(40)
@given(trees(6), trees(6), SEEDS)
def test_the_order_of_roots_does_not_matter(one: Tree, other: Tree, seed: int) -> None:
    """Two roots that hold parts of the same sessions come to the same, whichever is read or grows first."""
    rng = random.Random(seed)
    with workplace() as place:
        roots = [place / name / "projects" for name in ("a", "b")]
        for root in roots:
            root.mkdir(parents=True)
        dumps = []
        grown = Observer(place / "grown.db", *rng.sample(roots, 2))
        with cut_small(rng):
            both = {f"a/projects/{path}": data for path, data in one.items()}
            both |= {f"b/projects/{path}": data for path, data in other.items()}
            grow_anyhow(place, both, rng, lambda: anything(grown, rng))
            dumps.append(grown.settled())
            for name, order in (("ab.db", roots), ("ba.db", roots[::-1])):
                dumps.append(Observer(place / name, *order).settled())
        assert difference(dumps[0], dumps[1]) == []
        assert difference(dumps[1], dumps[2]) == []


class Forgetful(ClaudeCode):
    """A later revision of the adapter that makes nothing of every third record."""

    revision = ClaudeCode.revision + 1

    def normalize(
        self, placement: Placement, state: bytes, lines: Iterable[tuple[int, bytes]]
    ) -> Normalized:
        """See ``AgentAdapter.normalize``."""
        kept = ((at, line) for at, line in lines if zlib.crc32(b"%d" % at) % 3)
        return super().normalize(placement, state, kept)


@examples(60)
@given(trees(), SEEDS)
def test_a_later_revision_leaves_nothing_of_the_former_behind(tree: Tree, seed: int) -> None:
    """Sources that are there are read again from the start: the result is that of the later revision alone."""
    rng = random.Random(seed)
    with workplace() as place:
        write(place, tree)
        projects = place / "projects"
        with cut_small(rng):
            Observer(place / "a.db", projects).settled()
            later = Observer(place / "a.db", projects, adapter=Forgetful())
            later.crash(rng.randint(1, 60))
            found = later.settled()
            expected = Observer(place / "b.db", projects, adapter=Forgetful()).settled()
        assert difference(found, expected) == []
