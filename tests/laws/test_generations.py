"""Rewritten, pruned and removed files: the state is a function of the generations observed, and nothing counted is lost."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.laws.trees import SAMPLE, content, difference, tick, tree_of, workplace, write

from stemma.bootstrap import writing
from stemma.store.sqlite.writer import Writer


@pytest.fixture
def place() -> Iterator[Path]:
    """A private folder with the sample in it."""
    with workplace() as folder:
        write(folder, tree_of(SAMPLE))
        yield folder


def largest(place: Path) -> Path:
    """The longest transcript."""
    return max((place / "projects").rglob("*.jsonl"), key=lambda path: path.stat().st_size)


def tokens(writer: Writer) -> int:
    """All counted tokens."""
    return int(
        writer.connection.execute(
            "SELECT sum(input + output + cache_write_5m + cache_write_1h + cache_read) FROM usage"
        ).get
    )


def test_pruned_and_rewritten_files_never_lower_a_count(place: Path) -> None:
    """A client that prunes its own transcript takes nothing out of the record."""
    with writing(place / "a.db") as writer:
        tick(writer, place)
        before = tokens(writer)
        path = largest(place)
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[: len(lines) // 3]))
        assert tick(writer, place) > 0
        assert tokens(writer) == before
        path.write_bytes(b"".join(lines[len(lines) // 2 :]))
        tick(writer, place)
        assert tokens(writer) == before
        assert writer.connection.execute("SELECT max(generation) FROM generations").get == 2


def test_the_same_generations_give_the_same_evidence(place: Path) -> None:
    """Whether each was read at once or piece by piece, and however often in between."""
    path = largest(place)
    original = path.read_bytes()
    lines = original.splitlines(keepends=True)
    generations = [original, b"".join(lines[3:9]), b"".join(lines[5:])]
    for name, pieces in (("a.db", 1), ("b.db", 4)):
        with writing(place / name) as writer:
            for data in generations:
                path.unlink()
                for piece in range(1, pieces + 1):
                    path.write_bytes(data[: len(data) * piece // pieces])
                    tick(writer, place)
                    tick(writer, place)
    assert difference(content(place / "a.db"), content(place / "b.db")) == []


def test_a_touched_or_copied_file_is_no_new_evidence(place: Path) -> None:
    """Other times, other permissions or another inode with the same bytes change nothing."""
    with writing(place / "a.db") as writer:
        tick(writer, place)
        path = largest(place)
        os.utime(path, (1, 1))
        assert tick(writer, place) == 0
        path.chmod(0o600)
        assert tick(writer, place) == 0
        copy = path.with_suffix(".copy")
        shutil.copyfile(path, copy)
        copy.replace(path)
        assert tick(writer, place) == 0
        assert writer.connection.execute("SELECT max(generation) FROM generations").get == 0


def test_other_bytes_behind_the_same_size_and_times_are_noticed(place: Path) -> None:
    """A rewrite in the middle of a file whose size and modification time were restored begins a generation."""
    with writing(place / "a.db") as writer:
        tick(writer, place)
        path = largest(place)
        status = path.stat()
        data = bytearray(path.read_bytes())
        middle = data.index(b'"output_tokens":', len(data) // 2) + len(b'"output_tokens":')
        data[middle : middle + 1] = b"9" if data[middle : middle + 1] != b"9" else b"8"
        with path.open("r+b") as file:
            file.write(data)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert path.stat().st_size == status.st_size
        assert path.stat().st_mtime_ns == status.st_mtime_ns
        assert tick(writer, place) > 0
        assert writer.connection.execute("SELECT max(generation) FROM generations").get == 1


def test_a_removed_source_keeps_its_record_and_is_marked(place: Path) -> None:
    """Agents delete transcripts after some weeks; what they said stays, and comes to life again with the file."""
    with writing(place / "a.db") as writer:
        tick(writer, place)
        before = content_of(writer, place)
        path = largest(place)
        kept = path.read_bytes()
        path.unlink()
        assert tick(writer, place) == 0
        assert (
            writer.connection.execute("SELECT count(*) FROM checkpoints WHERE removed_at > 0").get
            == 1
        )
        assert content_of(writer, place) == before
        path.write_bytes(kept)
        assert tick(writer, place) == 0
        assert (
            writer.connection.execute("SELECT count(*) FROM checkpoints WHERE removed_at > 0").get
            == 0
        )


def content_of(writer: Writer, place: Path) -> list[str]:
    """The logical dump, read beside the open writer."""
    del writer
    return content(place / "a.db")


def test_a_sidecar_that_is_not_complete_yet_is_no_fault_afterwards(place: Path) -> None:
    """A half-written document is a fault only as long as it is all there is."""
    path = next((place / "projects").rglob("*.meta.json"))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with writing(place / "a.db") as writer:
        tick(writer, place)
        assert writer.connection.execute("SELECT count(*) FROM line_faults").get == 1
        path.write_bytes(whole)
        tick(writer, place)
        assert writer.connection.execute("SELECT count(*) FROM line_faults").get == 0
    with writing(place / "b.db") as writer:
        tick(writer, place)
    assert difference(content(place / "a.db"), content(place / "b.db")) == []
