"""Measure what reading transcripts must cost at least: ``python -m bench.decode_floor PATH``.

Three stages, each including the one before: reading all bytes, splitting them
into lines, and decoding every line into a struct with only the fields a reader
needs. A reader cannot be faster than the last figure without decoding less.
"""

import argparse
import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

MEGABYTE = 1_000_000


class CacheCreation(msgspec.Struct, gc=False):
    """Cache writes by lifetime."""

    ephemeral_5m_input_tokens: int = 0
    ephemeral_1h_input_tokens: int = 0


class Usage(msgspec.Struct, gc=False):
    """Token counters of a response."""

    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0
    cache_read_input_tokens: int | None = 0
    cache_creation: CacheCreation | None = None


class Block(msgspec.Struct, gc=False):
    """The identifying members of a content block."""

    type: str = ""
    id: str | None = None
    name: str | None = None
    tool_use_id: str | None = None


class Message(msgspec.Struct):
    """An API message; plain string content stays undecoded."""

    id: str | None = None
    model: str | None = None
    usage: Usage | None = None
    content: list[Block] | str | None = None


class Record(msgspec.Struct, rename="camel"):
    """The members of a transcript line that a reader needs."""

    type: str = ""
    uuid: str | None = None
    parent_uuid: str | None = None
    timestamp: str | None = None
    session_id: str | None = None
    is_sidechain: bool = False
    request_id: str | None = None
    message: Message | None = None


class Stage(msgspec.Struct, frozen=True):
    """One measured stage; ``mb_per_cpu_second`` is null if it took no measurable time."""

    stage: str
    cpu_seconds: float
    mb_per_cpu_second: float | None


class Floor(msgspec.Struct, frozen=True):
    """The result of a run; ``errors`` counts lines that did not decode."""

    files: int
    bytes: int
    lines: int
    errors: int
    stages: list[Stage]


class _Run:
    """One pass after another over the same files."""

    def __init__(self, files: list[Path]) -> None:
        self.files = files
        self.size = self.lines = self.errors = 0
        self._decode = msgspec.json.Decoder(Record).decode

    def read(self) -> None:
        """Read every byte."""
        self.size = sum(len(path.read_bytes()) for path in self.files)

    def split(self) -> None:
        """Read and split into lines."""
        self.lines = sum(len(_lines(path)) for path in self.files)

    def decode(self) -> None:
        """Read, split and decode."""
        decode, errors = self._decode, 0
        for path in self.files:
            for line in _lines(path):
                try:
                    decode(line)
                except msgspec.MsgspecError:
                    errors += 1
        self.errors = errors


def _lines(path: Path) -> list[bytes]:
    lines = path.read_bytes().split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def measure(path: Path, *, rounds: int = 3) -> Floor:
    """Run every stage ``rounds`` times over the transcripts under ``path``; keep each one's best.

    Args:
        path: A transcript or a folder searched for ``*.jsonl``.
        rounds: Repetitions; the first also warms the page cache.
    """
    run = _Run([path] if path.is_file() else sorted(path.rglob("*.jsonl")))
    times = {action.__name__: _best(action, rounds) for action in (run.read, run.split, run.decode)}
    stages = [
        Stage(name, round(cpu, 4), round(run.size / MEGABYTE / cpu, 1) if cpu else None)
        for name, cpu in times.items()
    ]
    return Floor(len(run.files), run.size, run.lines, run.errors, stages)


def _best(action: Callable[[], None], rounds: int) -> float:
    """Return the least CPU time of ``action``, measured as a long-running reader would run: without old garbage."""
    times = []
    for _ in range(rounds):
        gc.collect()
        began = time.process_time()
        action()
        times.append(time.process_time() - began)
    return min(times)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.decode_floor", description=__doc__)
    parser.add_argument("path", type=Path, help="transcript file or folder")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    floor = measure(options.path, rounds=options.rounds)
    if options.json:
        sys.stdout.write(msgspec.json.encode(floor).decode() + "\n")
        return 0
    sys.stdout.write(
        f"{floor.files} files, {floor.bytes / MEGABYTE:.1f} MB, {floor.lines} lines, {floor.errors} errors\n"
    )
    for stage in floor.stages:
        speed = stage.mb_per_cpu_second
        sys.stdout.write(
            f"{stage.stage:>7}  {stage.cpu_seconds:8.3f} s CPU  {speed or '-':>8} MB/CPU-s\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
