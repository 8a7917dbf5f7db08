"""A source is read on from where it was left, or anew when it is not what it was."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from stemma.collect.checkpoint import (
    Decision,
    Start,
    advance,
    begin,
    decide,
    needs_full_check,
    restart,
    verify_full,
    verify_quick,
)
from stemma.collect.contain import fingerprint_of
from stemma.collect.tail import Tail, TailDigest, read_blocks
from stemma.model.source import Checkpoint, Fingerprint

PRINT = Fingerprint(size=100, mtime_ns=1, ctime_ns=2, inode=3, device=4)
LONG = b"".join(b'{"n": %06d}\n' % number for number in range(2000))


class File:
    """A growing file, and a reader that comes back to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoint: Checkpoint | None = None

    def read(self) -> tuple[Start, bytes]:
        """Read on: where that began, and the complete lines found."""
        with self.path.open("rb") as file:
            fd = file.fileno()
            fingerprint = fingerprint_of(os.fstat(fd))
            start = begin(fd, self.checkpoint, fingerprint)
            digest, data, pending = start.digest, b"", 0
            for piece in read_blocks(fd, start.offset, size=fingerprint.size, digest=digest):
                if isinstance(piece, Tail):
                    pending = piece.length
                else:
                    digest, data = piece.digest, data + getattr(piece, "data", b"")
        self.checkpoint = advance(start, digest, fingerprint, pending=pending, revision=1)
        return start, data


@pytest.fixture
def file(tmp_path: Path) -> File:
    """A file that was read to its end."""
    made = File(tmp_path / "source.jsonl")
    made.path.write_bytes(LONG)
    assert made.read() == (Start(0, TailDigest(), rewritten=False), LONG)
    return made


def began(file: File) -> tuple[int, int, bool]:
    """Generation and offset at which the next read begins, and whether the file counts as rewritten."""
    start, _ = file.read()
    return start.generation, start.offset, start.rewritten


def rewrite_and_restore_times(path: Path, data: bytes) -> None:
    """Put other bytes in a file and set back what a program can: everything but the change time."""
    before = path.stat()
    while path.stat().st_ctime_ns == before.st_ctime_ns:  # clocks of file systems may be coarse
        path.write_bytes(data)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


ON = (0, len(LONG), False)
ANEW = (1, 0, True)


def test_the_fingerprint_decides_whether_a_look_is_needed() -> None:
    """Only an identical one means unchanged."""
    checkpoint = advance(
        Start(0, TailDigest(), rewritten=False), TailDigest(), PRINT, pending=0, revision=1
    )
    assert decide(None, PRINT) is Decision.NEW
    assert decide(checkpoint, PRINT) is Decision.UNCHANGED
    for field in PRINT.__struct_fields__:
        assert decide(checkpoint, replace(PRINT, **{field: 99})) is Decision.CHECK


@pytest.mark.parametrize(
    ("change", "full"),
    [
        ({"size": 101, "mtime_ns": 9, "ctime_ns": 9}, False),
        ({"device": 9}, False),
        ({"ctime_ns": 9}, True),
        ({"mtime_ns": 9, "ctime_ns": 9}, True),
        ({"size": 99, "mtime_ns": 9, "ctime_ns": 9}, True),
        ({"size": 101, "mtime_ns": 9, "ctime_ns": 9, "inode": 9}, True),
    ],
)
def test_what_appending_does_not_explain_is_checked_in_full(
    change: dict[str, int],
    full: bool,  # noqa: FBT001 - a column of the table
) -> None:
    """A file that grew under its own name is trusted after a look at head and tail."""
    checkpoint = advance(
        Start(0, TailDigest(), rewritten=False), TailDigest(), PRINT, pending=0, revision=1
    )
    assert needs_full_check(checkpoint, replace(PRINT, **change)) is full


def test_an_appended_file_is_read_on(file: File) -> None:
    """From the end of what was consumed, with the digest of all of it."""
    with file.path.open("ab") as out:
        out.write(b"{}\n")
    assert file.read() == (Start(0, TailDigest().extend(LONG), rewritten=False), b"{}\n")
    assert file.checkpoint is not None
    assert file.checkpoint.crc == TailDigest().extend(LONG + b"{}\n").crc


