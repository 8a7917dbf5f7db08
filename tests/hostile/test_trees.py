"""Trees built to deceive: nothing outside a root is read, nothing blocks, oddities are skips, escapes halt."""

import errno
import os
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.unit.collect.tree import OTHER, SESSION, Tree

from stemma.collect.contain import Root, open_contained, open_source
from stemma.collect.discover import discover
from stemma.collect.poll import Poller
from stemma.errors import CollectError, ContainmentError, SourceVanished
from stemma.model.source import Placement, Skip, SkipReason, TickOutcome, unescape_path
from stemma.normalize.claude_code.locate import place

MAIN = f"-p/{SESSION}.jsonl"
AGENT = f"-p/{SESSION}/subagents/agent-a1.jsonl"
SECRET = b'{"secret": true}\n'
NOBODY = 65534


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A session with an agent, and beside the root the same again as what must not be read."""
    outside = Tree(tmp_path / "outside")
    made = Tree(tmp_path / "projects")
    for path in (MAIN, AGENT):
        made.write(path)
        outside.write(path, SECRET)
    return made


def outside(tree: Tree, relpath: str) -> Path:
    """The forbidden counterpart of a path."""
    return tree.path.parent / "outside" / relpath


def below(level: str, path: str) -> bool:
    """Whether a path is a level, or leads through it."""
    return f"{path}/".startswith(f"{level}/")


def swap(tree: Tree, relpath: str) -> None:
    """Put a link to the forbidden counterpart where a file or folder was."""
    path = tree.path / relpath
    path.rename(tree.path.parent / "swapped-out")
    path.symlink_to(outside(tree, relpath))


def read(tree: Tree, relpath: str) -> bytes:
    """Read a source as the pipeline does."""
    with Root(str(tree.path)) as root:
        fd = open_contained(root, relpath)
    try:
        return os.read(fd, 100)
    finally:
        os.close(fd)


@contextmanager
def unprivileged() -> Iterator[None]:
    """Permissions do not bind the superuser: be nobody for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def public() -> Iterator[Tree]:
    """A tree that nobody may read: the folders that pytest makes are closed to others."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        made = Tree(Path(folder, "projects"))
        made.write(MAIN)
        made.write(AGENT)
        yield made


def test_a_plain_tree_is_read(tree: Tree) -> None:
    """What the others are measured against."""
    assert tree.found() == [MAIN, AGENT]
    assert (read(tree, MAIN), read(tree, AGENT)) == (b"{}\n", b"{}\n")


LEVELS = ["-p", f"-p/{SESSION}", f"-p/{SESSION}/subagents", AGENT, MAIN]


@pytest.mark.parametrize("level", LEVELS)
def test_a_link_at_any_level_is_skipped_and_never_followed(tree: Tree, level: str) -> None:
    """Project, session, agents' folder, file: nothing behind the link is listed."""
    swap(tree, level)
    assert [path for path in tree.found() if below(level, path)] == []
    assert tree.skipped() == {level: "symlink"}


@pytest.mark.parametrize("level", LEVELS)
def test_a_swap_between_listing_and_opening_is_an_escape(tree: Tree, level: str) -> None:
    """At whatever level it happens, the open refuses."""
    listed = tree.discover()
    swap(tree, level)
    for file in listed.files:
        if below(level, file.relpath):
            with pytest.raises(ContainmentError):
                read(tree, file.relpath)


def test_links_inside_the_root_are_not_followed_either(tree: Tree) -> None:
    """A loop, a link to a sibling and a link to nothing are all the same skip."""
    (tree.path / "-p" / "loop").symlink_to(tree.path)
    (tree.path / "-q").symlink_to("-p")
    (tree.path / f"-p/{OTHER}.jsonl").symlink_to("nowhere")
    assert tree.found() == [MAIN, AGENT]
    assert tree.skipped() == {"-p/loop": "symlink", "-q": "symlink", f"-p/{OTHER}.jsonl": "symlink"}


def test_the_root_itself_may_be_a_link(tree: Tree) -> None:
    """It is resolved once; a root that becomes a link afterwards is an escape."""
    path = tree.path
    path.rename(path.with_name("moved"))
    path.symlink_to(path.with_name("moved"))
    assert Tree(path).found() == [MAIN, AGENT]
    with pytest.raises(ContainmentError):
        tree.discover()


@pytest.mark.parametrize("level", ["-p", f"-p/{SESSION}", f"-p/{SESSION}/subagents"])
def test_a_folder_swapped_while_the_tree_is_listed_halts_the_listing(
    tree: Tree, level: str
) -> None:
    """Seen as a folder by its parent's listing, a link when it is entered."""
    parent = tree.path / level
    parent.with_name("zz.jsonl").write_bytes(b"{}\n")

    def place_and_swap(parts: tuple[str, ...]) -> Placement | SkipReason:
        if parts[-1] == "zz.jsonl" and not parent.is_symlink():
            swap(tree, level)
        return place(parts)

    with pytest.raises(ContainmentError):
        discover(tree.spec, place_and_swap)


