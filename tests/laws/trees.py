"""Trees of transcripts for the laws: real shapes, then made unruly, and ways to grow them on disk."""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from stemma.bootstrap import collector, find_roots, writing
from stemma.model.source import TickOutcome
from stemma.store.sqlite.connection import connect
from stemma.store.sqlite.dump import dump
from stemma.store.sqlite.writer import Writer

Tree = dict[str, bytes]
"""Contents of files by their path below the projects folder."""

SAMPLE = Path(__file__).resolve().parents[2] / "src" / "stemma" / "sample" / "projects"


def tree_of(folder: Path) -> Tree:
    """The tree that a projects folder holds."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def shared_folder() -> Path:
    """The folder of corpora and cases; it must be there, or the laws were not tested on real data."""
    folder = Path(os.environ.get("STEMMA_SHARED", Path(__file__).resolve().parents[3] / "shared"))
    if not folder.is_dir():
        raise FileNotFoundError(f"no corpora at {folder}: set STEMMA_SHARED")
    return folder


@contextmanager
def workplace() -> Iterator[Path]:
    """A private folder on a memory file system where there is one: the laws are about content, not about disks."""
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - a private folder is made in it
    folder = Path(tempfile.mkdtemp(prefix="stemma-laws-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def write(folder: Path, tree: Tree) -> None:
    """Put a tree below ``folder/projects``."""
    for relpath, data in tree.items():
        path = folder / "projects" / relpath
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (folder / "projects").mkdir(exist_ok=True)


def tick(writer: Writer, folder: Path) -> int:
    """One pass over ``folder/projects`` by a collector that has seen nothing; evidence rows written by it."""
    before = writer.rows_written
    for spec in find_roots([folder / "projects"], {}, "/").specs:
        report = collector(writer, spec, host="host").tick()
        assert report.outcome in (TickOutcome.INGESTED, TickOutcome.UNCHANGED), report
    return writer.rows_written - before


def content(database: Path) -> list[str]:
    """The logical dump of every evidence table, as lines."""
    connection = connect(database, writer=False)
    try:
        return [
            f"{row.table} {msgspec.json.encode(row.values).decode()}" for row in dump(connection)
        ]
    finally:
        connection.close()


def at_once(folder: Path, database: Path) -> list[str]:
    """What one pass over the finished tree comes to."""
    with writing(database) as writer:
        tick(writer, folder)
    return content(database)


def difference(one: list[str], other: list[str]) -> list[str]:
    """Lines of either dump that the other lacks, shortened: what a failing law shows."""
    mine, theirs = set(one), set(other)
    only = [f"- {line[:600]}" for line in sorted(mine - theirs)[:6]]
    return [*only, *(f"+ {line[:600]}" for line in sorted(theirs - mine)[:6])]


# ---------------------------------------------------------------------------------- growing


def grow(folder: Path, tree: Tree, rng: random.Random, moment: Callable[[], None]) -> None:
    """Write a tree piece by piece in a random interleaving, with ``moment`` called between pieces.

    Pieces end anywhere, also inside a line or a character; documents appear whole, as clients write them.
    """
    position = dict.fromkeys(tree, 0)
    (folder / "projects").mkdir(parents=True, exist_ok=True)
    while position:
        relpath = rng.choice(list(position))
        data, start = tree[relpath], position[relpath]
        end = len(data) if relpath.endswith(".json") else _piece_end(data, start, rng)
        path = folder / "projects" / relpath
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(data[start:end])
        position[relpath] = end
        if end >= len(data):
            del position[relpath]
        moment()


def _piece_end(data: bytes, start: int, rng: random.Random) -> int:
    end = start + 1 + int(rng.random() ** 3 * len(data))
    if rng.random() < 0.5:
        newline = data.find(b"\n", end)
        end = newline + 1 if newline >= 0 else len(data)
    return min(end, len(data))


# ---------------------------------------------------------------------------------- making unruly


def unruly(tree: Tree, rng: random.Random, rate: float = 0.12) -> Tree:
    """The tree with its transcripts disturbed: lines lost, repeated, swapped, glued, torn, undated, renamed."""
    return {
        relpath: _disturbed(data, rng, rate) if relpath.endswith(".jsonl") else data
        for relpath, data in tree.items()
    }


def _disturbed(data: bytes, rng: random.Random, rate: float) -> bytes:
    lines = data.splitlines()
    out: list[bytes] = []
    for line in lines:
        if rng.random() >= rate:
            out.append(line)
            continue
        rng.choice(_DISTURBANCES)(out, line, rng)
    ending = b"" if rng.random() < 0.3 else b"\n"
    return b"\n".join(out) + ending


def _lose(out: list[bytes], line: bytes, rng: random.Random) -> None:
    del out, line, rng


def _repeat(out: list[bytes], line: bytes, rng: random.Random) -> None:
    out.extend([line] * rng.randint(2, 3))


def _swap(out: list[bytes], line: bytes, rng: random.Random) -> None:
    out.insert(rng.randint(max(len(out) - 3, 0), len(out)), line)


def _glue(out: list[bytes], line: bytes, rng: random.Random) -> None:
    del rng
    if out:
        out[-1] += line
    else:
        out.append(line)


def _tear(out: list[bytes], line: bytes, rng: random.Random) -> None:
    out.append(line[: rng.randint(0, len(line))])


def _dress(out: list[bytes], line: bytes, rng: random.Random) -> None:
    out.append(rng.choice([b"\xef\xbb\xbf" + line, line + b"\r", b"\x00\x00" + line, b"  " + line]))


def _without(*names: str) -> Callable[[list[bytes], bytes, random.Random], None]:
    def change(out: list[bytes], line: bytes, rng: random.Random) -> None:
        record = _object(line)
        for name in names:
            if rng.random() < 0.7:
                record.pop(name, None)
        out.append(json.dumps(record, separators=(",", ":")).encode())

    return change


def _retime(out: list[bytes], line: bytes, rng: random.Random) -> None:
    record = _object(line)
    record["timestamp"] = f"2026-11-{rng.randint(1, 28):02d}T{rng.randint(0, 23):02d}:00:00.000Z"
    out.append(json.dumps(record, separators=(",", ":")).encode())


def _object(line: bytes) -> dict[str, object]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


_DISTURBANCES = (
    _lose, _repeat, _swap, _glue, _tear, _dress, _retime, _without("timestamp"), _without("uuid", "parentUuid"),
    _without("requestId"), _without("sessionId", "agentId"), _without("toolUseResult"),
)  # fmt: skip
