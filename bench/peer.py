"""Ours beside ``ccusage`` on one generated corpus, in one run: ``python -m bench.peer``.

Wall times of whole processes, taken in turns so that both see the same machine; caches are warm, on both sides. The peer
is its native build, installed by npm into a temporary folder; where that cannot be had, the run says so and ends well.
A warm report of ours reads the database; so a pass that finds nothing new, and the first pass, stand beside it.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from bench.corpus import generate
from bench.peer_report import (
    Comparison,
    Timing,
    copies_without_request,
    explained,
    generated,
    ours,
    show,
    theirs,
)

VERSION = "20.0.24"
"""The newest one whose native build for Linux is published."""

_INSTALL_SECONDS = 120


class Command:
    """A command line that is timed.

    Attributes:
        name: What it is called in the table.
        milliseconds: Its wall times.
        processor: Its CPU times.
        output: What it printed last.
    """

    def __init__(
        self,
        name: str,
        arguments: Sequence[str | Path],
        environment: dict[str, str],
        *,
        data: bytes = b"",
        before: Callable[[], None] | None = None,
    ) -> None:
        self.name = name
        self.milliseconds: list[float] = []
        self.processor: list[float] = []
        self.output = b""
        self._arguments = [str(one) for one in arguments]
        self._environment = environment
        self._data = data
        self._before = before

    def run(self, *, timed: bool = True) -> None:
        """Run it once; a failure ends the comparison."""
        if self._before is not None:
            self._before()
        began, spent = time.perf_counter(), _children()
        done = subprocess.run(  # noqa: S603 - our own command lines
            self._arguments,
            env=self._environment,
            input=self._data,
            capture_output=True,
            check=True,
        )
        if timed:
            self.milliseconds.append((time.perf_counter() - began) * 1000)
            self.processor.append((_children() - spent) * 1000)
        self.output = done.stdout

    def timing(self) -> Timing:
        """Its figures."""
        taken = self.milliseconds
        return Timing(
            self.name,
            statistics.median(taken),
            min(taken),
            max(taken),
            min(self.processor),
            len(taken),
        )


def _children() -> float:
    """CPU seconds of all processes that have been waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def install_peer(folder: Path, version: str) -> Path | None:
    """Install the peer's native build; nothing when there is no npm, no network or no build for this machine."""
    npm = shutil.which("npm")
    if npm is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    try:
        subprocess.run(  # noqa: S603 - npm as found on PATH
            [npm, "install", "--prefix", str(folder), "--ignore-scripts", "--no-audit", "--no-fund", f"ccusage@{version}"],
            cwd=folder, capture_output=True, check=True, timeout=_INSTALL_SECONDS,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    for found in folder.glob("node_modules/@ccusage/*/bin/ccusage"):
        found.chmod(0o755)
        return found
    return None


def compare(work: Path, *, megabytes: int, rounds: int, version: str) -> Comparison:
    """Generate a corpus, then time and compare.

    Args:
        work: A folder of its own.
        megabytes: Size of the corpus.
        rounds: How often each command is timed.
        version: Version of the peer.
    """
    corpus = work / "corpus"
    summary = generate(corpus, megabytes=megabytes, seed=1)
    database = work / "stemma.db"
    stemma: list[str | Path] = [sys.executable, "-m", "stemma"]
    mine = _environment(work, PYTHONPYCACHEPREFIX=str(work / "pyc"))  # compiled, as installed
    mine.pop("PYTHONDONTWRITEBYTECODE", None)
    place: list[str | Path] = ["--database", database]

    def remove() -> None:
        for path in work.glob("stemma.db*"):
            path.unlink()

    cold = Command(
        "stemma ingest, cold", [*stemma, "ingest", corpus / "projects", *place], mine, before=remove
    )
    cold.run(timed=False)
    word = _report_word([*stemma, "cost", "--json", *place], mine)
    given = b'{"session_id":"none","context_window":{"used_percentage":40}}'
    report = Command(f"stemma {word} --json, warm", [*stemma, word, "--json", *place], mine)
    commands = [
        report,
        Command(
            "stemma ingest, nothing new", [*stemma, "ingest", corpus / "projects", *place], mine
        ),
        Command("stemma statusline", [*stemma, "statusline", *place], mine, data=given),
        Command("python, nothing else", [sys.executable, "-c", "pass"], mine),
    ]
    native = install_peer(work / "peer", version)
    peer = None
    if native is not None:
        environment = _environment(work, CLAUDE_CONFIG_DIR=str(corpus))
        peer = Command(
            "ccusage daily --json --offline", [native, "daily", "--json", "--offline"], environment
        )
        commands.append(peer)
    for command in commands:
        command.run(timed=False)
    for _ in range(rounds):
        for command in commands:
            command.run()
    tokens = Command("", [*stemma, "usage", "--json", *place], mine)
    tokens.run(timed=False)
    for _ in range(rounds):
        cold.run()
    sums = {"generator": generated(summary), "stemma": ours(tokens.output, report.output)}
    if peer is not None:
        sums["ccusage"] = theirs(peer.output)
    ratio = None
    if peer is not None:
        ratio = statistics.median(peer.milliseconds) / statistics.median(report.milliseconds)
    return Comparison(
        f"ccusage {version}" if peer is not None else None,
        f"stemma {word} --json",
        summary,
        [one.timing() for one in (*commands, cold)],
        ratio,
        sums,
        explained(sums, copies_without_request(corpus)),
    )


def _environment(work: Path, **more: str) -> dict[str, str]:
    """The environment without anything of the user's own."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("STEMMA_", "CLAUDE_", "XDG_"))
    }
    return {**kept, "HOME": str(work / "home"), "TZ": "UTC", **more}


def _report_word(arguments: list[str | Path], environment: dict[str, str]) -> str:
    """``cost``, or ``usage`` for as long as there is no such report."""
    done = subprocess.run(  # noqa: S603 - our own command line
        [str(one) for one in arguments], env=environment, capture_output=True, check=False
    )
    return "cost" if done.returncode == 0 else "usage"


def main(arguments: list[str] | None = None) -> int:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.peer", description=__doc__)
    parser.add_argument("--mb", type=int, default=300, help="size of the corpus")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--version", default=VERSION, help="version of ccusage")
    parser.add_argument(
        "--work", type=Path, help="folder for everything (default: a temporary one)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    parent = options.work or (Path("/dev/shm") if Path("/dev/shm").is_dir() else None)  # noqa: S108 - a memory file system, with a private folder in it
    work = Path(tempfile.mkdtemp(prefix="stemma-peer-", dir=parent))
    try:
        found = compare(work, megabytes=options.mb, rounds=options.rounds, version=options.version)
    finally:
        shutil.rmtree(work)
    if options.json:
        sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
    else:
        show(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
