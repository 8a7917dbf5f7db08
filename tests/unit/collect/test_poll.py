"""The picture kept between ticks equals a fresh look, and keeping it costs little."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.collect.tree import OTHER, SESSION, Tree

from stemma.collect.poll import Changes, Poller, stat_at
from stemma.collect.schedule import Limits
from stemma.model.source import RootSpec, Skip, SkipReason, TickOutcome
from stemma.normalize.claude_code.locate import place

MAIN = f"-p/{SESSION}.jsonl"
AGENT = f"-p/{SESSION}/subagents/agent-a1.jsonl"
SMALL = Limits(hot_least=2, hot_most=20, sources_per_tick=10, folders_per_tick=3, relist_ticks=1)


class Watched:
    """A tree, its poller, a clock that moves a second per poll, and a count of what was asked."""

    def __init__(
        self, tree: Tree, limits: Limits | None = None, spec: RootSpec | None = None
    ) -> None:
        self.tree = tree
        self.now = 0.0
        self.stats = 0
        self.poller = Poller(
            spec or tree.spec, place, lambda: self.now, limits=limits, stat=self._stat
        )

    def _stat(self, relpath: str, folder: int) -> os.stat_result:
        self.stats += 1
        return stat_at(relpath, folder)

    def poll(self) -> Changes:
        """The next tick."""
        self.now += 1
        return self.poller.poll()


@pytest.fixture
def watched(tree: Tree) -> Watched:
    """A session and its agent, seen once."""
    tree.write(MAIN)
    tree.write(AGENT)
    made = Watched(tree)
    first = made.poll()
    assert [file.relpath for file in first.changed] == [MAIN, AGENT]
    assert first.outcome is TickOutcome.INGESTED
    return made


def paths(changes: Changes) -> list[str]:
    """Paths of the changed sources."""
    return [file.relpath for file in changes.changed]


def test_nothing_changed_is_told_as_unchanged(watched: Watched) -> None:
    """And as nothing else."""
    assert watched.poll() == Changes(outcome=TickOutcome.UNCHANGED)


def test_appended_new_and_removed_sources_are_told_once(watched: Watched) -> None:
    """With the fingerprint that they have now."""
    watched.tree.append(MAIN)
    watched.tree.write(f"-p/{SESSION}/subagents/agent-a2.jsonl")
    found = watched.poll()
    assert paths(found) == [MAIN, f"-p/{SESSION}/subagents/agent-a2.jsonl"]
    assert found.changed[0].fingerprint.size == 6
    (watched.tree.path / AGENT).unlink()
    found = watched.poll()
    assert (paths(found), found.removed, found.outcome) == ([], (AGENT,), TickOutcome.INGESTED)
    assert watched.poll().outcome is TickOutcome.UNCHANGED


def test_the_first_agent_of_a_session_is_seen_at_once(watched: Watched) -> None:
    """Though three folders have to appear for it."""
    watched.tree.write(f"-q/{OTHER}.jsonl")
    assert paths(watched.poll()) == [f"-q/{OTHER}.jsonl"]
    deep = f"-q/{OTHER}/subagents/workflows/wf_1/agent-a1.jsonl"
    watched.tree.write(deep)
    assert paths(watched.poll()) == [deep]


def test_an_empty_file_becomes_a_source_when_it_grows(watched: Watched) -> None:
    """Its skip is lifted; no folder changes by that."""
    watched.tree.write(f"-p/{OTHER}.jsonl", b"")
    skip = Skip(f"-p/{OTHER}.jsonl", SkipReason.EMPTY_MAIN)
    assert watched.poll() == Changes(skips=(skip,))
    watched.tree.append(f"-p/{OTHER}.jsonl")
    found = watched.poll()
    assert (paths(found), found.lifted) == ([f"-p/{OTHER}.jsonl"], (skip,))


def test_a_source_that_becomes_empty_is_skipped_and_not_removed(watched: Watched) -> None:
    """It is there; when it grows again its bytes tell that it was rewritten."""
    os.truncate(watched.tree.path / MAIN, 0)
    found = watched.poll()
    assert found == Changes(skips=(Skip(MAIN, SkipReason.EMPTY_MAIN),))
    assert MAIN in watched.poller.present()
    assert MAIN not in [file.relpath for file in watched.poller.files()]


def test_a_second_project_that_claims_a_session_is_told_and_taken_back(watched: Watched) -> None:
    """A duplicate is a skip beside the source, not instead of it."""
    copy = watched.tree.write(f"-q/{SESSION}.jsonl")
    found = watched.poll()
    assert paths(found) == [f"-q/{SESSION}.jsonl"]
    assert [(skip.relpath, skip.reason) for skip in found.skips] == [
        (f"-q/{SESSION}.jsonl", SkipReason.DUPLICATE_SESSION)
    ]
    copy.unlink()
    assert watched.poll().lifted == found.skips
    assert watched.poller.skips() == []


def test_a_replaced_file_is_seen_although_nothing_else_is_new(watched: Watched) -> None:
    """A new inode under an old name, with size and time as before."""
    old = (watched.tree.path / AGENT).stat()
    new = watched.tree.write("-p/new.tmp", b"[]\n")
    os.utime(new, ns=(old.st_atime_ns, old.st_mtime_ns))
    new.replace(watched.tree.path / AGENT)
    assert paths(watched.poll()) == [AGENT]


def test_a_renamed_project_is_removed_here_and_new_there(watched: Watched) -> None:
    """With everything in it."""
    (watched.tree.path / "-p").rename(watched.tree.path / "-q")
    found = watched.poll()
    assert found.removed == (MAIN, AGENT)
    assert paths(found) == [path.replace("-p/", "-q/") for path in (MAIN, AGENT)]


def test_a_source_can_be_asked_for_again(watched: Watched) -> None:
    """When reading it came to nothing; once, and not when it is gone."""
    watched.poller.again(MAIN)
    watched.poller.again("-p/unknown.jsonl")
    assert paths(watched.poll()) == [MAIN]
    assert paths(watched.poll()) == []


def test_a_missing_root_is_told_and_nothing_is_taken_for_removed(watched: Watched) -> None:
    """A disk may be away; when it is back, the difference is told."""
    away = watched.tree.path.with_name("away")
    watched.tree.path.rename(away)
    found = watched.poll()
    assert found == Changes(outcome=TickOutcome.NO_CORPUS_ROOT, detail="the root does not exist")
    away.rename(watched.tree.path)
    watched.tree.append(AGENT)
    (watched.tree.path / MAIN).unlink()
    found = watched.poll()
    assert (paths(found), found.removed) == ([AGENT], (MAIN,))


def test_a_root_replaced_by_a_link_halts(watched: Watched) -> None:
    """Links to roots are resolved when the root is configured, not afterwards."""
    away = watched.tree.path.with_name("away")
    watched.tree.path.rename(away)
    watched.tree.path.symlink_to(away)
    found = watched.poll()
    assert found.outcome is TickOutcome.CONTAINMENT_HALT
    assert (found.changed, found.removed) == ((), ())


def test_one_project_of_a_root_is_watched_alone(tree: Tree) -> None:
    """Its neighbours do not show; when it is gone, so is the root."""
    tree.write(MAIN)
    watched = Watched(tree, spec=RootSpec(str(tree.path), "-p"))
    assert paths(watched.poll()) == [MAIN]
    tree.write(f"-q/{OTHER}.jsonl")
    tree.write(f"-p/{OTHER}.jsonl")
    assert paths(watched.poll()) == [f"-p/{OTHER}.jsonl"]
    (tree.path / "-p").rename(tree.path / "-r")
    assert watched.poll().outcome is TickOutcome.NO_CORPUS_ROOT


def test_a_complete_pass_sees_what_is_not_due(tree: Tree) -> None:
    """For whoever cannot wait."""
    for number in range(50):
        tree.write(f"-p/s{number:02}.jsonl")
    watched = Watched(tree, SMALL)
    watched.poll()
    tree.append("-p/s31.jsonl")
    assert paths(watched.poller.full()) == ["-p/s31.jsonl"]


def test_an_idle_tick_asks_a_bounded_number_of_questions(tree: Tree) -> None:
    """Whatever the size of the corpus; and still every quiet source is seen to change."""
    for number in range(300):
        tree.write(f"-p{number % 10}/s{number:03}.jsonl")
    watched = Watched(tree, SMALL)
    watched.poll()
    most = 2 + SMALL.sources_per_tick + 2 + 1 + SMALL.folders_per_tick
    for _ in range(60):
        before = watched.stats
        assert watched.poll().outcome is TickOutcome.UNCHANGED
        assert watched.stats - before <= most
    tree.append("-p7/s007.jsonl")
    told = [path for _ in range(31) for path in paths(watched.poll())]
    assert told == ["-p7/s007.jsonl"]


def test_listing_a_folder_again_asks_only_about_new_files(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A project of thousands of sessions may get a new one every minute."""
    for number in range(100):
        tree.write(f"-p/s{number:03}.jsonl")
    watched = Watched(tree)
    watched.poll()
    asked: list[str] = []
    real = os.access

    def counted(path: str, mode: int, **options: bool) -> bool:
        asked.append(path)
        return real(path, mode, **options)

    monkeypatch.setattr(os, "access", counted)
    tree.write("-p/new.jsonl")
    assert paths(watched.poll()) == ["-p/new.jsonl"]
    assert asked == ["new.jsonl"]


