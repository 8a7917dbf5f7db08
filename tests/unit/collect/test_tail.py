"""Lines come out of a file as they went in, however it was written and however it is read."""

import os
import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stemma.collect.tail import (
    EDGE_BYTES,
    Block,
    OversizeLine,
    Piece,
    Tail,
    TailDigest,
    read_blocks,
)

CONTENT = st.lists(st.sampled_from([b"\n", b"\r\n", b"{}", b"a", b"\0", b"xyz" * 7])).map(b"".join)


@contextmanager
def opened(data: bytes) -> Iterator[int]:
    """A descriptor of a file that holds some bytes."""
    with TemporaryFile(buffering=0) as file:
        file.write(data)
        yield file.fileno()


def pieces(data: bytes, *, block: int = 4 << 20, limit: int = 256 << 20) -> list[Piece]:
    """Everything that reading some bytes from the start gives."""
    with opened(data) as fd:
        return list(read_blocks(fd, 0, size=len(data), block_bytes=block, line_limit=limit))


def lines_of(found: list[Piece]) -> list[tuple[int, bytes]]:
    """Offset and bytes of each line, cut as naively as can be."""
    lines = []
    for piece in found:
        if isinstance(piece, Block):
            offset = piece.offset
            for line in piece.data.split(b"\n")[:-1]:
                lines.append((offset, line))
                offset += len(line) + 1
    return lines


def naive(data: bytes) -> tuple[list[tuple[int, bytes]], bytes]:
    """The same by definition, and what follows the last newline."""
    *lines, tail = data.split(b"\n")
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line) + 1)
    return list(zip(offsets, lines, strict=False)), tail


def tail_of(found: list[Piece]) -> bytes:
    """What is left over."""
    return found[-1].data if found and isinstance(found[-1], Tail) else b""


@given(CONTENT, st.integers(1, 40))
def test_any_block_size_yields_the_same_lines_and_tail(data: bytes, block: int) -> None:
    """Compared with splitting at newlines."""
    found = pieces(data, block=block)
    assert (lines_of(found), tail_of(found)) == naive(data)


@given(CONTENT, st.lists(st.integers(0, 200)), st.integers(1, 40))
def test_any_split_into_appends_yields_the_same_lines_and_digest(
    data: bytes, cuts: list[int], block: int
) -> None:
    """Each part is read where the one before ended, with the digest that it left."""
    lines: list[tuple[int, bytes]] = []
    digest = TailDigest()
    sizes = sorted({min(cut, len(data)) for cut in cuts} | {len(data)})
    tail = b""
    with opened(data) as fd:
        for size in sizes:
            found = list(
                read_blocks(fd, digest.length, size=size, digest=digest, block_bytes=block)
            )
            lines += lines_of(found)
            digest = next((p.digest for p in reversed(found) if not isinstance(p, Tail)), digest)
            tail = tail_of(found)
    assert (lines, tail) == naive(data)
    assert digest == TailDigest().extend(data[: data.rfind(b"\n") + 1])


@given(st.lists(st.binary(max_size=EDGE_BYTES * 2), max_size=6))
def test_the_digest_does_not_depend_on_the_split(parts: list[bytes]) -> None:
    """Head, tail and checksum are those of the whole."""
    digest = TailDigest()
    for part in parts:
        digest = digest.extend(part)
    data = b"".join(parts)
    head, tail = data[:EDGE_BYTES], data[-EDGE_BYTES:]
    assert digest == TailDigest(len(data), head, tail, zlib.crc32(data))


@given(CONTENT, st.integers(1, 20), st.integers(1, 40))
def test_oversized_lines_are_passed_over_and_reading_goes_on_behind_them(
    data: bytes, limit: int, block: int
) -> None:
    """Every line is either given or named as too long, and the digest covers both."""
    found = pieces(data, block=block, limit=limit)
    lines, tail = naive(data)
    assert lines_of(found) == [(at, line) for at, line in lines if len(line) < limit]
    assert [(p.offset, p.length) for p in found if isinstance(p, OversizeLine)] == [
        (at, len(line) + 1) for at, line in lines if len(line) >= limit
    ]
    expected = [Tail(len(data) - len(tail), tail if len(tail) <= limit else b"", len(tail))]
    assert [p for p in found if isinstance(p, Tail)] == (expected if tail else [])
    consumed = [p for p in found if not isinstance(p, Tail)]
    if consumed:
        assert consumed[-1].digest == TailDigest().extend(data[: len(data) - len(tail)])


@given(CONTENT, st.integers(1, 40))
def test_pieces_follow_each_other_without_gaps(data: bytes, block: int) -> None:
    """Offsets and lengths tile the file, and only the end is marked as last."""
    found = pieces(data, block=block, limit=16)
    ends = [p.complete_end if isinstance(p, Block) else p.offset + p.length for p in found]
    assert [p.offset for p in found] == [0, *ends][: len(found)]
    assert ends[-1:] in ([], [len(data)])
    assert all(not p.last for p, _ in pairwise(found[:-1]) if isinstance(p, Block))


def test_what_is_appended_while_reading_is_left_for_the_next_time() -> None:
    """A read ends at the size that the file had when it was opened."""
    with opened(b"1\n2\n3\n") as fd:
        assert lines_of(list(read_blocks(fd, 0, size=4))) == [(0, b"1"), (2, b"2")]


def test_a_file_that_shrinks_while_being_read_ends_early() -> None:
    """Nothing is made up for bytes that are not there."""
    with opened(b"1\n2") as fd:
        found = list(read_blocks(fd, 0, size=100))
    assert found[0] == Block(0, b"1\n", last=False, digest=TailDigest().extend(b"1\n"))
    assert found[1:] == [Tail(2, b"2", 1)]


def test_only_new_bytes_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """One appended line costs one read of its length, whatever lies before it."""
    reads: list[tuple[int, int]] = []
    real = os.pread

    def counted(fd: int, length: int, offset: int) -> bytes:
        reads.append((length, offset))
        return real(fd, length, offset)

    monkeypatch.setattr(os, "pread", counted)
    with opened(b"x" * 99 + b"\n{}\n") as fd:
        assert lines_of(list(read_blocks(fd, 100, size=103))) == [(100, b"{}")]
    assert reads == [(3, 100)]


def test_memory_is_bounded_by_blocks_and_not_by_the_file(tmp_path: Path) -> None:
    """Neither many lines nor one line without end are held."""
    path = tmp_path / "big"
    with path.open("wb") as file:
        for _ in range(32):
            file.write((b"x" * 1023 + b"\n") * 1024)
        file.write(b"y" * (32 << 20))
    tracemalloc.start()
    try:
        with path.open("rb") as file:
            fd, size = file.fileno(), path.stat().st_size
            count = sum(
                1 for _ in read_blocks(fd, 0, size=size, block_bytes=1 << 20, line_limit=2 << 20)
            )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 33
    assert peak < 8 << 20