def test_a_halt_is_visible_and_over_when_the_swap_is_plain_to_see(tree: Tree) -> None:
    """The tick that meets the swap tells nothing else; the next one takes the link for a skip."""
    armed: list[bool] = []

    def place_and_swap(parts: tuple[str, ...]) -> Placement | SkipReason:
        if armed:
            armed.clear()
            swap(tree, f"-q/{OTHER}")
        return place(parts)

    poller = Poller(tree.spec, place_and_swap, lambda: 0.0)
    assert [file.relpath for file in poller.poll().changed] == [MAIN, AGENT]
    tree.append(MAIN)
    tree.write(f"-q/{OTHER}/subagents/agent-a2.jsonl")
    tree.write(f"-q/{OTHER}.jsonl")
    armed.append(True)
    found = poller.poll()
    assert found.outcome is TickOutcome.CONTAINMENT_HALT
    assert (found.changed, found.removed, found.skips) == ((), (), ())
    found = poller.poll()
    assert [file.relpath for file in found.changed] == [MAIN, f"-q/{OTHER}.jsonl"]
    assert found.skips == (Skip(f"-q/{OTHER}", SkipReason.SYMLINK),)
    assert poller.poll().outcome is TickOutcome.UNCHANGED


@pytest.mark.parametrize("level", LEVELS)
def test_a_swap_between_ticks_is_a_skip_and_what_lay_behind_is_removed(
    tree: Tree, level: str
) -> None:
    """Nobody was deceived: the folder is listed before anything in it is opened."""
    poller = Poller(tree.spec, place, lambda: 0.0)
    poller.poll()
    swap(tree, level)
    found = poller.poll()
    assert found.changed == ()
    assert found.removed == tuple(path for path in (MAIN, AGENT) if below(level, path))
    assert [(skip.relpath, skip.reason) for skip in found.skips] == [(level, SkipReason.SYMLINK)]


@pytest.mark.parametrize(
    "relpath",
    ["../outside/" + MAIN, "-p/../-p/x.jsonl", "/etc/passwd", "-p//x", "-p/.", "", "a\0b"],
)
def test_a_path_that_is_not_inside_is_never_opened(tree: Tree, relpath: str) -> None:
    """Whoever asks for it."""
    with pytest.raises(ContainmentError):
        read(tree, relpath)


def make_fifo(path: Path) -> None:
    """A pipe that would block whoever opens it."""
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    """A socket, bound by a relative name since absolute ones are too long."""
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path.name)
    finally:
        os.chdir(here)


def make_device(path: Path) -> None:
    """The null device under another name."""
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, Path(os.devnull).stat().st_rdev)
    except OSError as error:
        pytest.skip(f"devices cannot be made here: {error.strerror}")


SPECIAL = [(make_fifo, "FIFO"), (make_socket, "socket"), (make_device, "character device")]


@pytest.mark.parametrize(("make", "kind"), SPECIAL)
def test_what_is_no_regular_file_is_skipped_unopened(
    tree: Tree, make: Callable[[Path], None], kind: str
) -> None:
    """Opening it could block or do something."""
    name = f"-p/{OTHER}.jsonl"
    make(tree.path / name)
    found = tree.discover()
    assert [file.relpath for file in found.files] == [MAIN, AGENT]
    assert found.skips == [Skip(name, SkipReason.NOT_REGULAR_FILE, kind)]


@pytest.mark.parametrize(("make", "kind"), SPECIAL)
def test_a_file_swapped_for_something_else_is_gone(
    tree: Tree, make: Callable[[Path], None], kind: str
) -> None:
    """It leads nowhere outside, so it is no escape; the next listing skips it."""
    (tree.path / MAIN).unlink()
    make(tree.path / MAIN)
    with pytest.raises(SourceVanished):
        read(tree, MAIN)