def test_sources_take_turns_in_being_verified(watched: Watched) -> None:
    """Rarely, one at a time, and only quiet ones."""
    watched.poller.schedule.limits = Limits(hot_least=0, hot_seconds=0, verify_ticks=5)
    found = [changes.verify for changes in (watched.poll() for _ in range(40))]
    assert {file.relpath for file in found if file} == {MAIN, AGENT}
    assert sum(1 for file in found if file) <= 8


NAMES = st.sampled_from(
    [
        "-a/s1.jsonl",
        "-a/s2.jsonl",
        "-b/s1.jsonl",
        "-a/s1/subagents/agent-1.jsonl",
        "-a/s1/subagents/agent-1.meta.json",
        "-a/s1/subagents/workflows/w/agent-2.jsonl",
        "-b/s3/subagents/agent-3.jsonl",
        "-a/notes.txt",
    ]
)
FOLDERS = st.sampled_from(["-a", "-b", "-a/s1", "-a/s1/subagents", "-b/s3", "-c"])
STEPS = st.one_of(
    st.tuples(st.just("write"), NAMES, st.sampled_from([b"", b"{}\n", b"[1]\n"])),
    st.tuples(st.just("append"), NAMES, st.just(b"{}\n")),
    st.tuples(st.just("delete"), NAMES, st.just(b"")),
    st.tuples(st.just("replace"), NAMES, st.just(b"{1}\n")),
    st.tuples(st.just("link"), NAMES, st.just(b"")),
    st.tuples(st.just("fifo"), NAMES, st.just(b"")),
    st.tuples(st.just("move"), FOLDERS, FOLDERS.map(str.encode)),
    st.tuples(st.just("poll"), st.just(""), st.just(b"")),
    st.tuples(st.just("full"), st.just(""), st.just(b"")),
)


