"""Reading on: whole lines after an offset, in blocks, with a digest of everything consumed.

Bytes are read once and forwards, each block with one call that names its offset, so a descriptor has no position to lose.
Memory is bounded by two blocks and the longest line.
"""

import os
import zlib
from collections.abc import Iterator
from io import BytesIO

from msgspec import Struct

from stemma.model.source import MAX_LINE_BYTES

BLOCK_BYTES = 4 << 20
"""How much is read at once."""
EDGE_BYTES = 4096
"""How much of head and tail is digested on its own, to notice a rewritten file without reading it."""


class TailDigest(Struct, frozen=True, gc=False):
    """What has been consumed of a source from its start, remembered in a few kilobytes; grows by any split alike.

    Attributes:
        length: Bytes consumed: the offset at which to read on.
        head: The first of them.
        tail: The last of them.
        crc: CRC-32 of all of them.
    """

    length: int = 0
    head: bytes = b""
    tail: bytes = b""
    crc: int = 0

    def extend(self, data: bytes) -> "TailDigest":
        """The digest after some more bytes."""
        missing = EDGE_BYTES - len(self.head)
        head = self.head + data[:missing] if missing > 0 else self.head
        tail = data[-EDGE_BYTES:] if len(data) >= EDGE_BYTES else (self.tail + data)[-EDGE_BYTES:]
        return TailDigest(self.length + len(data), head, tail, zlib.crc32(data, self.crc))


class Block(Struct, frozen=True, gc=False):
    """Complete lines.

    Attributes:
        offset: Where they begin.
        data: The lines, each with its newline; at least one.
        last: The end of the file is reached: only a tail can follow.
        digest: Digest of everything up to their end.
    """

    offset: int
    data: bytes
    last: bool
    digest: TailDigest

    @property
    def complete_end(self) -> int:
        """Offset behind the last newline."""
        return self.offset + len(self.data)


class OversizeLine(Struct, frozen=True, gc=False):
    """A complete line that is too long to be held, and was passed over.

    Attributes:
        offset: Where it begins.
        length: Its bytes, with its newline.
        digest: Digest of everything up to its end.
    """

    offset: int
    length: int
    digest: TailDigest


class Tail(Struct, frozen=True, gc=False):
    """What follows the last newline. It is not consumed: whoever takes it extends the digest by it.

    Attributes:
        offset: Where it begins.
        data: The bytes, or nothing when they are too many to be held.
        length: How many they are.
    """

    offset: int
    data: bytes
    length: int


Piece = Block | OversizeLine | Tail


def read_blocks(  # noqa: PLR0913 - what a test must be able to vary has a name
    fd: int,
    offset: int,
    *,
    size: int,
    digest: TailDigest | None = None,
    block_bytes: int = BLOCK_BYTES,
    line_limit: int = MAX_LINE_BYTES,
) -> Iterator[Piece]:
    """Read the lines between an offset and the end of a file as it was when it was opened.

    Args:
        fd: Descriptor of a regular file.
        offset: Where to begin: the end of what was consumed.
        size: The file's size when it was opened; what is appended meanwhile is left for the next time.
        digest: Digest of everything before ``offset``; needed when it is not 0 and the digests matter.
        block_bytes: How much to read at once.
        line_limit: Length beyond which a line is passed over.

    Yields:
        Blocks and oversized lines in the order of the file, then the tail if there is one.
    """
    reader = _Reader(offset, digest or TailDigest(offset), line_limit)
    block_bytes = min(block_bytes, line_limit)
    position = offset
    while position < size:
        chunk = os.pread(fd, min(block_bytes, size - position), position)
        if not chunk:
            break  # it shrank meanwhile: the next look at it will tell
        position += len(chunk)
        yield from reader.feed(chunk, last=position >= size)
    yield from reader.finish()


class _Reader:
    """Cuts chunks at newlines and keeps the beginning of a line until its end arrives.

    Attributes:
        start: Offset of the line in progress.
        length: Its bytes so far.
        held: Those bytes, unless the line is being passed over.
        digest: Digest of everything before ``start``.
        passing: Digest of everything read so far while a line is being passed over, else nothing.
        limit: Length beyond which a line is passed over.
    """

    __slots__ = ("digest", "held", "length", "limit", "passing", "start")

    def __init__(self, start: int, digest: TailDigest, limit: int) -> None:
        self.start = start
        self.length = 0
        self.held = BytesIO()
        self.digest = digest
        self.passing: TailDigest | None = None
        self.limit = limit

    def feed(self, chunk: bytes, *, last: bool) -> Iterator[Block | OversizeLine]:
        """Take a chunk, which is no longer than the limit; give what it completes."""
        first = chunk.find(b"\n") + 1
        if self.passing is not None or self.length + (first or len(chunk)) > self.limit:
            passed = self._pass_over(chunk[:first] if first else chunk)
            if not first:
                return
            start, length = self.start, self.length
            yield OversizeLine(start, length, self._consume(passed))
            chunk = chunk[first:]
        cut = chunk.rfind(b"\n") + 1
        if cut:
            start, data = self.start, self._take(chunk, cut)
            yield Block(start, data, last, self._consume(self.digest.extend(data)))
        self._hold(chunk[cut:])

    def finish(self) -> Iterator[Tail]:
        """Give what no newline ended."""
        if self.length:
            yield Tail(self.start, self.held.getvalue(), self.length)

    def _hold(self, data: bytes) -> None:
        self.held.write(data)
        self.length += len(data)

    def _take(self, chunk: bytes, cut: int) -> bytes:
        """The line in progress and the lines of the chunk, with as little copying as there can be."""
        if not self.length:
            return chunk[:cut]
        self.held.write(memoryview(chunk)[:cut])
        return self.held.getvalue()

    def _pass_over(self, data: bytes) -> TailDigest:
        passing = self.digest.extend(self.held.getvalue()) if self.passing is None else self.passing
        self.passing = passing = passing.extend(data)
        self.length += len(data)
        self.held = BytesIO()
        return passing

    def _consume(self, digest: TailDigest) -> TailDigest:
        """Begin the next line."""
        self.start, self.digest, self.passing = digest.length, digest, None
        self.length, self.held = 0, BytesIO()
        return digest