@pytest.mark.parametrize("make", [make_fifo, make_socket])
def test_a_swap_in_the_last_moment_neither_blocks_nor_deceives(
    tree: Tree, make: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the file and its opening."""
    real = os.stat

    def stat_and_swap(path: str, *, dir_fd: int, follow_symlinks: bool) -> os.stat_result:
        status = real(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
        if path == f"{SESSION}.jsonl" and stat.S_ISREG(status.st_mode):
            (tree.path / MAIN).unlink()
            make(tree.path / MAIN)
        return status

    monkeypatch.setattr(os, "stat", stat_and_swap)
    with pytest.raises(CollectError) as caught:
        read(tree, MAIN)
    assert not isinstance(caught.value, ContainmentError)


def test_a_link_swapped_in_at_the_last_moment_is_an_escape(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The look at the file is a courtesy; the open itself does not follow."""
    real = os.stat

    def stat_and_swap(path: str, *, dir_fd: int, follow_symlinks: bool) -> os.stat_result:
        status = real(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
        if path == f"{SESSION}.jsonl" and stat.S_ISREG(status.st_mode):
            swap(tree, MAIN)
        return status

    monkeypatch.setattr(os, "stat", stat_and_swap)
    with pytest.raises(ContainmentError):
        read(tree, MAIN)


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_removed_between_listing_and_opening_has_vanished(tree: Tree, level: str) -> None:
    """No error of the collector: the source is gone."""
    listed = tree.discover()
    (tree.path / level).rename(tree.path.parent / "gone")
    for file in listed.files:
        if below(level, file.relpath):
            with pytest.raises(SourceVanished):
                read(tree, file.relpath)


def test_a_folder_that_became_a_file_has_vanished(tree: Tree) -> None:
    """It is no link, so it leads nowhere."""
    folder = tree.path / f"-p/{SESSION}/subagents"
    folder.rename(tree.path.parent / "gone")
    folder.write_bytes(b"")
    with pytest.raises(SourceVanished):
        read(tree, AGENT)


ODD = [
    b"back\\slash",
    b"new\nline",
    b"\xff\xfe not UTF-8",
    b"tab\tand \x1b[31m",
    b"quote'\"",
    b"...",
]


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_read_like_any_other(tree: Tree, name: bytes) -> None:
    """As project, session and agent; and their stored form leads back to them."""
    slug, odd = os.fsdecode(b"-" + name), os.fsdecode(b"s" + name)
    paths = sorted([f"{slug}/{odd}.jsonl", f"{slug}/{odd}/subagents/agent-{odd}.jsonl"])
    try:
        for path in paths:
            tree.write(path, SECRET)
    except OSError as error:
        if error.errno == errno.EILSEQ:
            pytest.skip("this file system takes UTF-8 only")
        raise
    found = [file for file in tree.discover().files if file.relpath not in (MAIN, AGENT)]
    assert [file.relpath for file in found] == paths
    assert [read(tree, file.relpath) for file in found] == [SECRET, SECRET]
    for file in found:
        assert unescape_path(file.placement.relpath_key) == file.relpath
        assert file.placement.relpath_key.encode().decode().isprintable()


def test_depth_is_bounded_before_it_is_entered(tree: Tree) -> None:
    """A hundred nested folders cost one skip."""
    path = tree.path / "-p" / SESSION / "subagents"
    for _ in range(100):
        path = path / "d"
        path.mkdir()
    (path / "agent-deep.jsonl").write_bytes(SECRET)
    assert tree.found() == [MAIN, AGENT]
    assert tree.skipped() == {f"-p/{SESSION}/subagents/d/d/d/d/d": "too-deep"}


def test_unreadable_files_are_skipped_until_they_can_be_read(public: Tree) -> None:
    """Noticed without opening them."""
    path = public.path / AGENT
    path.chmod(0o000)
    with unprivileged():
        poller = Poller(public.spec, place, lambda: 0.0)
        found = poller.poll()
        with Root(str(public.path)) as root, pytest.raises(CollectError, match="cannot be opened"):
            open_source(root, AGENT)
    assert [file.relpath for file in found.changed] == [MAIN]
    assert [(skip.relpath, skip.reason) for skip in found.skips] == [(AGENT, SkipReason.UNREADABLE)]
    path.chmod(0o644)
    with unprivileged():
        found = poller.poll()
    assert [file.relpath for file in found.changed] == [AGENT]
    assert [(skip.relpath, skip.reason) for skip in found.lifted] == [
        (AGENT, SkipReason.UNREADABLE)
    ]


@pytest.mark.parametrize("mode", [0o000, 0o444, 0o111])
def test_unreadable_folders_are_skipped_and_what_was_in_them_is_not_lost(
    public: Tree, mode: int
) -> None:
    """Closed is not removed; and what could not be seen meanwhile is told when it is open again."""
    folder = public.path / f"-p/{SESSION}/subagents"
    poller = Poller(public.spec, place, lambda: 0.0)
    with unprivileged():
        assert len(poller.poll().changed) == 2
    public.append(AGENT)
    folder.chmod(mode)
    with unprivileged():
        found = poller.poll()
        fresh = public.skipped()
    relpath = f"-p/{SESSION}/subagents"
    assert found.removed == ()
    assert fresh == {relpath: "unreadable"}
    if mode != 0o444:  # names can be listed, and nothing new is among them
        assert [(skip.relpath, skip.reason) for skip in found.skips] == [
            (relpath, SkipReason.UNREADABLE)
        ]
    folder.chmod(0o755)
    with unprivileged():
        later = poller.poll()
        assert poller.poll().outcome is TickOutcome.UNCHANGED
        assert poller.skips() == []
    assert AGENT in [file.relpath for file in (*found.changed, *later.changed)]


def test_an_unreadable_root_is_a_read_error(public: Tree) -> None:
    """Neither an empty root nor a missing one."""
    poller = Poller(public.spec, place, lambda: 0.0)
    public.path.chmod(0o000)
    with unprivileged():
        assert poller.poll().outcome is TickOutcome.READ_ERROR
    public.path.chmod(0o755)
    with unprivileged():
        assert len(poller.poll().changed) == 2
