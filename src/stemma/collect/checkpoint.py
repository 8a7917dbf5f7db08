"""Whether a source must be read again, and from where (DESIGN section 3, *checkpoint*).

An identical fingerprint means unchanged. Anything else is checked against the bytes at once: digests of head and tail
where the file grew, every consumed byte where it did not grow or was replaced. A failed check begins a new generation
from the start of the file.
"""

import hashlib
import os
import zlib
from enum import StrEnum

from msgspec import Struct

from stemma.collect.tail import TailDigest
from stemma.model.source import Checkpoint, Fingerprint

_DIGEST_BYTES = 16
_VERIFY_BYTES = 1 << 20


class Decision(StrEnum):
    """What a fingerprint alone says."""

    NEW = "new"
    """Never read: read it all."""
    UNCHANGED = "unchanged"
    """Nothing to do, not even opening it."""
    CHECK = "check"
    """Open it and ask :func:`begin`."""


class Start(Struct, frozen=True, gc=False):
    """Where reading begins.

    Attributes:
        generation: Generation that the bytes belong to.
        digest: Digest of what precedes; its ``length`` is the offset.
        rewritten: The bytes consumed before are no longer there: a new generation begins.
    """

    generation: int
    digest: TailDigest
    rewritten: bool

    @property
    def offset(self) -> int:
        """Where to begin reading."""
        return self.digest.length


def decide(checkpoint: Checkpoint | None, fingerprint: Fingerprint) -> Decision:
    """Say by the fingerprint whether a source needs a look.

    Args:
        checkpoint: How far it was read, if it ever was.
        fingerprint: Its fingerprint now.
    """
    if checkpoint is None:
        return Decision.NEW
    return Decision.UNCHANGED if checkpoint.fingerprint == fingerprint else Decision.CHECK


def needs_full_check(checkpoint: Checkpoint, fingerprint: Fingerprint) -> bool:
    """Whether a change is of a kind that growing by appends does not explain.

    It did not grow (touched, rewritten with its size restored, its torn tail cut), or another file took its name.
    """
    before = checkpoint.fingerprint
    if fingerprint.inode != before.inode:
        return True
    times = (fingerprint.mtime_ns, fingerprint.ctime_ns)
    moved = times != (before.mtime_ns, before.ctime_ns)
    return fingerprint.size < before.size or (fingerprint.size == before.size and moved)


def begin(fd: int, checkpoint: Checkpoint | None, fingerprint: Fingerprint) -> Start:
    """Say where to read an opened source, checking the bytes consumed before as far as its change demands.

    Args:
        fd: Its descriptor.
        checkpoint: How far it was read, if it ever was.
        fingerprint: Its fingerprint as opened.
    """
    if checkpoint is None:
        return Start(0, TailDigest(), rewritten=False)
    if fingerprint.size < checkpoint.offset:
        return restart(checkpoint)
    digest = _resume(fd, checkpoint)
    if digest is None:
        return restart(checkpoint)
    if needs_full_check(checkpoint, fingerprint) and not verify_full(fd, checkpoint):
        return restart(checkpoint)
    return Start(checkpoint.generation, digest, rewritten=False)


def restart(checkpoint: Checkpoint) -> Start:
    """Begin a new generation, after a verification has failed."""
    return Start(checkpoint.generation + 1, TailDigest(), rewritten=True)


def advance(
    start: Start, digest: TailDigest, fingerprint: Fingerprint, *, pending: int, revision: int
) -> Checkpoint:
    """The checkpoint after a read.

    Args:
        start: Where the read began.
        digest: Digest of everything consumed, a taken tail included.
        fingerprint: The source's fingerprint as opened for this read.
        pending: Bytes of a torn line behind what was consumed.
        revision: Adapter revision that normalised the bytes.
    """
    return Checkpoint(
        start.generation,
        digest.length,
        fingerprint,
        _digest(digest.head),
        len(digest.head),
        _digest(digest.tail),
        len(digest.tail),
        digest.crc,
        pending,
        revision,
    )


def verify_quick(fd: int, checkpoint: Checkpoint) -> bool:
    """Whether the first and the last of the consumed bytes are still what they were."""
    return _resume(fd, checkpoint) is not None


def verify_full(fd: int, checkpoint: Checkpoint) -> bool:
    """Whether all consumed bytes are still what they were. Reads them all."""
    crc = position = 0
    while position < checkpoint.offset:
        data = os.pread(fd, min(_VERIFY_BYTES, checkpoint.offset - position), position)
        if not data:
            return False
        crc = zlib.crc32(data, crc)
        position += len(data)
    return crc == checkpoint.crc


def _resume(fd: int, checkpoint: Checkpoint) -> TailDigest | None:
    """Read head and tail back; nothing if they are not what they were."""
    head = os.pread(fd, checkpoint.head_length, 0)
    tail = os.pread(fd, checkpoint.tail_length, checkpoint.offset - checkpoint.tail_length)
    if (len(head), len(tail)) != (checkpoint.head_length, checkpoint.tail_length):
        return None
    if (_digest(head), _digest(tail)) != (checkpoint.head_digest, checkpoint.tail_digest):
        return None
    return TailDigest(checkpoint.offset, head, tail, checkpoint.crc)


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()[:_DIGEST_BYTES]
