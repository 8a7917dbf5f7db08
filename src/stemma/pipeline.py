"""START HERE: sources from bytes to rows, in the order of the folders.

::

    collect ─▶ normalize ─▶ store.record ─▶ settle (relate, derive) ─▶ commit, with the checkpoint

There is no way back: what a stage needs from the past comes in as an argument, and the checkpoint commits with the data,
which is what makes replay and crash harmless.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import msgspec
from msgspec import Struct

from stemma.collect import quarantine
from stemma.collect.checkpoint import (
    Decision,
    Start,
    advance,
    begin,
    decide,
    restart,
    verify_full,
)
from stemma.collect.contain import OpenSource, Root, open_source
from stemma.collect.tail import Block, OversizeLine, Piece, TailDigest, read_blocks
from stemma.errors import CollectError, ContainmentError, SourceVanished
from stemma.model.problem import LineFault
from stemma.model.source import Checkpoint, Fingerprint, SourceFile
from stemma.normalize.port import AgentAdapter, Normalized
from stemma.settle import settle
from stemma.store.sqlite.writer import Restored, Writer

BATCH_BYTES = 8 << 20
"""Source bytes after which a batch is committed."""

BATCH_STEPS = 400
"""Sources or blocks after which a batch is committed."""


class Progress(Struct):
    """How far a pass is.

    Attributes:
        sources: Sources looked at.
        read: Sources of which something was read.
        bytes: Bytes read.
        failed: Sources that could not be read.
        late: Sources that were gone, or had become something else, when they were to be read.
        rewritten: Sources of which a new generation began.
    """

    sources: int = 0
    read: int = 0
    bytes: int = 0
    failed: int = 0
    late: int = 0
    rewritten: int = 0


class Ingest:
    """Reads sources of one root into batches; each batch is one transaction with the facts that follow from it.

    Attributes:
        progress: How far it is.
    """

    def __init__(
        self,
        writer: Writer,
        adapter: AgentAdapter,
        root: Root,
        instance: int,
        rewritten: frozenset[str] = frozenset(),
    ) -> None:
        """Prepare to read.

        Args:
            writer: The single writer.
            adapter: Reads the agent's records.
            root: The root, held open.
            instance: Number of the installation that the root belongs to.
            rewritten: Paths of sources that a full verification found rewritten: each begins a new generation.
        """
        self._writer, self._adapter, self._root, self._instance = writer, adapter, root, instance
        self._rewritten = rewritten
        self._halt: ContainmentError | None = None
        self.progress = Progress()

    def run(
        self, files: list[SourceFile], now: Callable[[], int], report: Callable[[Progress], None]
    ) -> None:
        """Read what is new in the given sources.

        Args:
            files: The sources.
            now: Time of receipt in microseconds, for the changes journal.
            report: Told after each batch how far the pass is.

        Raises:
            ContainmentError: A path was found to leave the root; what was read before it is committed.
            StoreError: The database could not be written; nothing of the batch remains.
        """
        steps = self._steps(files)
        more = True
        while more:
            with self._writer.batch():
                more = self._fill(steps)
                settle(self._writer, now())
            report(self.progress)
        if self._halt is not None:
            raise self._halt

    def _fill(self, steps: Iterator[None]) -> bool:
        """Take steps until the batch is full; whether there may be more."""
        limit = self.progress.bytes + BATCH_BYTES
        try:
            for taken, _ in enumerate(steps, start=1):
                if self.progress.bytes >= limit or taken >= BATCH_STEPS:
                    return True
        except ContainmentError as error:
            self._halt = error
        return False

    def _steps(self, files: list[SourceFile]) -> Iterator[None]:
        for file in files:
            self.progress.sources += 1
            try:
                yield from self._source(file)
            except SourceVanished:
                self.progress.late += 1
            except ContainmentError:
                raise
            except (CollectError, OSError) as error:
                self.progress.failed += 1
                self._fail(file, str(error))
            yield None

    def _source(self, file: SourceFile) -> Iterator[None]:
        """One source, from where it was left; each step leaves a state that can be committed."""
        number = self._writer.source(self._instance, file)
        held = self._writer.restore(number)
        current = held is not None and held.checkpoint.revision == self._adapter.revision
        if held is not None and current and self._is_unchanged(file, held):
            if held.removed:
                self._writer.save(number, held.checkpoint, held.state)
            return
        if not quarantine.admits(self._failing(file), file.fingerprint):
            return
        opened = open_source(self._root, file.relpath)
        try:
            start = self._start(number, file, opened, held)
            self.progress.read += 1
            self.progress.rewritten += start.rewritten
            if start.rewritten or not current:
                held = None
            if file.placement.kind.is_document:
                self._document(number, file, opened, start, held)
            else:
                yield from self._lines(number, file, opened, start, held)
        finally:
            os.close(opened.fd)
        self._writer.recovered(self._instance, file)

    def _start(
        self, number: int, file: SourceFile, opened: OpenSource, held: Restored | None
    ) -> Start:
        """Where to begin; what is read again from the start is first taken back."""
        if held is None:
            known = self._writer.generation(number)
            if known is None:
                return Start(0, TailDigest(), rewritten=False)
            self._writer.reset(number, known)
            return Start(known, TailDigest(), rewritten=False)
        start = begin(opened.fd, held.checkpoint, opened.fingerprint)
        if file.relpath in self._rewritten and not start.rewritten:
            return restart(held.checkpoint)
        if held.checkpoint.revision != self._adapter.revision and not start.rewritten:
            self._writer.reset(number, start.generation)
            return Start(start.generation, TailDigest(), rewritten=False)
        return start

    def _is_unchanged(self, file: SourceFile, held: Restored) -> bool:
        same = decide(held.checkpoint, file.fingerprint) is Decision.UNCHANGED
        return same and file.relpath not in self._rewritten

    def is_sound(self, file: SourceFile) -> bool:
        """Whether all bytes consumed of a source are still what they were; true for one that was never read.

        Raises:
            CollectError: It cannot be opened.
        """
        held = self._writer.restore(self._writer.source(self._instance, file))
        if held is None:
            return True
        opened = open_source(self._root, file.relpath)
        try:
            return verify_full(opened.fd, held.checkpoint)
        finally:
            os.close(opened.fd)

    def _lines(
        self, number: int, file: SourceFile, opened: OpenSource, start: Start, held: Restored | None
    ) -> Iterator[None]:
        state = held.state if held is not None else b""
        digest, pending, fresh = start.digest, 0, start.offset == 0
        for piece in read_blocks(
            opened.fd, start.offset, size=opened.fingerprint.size, digest=start.digest
        ):
            if isinstance(piece, Block):
                found = self._adapter.normalize(
                    file.placement, state, _lines_of(piece.offset, piece.data)
                )
                digest = piece.digest
            elif isinstance(piece, OversizeLine):
                fault = LineFault(piece.offset, piece.length, "oversize", "")
                found, digest = Normalized(faults=[fault], state=state), piece.digest
            elif whole := self._adapter.whole_length(piece.data):
                # What stands behind the records waits for its newline: it may come later than they did.
                tail = piece.data[:whole]
                found = self._adapter.normalize(file.placement, state, [(piece.offset, tail)])
                digest, pending = digest.extend(tail), piece.length - whole
            else:
                pending = piece.length
                continue
            state = found.state
            self._writer.record(number, start.generation, found, fresh=fresh)
            fresh = False
            self.progress.bytes += _length(piece)
            # Half-read, a source must not look finished to a later run: its fingerprint is saved as of what was consumed.
            self._save(
                number, start, digest, _partial(opened.fingerprint, digest.length), state=state
            )
            yield None
        self._save(number, start, digest, opened.fingerprint, pending=pending, state=state)

    def _document(
        self, number: int, file: SourceFile, opened: OpenSource, start: Start, held: Restored | None
    ) -> None:
        size = opened.fingerprint.size
        if held is not None and start.offset == size and size:
            self._save(number, start, start.digest, opened.fingerprint)
            return
        data = b"".join(_contents(opened.fd, size))
        self.progress.bytes += len(data)
        found = self._adapter.sidecar(file.placement, data)
        if held is not None and found is None and held.checkpoint.pending == len(data):
            self._save(number, start, start.digest, opened.fingerprint, pending=len(data))
            return  # as unreadable as before
        if held is not None:
            self._writer.reset(number, start.generation)
        if found is None:
            fault = LineFault(0, len(data), "json", "")
            self._writer.record(number, start.generation, Normalized(faults=[fault]), fresh=True)
            self._save(number, start, TailDigest(), opened.fingerprint, pending=len(data))
            return
        self._writer.record(number, start.generation, found, fresh=True)
        self._save(number, start, TailDigest().extend(data), opened.fingerprint)

    def _save(  # noqa: PLR0913 - the parts of a checkpoint
        self,
        number: int,
        start: Start,
        digest: TailDigest,
        fingerprint: Fingerprint,
        *,
        pending: int = 0,
        state: bytes = b"",
    ) -> None:
        checkpoint: Checkpoint = advance(
            start, digest, fingerprint, pending=pending, revision=self._adapter.revision
        )
        self._writer.save(number, checkpoint, state)

    def _failing(self, file: SourceFile) -> quarantine.Failing | None:
        state = self._writer.failing(self._instance, file)
        return msgspec.msgpack.decode(state, type=quarantine.Failing) if state is not None else None

    def _fail(self, file: SourceFile, reason: str) -> None:
        state = quarantine.fail(self._failing(file), file.fingerprint, reason)
        self._writer.failed(self._instance, file, msgspec.msgpack.encode(state))


def _lines_of(offset: int, data: bytes) -> Iterator[tuple[int, bytes]]:
    for line in data.split(b"\n"):
        yield offset, line
        offset += len(line) + 1


def _length(piece: Piece) -> int:
    return len(piece.data) if isinstance(piece, Block) else piece.length


def _partial(fingerprint: Fingerprint, offset: int) -> Fingerprint:
    return Fingerprint(offset, 0, 0, fingerprint.inode, fingerprint.device)


def _contents(fd: int, size: int) -> Iterator[bytes]:
    position = 0
    while position < size:
        chunk = os.pread(fd, size - position, position)
        if not chunk:
            return
        position += len(chunk)
        yield chunk