@contextmanager
def watched_folder() -> Iterator[Watched]:
    """An empty tree with a poller, for as long as an example lasts."""
    with TemporaryDirectory() as folder:
        yield Watched(Tree(Path(folder, "projects")), SMALL)


def perform(tree: Tree, step: str, name: str, data: bytes) -> None:
    """Change the tree, where the change is possible at all."""
    path = tree.path / name
    with suppress(OSError):
        if step == "move":
            path.rename(tree.path / data.decode())
        elif step == "append" and path.is_file():
            tree.append(name, data)
        elif step in ("link", "fifo", "delete"):
            path.unlink()
        if step == "write" and (path.is_file() or not os.path.lexists(path)):  # a FIFO would block
            tree.write(name, data)
        elif step == "replace":
            tree.write("new.tmp", data).replace(path)
        elif step == "link":
            path.symlink_to("nowhere")
        elif step == "fifo":
            os.mkfifo(path)


def settle(watched: Watched) -> Iterator[Changes]:
    """Ticks until everything had its turn."""
    for _ in range(20):
        yield watched.poll()


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, max_size=25))
def test_the_kept_picture_equals_a_fresh_look(steps: list[tuple[str, str, bytes]]) -> None:
    """After any history; and the changes that were told add up to it."""
    with watched_folder() as watched:
        told = Told()
        for step, name, data in steps:
            if step == "poll":
                told.take(watched.poll())
            elif step == "full":
                told.take(watched.poller.full())
            else:
                perform(watched.tree, step, name, data)
        for changes in settle(watched):
            told.take(changes)
        fresh = watched.tree.discover()
        assert watched.poller.files() == fresh.files
        assert watched.poller.skips() == fresh.skips
        assert sorted(watched.poller.present()) == sorted(
            file.relpath for file in (*fresh.files, *fresh.held)
        )
        assert {file.relpath: file for file in fresh.files}.items() <= told.files.items()
        assert told.skips == set(fresh.skips)


class Told:
    """What somebody knows who only listens to changes."""

    def __init__(self) -> None:
        self.files: dict[str, object] = {}
        self.skips: set[Skip] = set()

    def take(self, changes: Changes) -> None:
        """Listen."""
        for path in changes.removed:
            self.files.pop(path, None)
        self.files |= {file.relpath: file for file in changes.changed}
        renewed = {(skip.relpath, skip.reason) for skip in changes.skips}
        self.skips = {s for s in self.skips if (s.relpath, s.reason) not in renewed}
        self.skips = (self.skips - set(changes.lifted)) | set(changes.skips)
