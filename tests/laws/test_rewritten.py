"""Rewritten, pruned, removed and touched files: what is known is a function of the generations that were observed."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.laws.builders import DOCUMENTS, FILES, NUMBERS, transcripts, trees
from tests.laws.observing import Observer, cut_small, examples
from tests.laws.trees import Tree, difference, shared_folder, tree_of, workplace, write

Edit = Callable[[bytes, random.Random], bytes | None]
Step = tuple[int, str, int]
"""Which of a tree's files, what happens to it, and a seed."""


def _prune(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join(line for line in lines if rng.random() < 0.6)


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randint(0, len(data))]


def _change(data: bytes, rng: random.Random) -> bytes:
    """Other bytes of the same length."""
    place = rng.randrange(max(len(data), 1))
    return data[:place] + b"7" + data[place + 1 :] if data else data


def _go_on(data: bytes, rng: random.Random) -> bytes:
    return data + data[: rng.randint(0, len(data))]


def _remove(data: bytes, rng: random.Random) -> None:
    del data, rng


EDITS: dict[str, Edit] = {
    "prune": _prune, "cut": _cut, "change": _change, "go on": _go_on, "remove": _remove,
}  # fmt: skip
TOUCHES = ("utime", "chmod", "copy")
STEPS = st.tuples(st.integers(0, 9), st.sampled_from([*EDITS, "replace", *TOUCHES]), NUMBERS)


def touch(path: Path, how: str) -> None:
    """Change everything about a file but its bytes."""
    if how == "utime":
        os.utime(path, (1, 1))
    elif how == "chmod":
        path.chmod(0o600 if path.stat().st_mode & 0o077 else 0o640)
    else:
        other = path.with_suffix(".other")
        shutil.copyfile(path, other)
        other.replace(path)


def put(
    path: Path, known: bytes, after: bytes | None, seen: Callable[[], object], rng: random.Random
) -> None:
    """Bring a file to another content in some pieces, each of them seen: they are one generation.

    What it begins with as it did when it was known last is there at once: without it, it would be a generation of its own
    for a moment.
    """
    if after is None:
        path.unlink(missing_ok=True)
        return
    pairs = zip(known, after, strict=False)
    least = min(len(known), len(after))
    common = next((place for place, (one, other) in enumerate(pairs) if one != other), least)
    ends = sorted(rng.randint(common, len(after)) for _ in range(rng.randint(0, 2)))
    path.parent.mkdir(parents=True, exist_ok=True)
    for end in ends:
        path.write_bytes(after[:end])
        seen()
    path.write_bytes(after)


class History:
    """A tree and what happens to it, one step after the other."""

    def __init__(self, tree: Tree, steps: list[Step], others: list[bytes]) -> None:
        self._tree = tree
        self._steps = steps
        self._others = others

    def observed(self, place: Path, name: str, seed: int) -> list[str]:
        """The dump of an observer that saw the state after each step, by a schedule that the seed decides."""
        rng = random.Random(seed)
        projects = place / name / "projects"
        projects.mkdir(parents=True)
        observer = Observer(place / f"{name}.db", projects)

        def seen() -> None:
            if rng.random() < 0.3:
                observer.reopen()
            if rng.random() < 0.3:
                observer.crash(rng.randint(1, 30))
            observer.tick()

        now: dict[str, bytes | None] = {}
        known: Tree = {}
        with cut_small(rng):
            for path, data in self._tree.items():
                put(projects / path, b"", data, seen, rng)
                now[path] = known[path] = data
            observer.tick()
            for index, edit, number in self._steps:
                path = sorted(now)[index % len(now)]
                after = self._after(now[path], edit, number)
                if edit in TOUCHES and after is not None:
                    touch(projects / path, edit)
                    assert observer.tick() == 0
                else:
                    put(projects / path, known[path], after, seen, rng)
                now[path] = after
                known[path] = known[path] if after is None else after
                observer.tick()
            return observer.settled()

    def _after(self, before: bytes | None, edit: str, number: int) -> bytes | None:
        if edit in TOUCHES:
            return before
        if edit == "replace" or before is None:
            return self._others[number % len(self._others)]
        return EDITS[edit](before, random.Random(number))


def histories() -> st.SearchStrategy[History]:
    """A tree, and a few steps."""
    others = st.lists(transcripts("p/s1.jsonl", 4), min_size=1, max_size=3)
    return st.builds(History, trees(5), st.lists(STEPS, min_size=1, max_size=6), others)


def holds(history: History, seed: int) -> None:
    """Two observers with schedules of their own, which both see every state."""
    with workplace() as place:
        one = history.observed(place, "one", seed)
        other = history.observed(place, "other", seed + 1)
        assert difference(one, other) == []


@examples(80)
@given(histories(), NUMBERS)
def test_the_same_generations_give_the_same_evidence_by_any_schedule(
    history: History, seed: int
) -> None:
    """Each generation read at once or in pieces, with restarts and crashes; a touched file writes nothing."""
    holds(history, seed)


@pytest.mark.slow
@examples(1000)
@given(histories(), NUMBERS)
def test_the_same_generations_give_the_same_evidence_at_length(history: History, seed: int) -> None:
    """The same law on many more examples."""
    holds(history, seed)


@examples(40)
@given(trees(6), NUMBERS)
def test_nothing_of_a_removed_source_is_lost(tree: Tree, seed: int) -> None:
    """Whichever files are removed, in whatever order, the evidence stays, also for an observer that starts afterwards."""
    rng = random.Random(seed)
    with workplace() as place:
        write(place, tree)
        observer = Observer(place / "a.db", place / "projects")
        before = observer.settled()
        observer.open()
        for path in rng.sample(sorted(tree), len(tree)):
            (place / "projects" / path).unlink()
            if rng.random() < 0.5:
                observer.reopen()
            assert observer.tick() == 0
        gone = observer.writer.connection.execute(
            "SELECT count(*) FROM checkpoints WHERE removed_at = 0"
        ).get
        assert gone == 0
        assert difference(observer.settled(), before) == []


def tokens(observer: Observer) -> int:
    """All tokens that are known, of any session, agent and model."""
    return int(
        observer.writer.connection.execute(
            "SELECT sum(input + output + cache_write_5m + cache_write_1h + cache_read) FROM usage"
        ).get
    )


@pytest.mark.parametrize("seed", range(2))
def test_pruning_real_transcripts_takes_no_token_away(seed: int) -> None:
    """Lines dropped, tails cut and files removed at random in a real corpus: every count stays what it was."""
    rng = random.Random(seed)
    corpus = tree_of(shared_folder() / "corpus" / "claude" / "projects")
    tree = {path: data for path, data in corpus.items() if len(data) < 400_000}
    assert len(tree) > 20
    with workplace() as place:
        write(place, tree)
        observer = Observer(place / "a.db", place / "projects")
        observer.tick()
        before = tokens(observer)
        assert before
        for path in rng.sample(sorted(tree), len(tree) // 2):
            edit = EDITS[rng.choice(("prune", "cut", "remove"))]
            put(place / "projects" / path, tree[path], edit(tree[path], rng), observer.tick, rng)
        observer.tick()
        assert tokens(observer) == before
        observer.close()


def test_every_file_of_the_builders_has_a_place() -> None:
    """The made-up trees consist of sources that are read."""
    with workplace() as place:
        write(place, dict.fromkeys([*FILES, *DOCUMENTS], b"{}\n"))
        observer = Observer(place / "a.db", place / "projects")
        observer.tick()
        read = observer.writer.connection.execute("SELECT count(*) FROM generations").get
        assert read == len(FILES) + len(DOCUMENTS)
        observer.close()