def test_a_touched_or_copied_file_with_the_same_bytes_is_the_same_generation(file: File) -> None:
    """Times and identity may change; the bytes decide."""
    os.utime(file.path, ns=(1, 1))
    assert began(file) == ON
    copy = file.path.with_suffix(".new")
    copy.write_bytes(LONG)
    copy.replace(file.path)
    assert began(file) == ON


def test_a_shrunk_file_begins_a_new_generation(file: File) -> None:
    """Also when it shrinks to nothing."""
    os.truncate(file.path, 50)
    assert began(file) == ANEW
    os.truncate(file.path, 0)
    assert began(file) == (2, 0, True)


@pytest.mark.parametrize("place", [0, len(LONG) // 2, len(LONG) - 2])
def test_a_rewritten_file_with_size_and_time_restored_is_noticed(file: File, place: int) -> None:
    """Its change time gives it away; every consumed byte is compared at once."""
    rewrite_and_restore_times(file.path, LONG[:place] + b"!" + LONG[place + 1 :])
    assert began(file) == ANEW


@pytest.mark.parametrize("place", [0, len(LONG) // 2, len(LONG) - 2])
def test_a_file_replaced_by_a_longer_one_is_noticed(file: File, place: int) -> None:
    """By its inode, wherever the difference lies."""
    copy = file.path.with_suffix(".new")
    copy.write_bytes(LONG[:place] + b"!" + LONG[place + 1 :] + b"{}\n")
    copy.replace(file.path)
    assert began(file) == ANEW


@pytest.mark.parametrize("place", [0, len(LONG) - 2])
def test_a_file_rewritten_in_place_and_longer_is_noticed_at_its_edges(
    file: File, place: int
) -> None:
    """Head and tail are compared whenever a file grew."""
    with file.path.open("r+b") as out:
        out.write(LONG[:place] + b"!" + LONG[place + 1 :] + b"{}\n")
    assert began(file) == ANEW


def test_what_escapes_the_quick_look_is_found_by_the_full_one(file: File) -> None:
    """A change in the middle of a file that also grew waits for the slow rotation."""
    with file.path.open("r+b") as out:
        out.seek(len(LONG) // 2)
        out.write(b"!")
        out.seek(0, os.SEEK_END)
        out.write(b"{}\n")
    before = file.checkpoint
    assert before is not None
    with file.path.open("rb") as opened:
        assert verify_quick(opened.fileno(), before)
        assert not verify_full(opened.fileno(), before)
    assert restart(before) == Start(1, TailDigest(), rewritten=True)


def test_a_torn_tail_is_pending_and_is_read_again(file: File) -> None:
    """It changes, shrinks or is completed without making the source a rewritten one."""
    for tail in (b'{"torn', b'{"a longer', b'{"x'):
        file.path.write_bytes(LONG + tail)
        assert began(file) == ON
        assert file.checkpoint is not None
        assert file.checkpoint.pending == len(tail)
    file.path.write_bytes(LONG + b'{"x": 1}\n')
    assert file.read()[1] == b'{"x": 1}\n'


def test_an_appended_line_costs_two_small_reads(
    file: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the size of the file: head and tail, and nothing between."""
    reads: list[int] = []
    real = os.pread

    def counted(fd: int, length: int, offset: int) -> bytes:
        reads.append(length)
        return real(fd, length, offset)

    with file.path.open("ab") as out:
        out.write(b"{}\n")
    monkeypatch.setattr(os, "pread", counted)
    file.read()
    assert reads == [4096, 4096, 3]


@given(st.lists(st.lists(st.sampled_from([b"{}", b"\n", b"xx"])).map(b"".join), max_size=5))
def test_the_checkpoint_does_not_depend_on_the_appends(parts: list[bytes]) -> None:
    """Read after every append or once at the end: the same offset, digests, checksum and pending bytes."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "source.jsonl")
        path.write_bytes(b"")
        often, once = File(path), File(path)
        for part in parts:
            with path.open("ab") as out:
                out.write(part)
            often.read()
        often.read()
        once.read()
        assert often.checkpoint == once.checkpoint
