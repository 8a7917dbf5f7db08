"""All ingest budgets in one run, each beside its figure: ``python -m bench.run``.

CPU times are of this process. Ratios compare measurements of the same run, since absolute figures depend on the machine.
The corpora are generated under ``--work``; a memory file system keeps the disk out of the figures.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from bench.corpus import generate, grow_session, many_files
from bench.decode_floor import measure
from stemma.bootstrap import collector, find_roots, writing
from stemma.operate.collector import Collector, PassReport
from stemma.store.sqlite.writer import Writer

MEGABYTE = 1_000_000
TICK_LIMIT_MS = 10.0
APPEND_LIMIT_MS = 5.0
MEMORY_LIMIT_MB = 200.0
COLD_FLOOR = 100.0
COLD_GOAL = 150.0
DECODE_RATIO_LIMIT = 3.0
DATABASE_LIMIT = 0.10
USAGE_LIMIT_BYTES = 512.0


class Figure(msgspec.Struct, frozen=True):
    """One measurement.

    Attributes:
        name: What was measured.
        value: The figure.
        unit: Its unit.
        budget: The budget it is held against, as text.
        met: Whether it meets the budget.
    """

    name: str
    value: float
    unit: str
    budget: str
    met: bool


@contextmanager
def opened(folder: Path) -> Iterator[tuple[Writer, Collector]]:
    """A fresh database and a collector for the tree in a folder."""
    database = folder.with_suffix(".db")
    for suffix in ("", "-wal", "-shm"):
        Path(f"{database}{suffix}").unlink(missing_ok=True)
    with writing(database) as writer:
        spec = find_roots([folder / "projects"], {}, "/").specs[0]
        yield writer, collector(writer, spec, host="bench")


def cold(folder: Path, rounds: int) -> tuple[float, PassReport, int]:
    """Least CPU seconds of a first pass over a tree, with everything derived; its report; the database's size."""
    best, report, size = float("inf"), None, 0
    for _ in range(rounds):
        with opened(folder) as (_writer, watching):
            began = time.process_time()
            report = watching.tick()
            best = min(best, time.process_time() - began)
        size = folder.with_suffix(".db").stat().st_size
    if report is None:
        raise ValueError("at least one round")
    return best, report, size


def cold_figures(work: Path, small_mb: int, large_mb: int, rounds: int) -> list[Figure]:
    """Cold ingest by the slope of two corpus sizes, against a typed decode of the same bytes, and the database's size."""
    small, large = work / "small", work / "large"
    generate(small, megabytes=small_mb, seed=1)
    generate(large, megabytes=large_mb, seed=2)
    small_cpu, small_report, _ = cold(small, rounds)
    large_cpu, large_report, size = cold(large, rounds)
    stages = {stage.stage: stage.cpu_seconds for stage in measure(large, rounds=rounds).stages}
    slope = (large_report.bytes - small_report.bytes) / MEGABYTE / (large_cpu - small_cpu)
    ratio = large_cpu / stages["decode"]
    share = size / large_report.bytes
    per_message = _usage_bytes(large.with_suffix(".db"))
    return [
        Figure("cold ingest, slope", slope, "MB/CPU-s", f"floor {COLD_FLOOR:.0f}, goal {COLD_GOAL:.0f}", slope >= COLD_FLOOR),
        Figure("cold ingest, large corpus", large_report.bytes / MEGABYTE / large_cpu, "MB/CPU-s", "", met=True),
        Figure("typed decode of the same bytes", large_report.bytes / MEGABYTE / stages["decode"], "MB/CPU-s", "", met=True),
        Figure("cold ingest / typed decode", ratio, "x CPU", f"<= {DECODE_RATIO_LIMIT:.0f}", ratio <= DECODE_RATIO_LIMIT),
        Figure("database / corpus", share * 100, "%", "<= 10", share <= DATABASE_LIMIT),
        Figure("usage per message", per_message, "bytes", f"<= {USAGE_LIMIT_BYTES:.0f}", per_message <= USAGE_LIMIT_BYTES),
    ]  # fmt: skip


def _expect(held: bool, what: str) -> None:  # noqa: FBT001 - the condition itself
    """A benchmark that measures something else is worse than none."""
    if not held:
        raise RuntimeError(f"not measured: {what} did not hold")


def _usage_bytes(database: Path) -> float:
    """Bytes that usage and its claims take per counted message, with their indexes."""
    import apsw  # noqa: PLC0415 - only this measurement looks inside the file

    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    used = connection.execute(
        "SELECT sum(pgsize) FROM dbstat WHERE name IN ('usage', 'usage_claims', 'usage_by_session', 'message_sessions')"
    ).get
    messages = int(connection.execute("SELECT count(*) FROM usage WHERE part = 0").get)
    return float(used) / max(messages, 1)


def append_figures(work: Path, megabytes: int, appends: int) -> list[Figure]:
    """One line appended to a large session, then a tick; once a line of every kind has come."""
    folder = work / "grow"
    session = folder / "projects" / "-p" / "11111111-1111-4111-8111-111111111111.jsonl"
    session.parent.mkdir(parents=True)
    further = grow_session(session, megabytes=megabytes, seed=1)
    times = []
    with opened(folder) as (_writer, watching):
        watching.tick()
        for _ in range(appends):
            with session.open("ab") as file:
                file.write(next(further))
            began = time.process_time()
            report = watching.tick()
            times.append((time.process_time() - began) * 1000)
            _expect(report.read == 1, "the appended line was read")
    times.sort()
    median, high = times[len(times) // 2], times[int(len(times) * 0.95)]
    budget = f"<= {APPEND_LIMIT_MS:.0f}"
    return [
        Figure(
            f"append of a line at {megabytes} MB, median",
            median,
            "ms CPU",
            budget,
            median <= APPEND_LIMIT_MS,
        ),
        Figure(
            f"append of a line at {megabytes} MB, p95",
            high,
            "ms CPU",
            budget,
            high <= APPEND_LIMIT_MS,
        ),
    ]


def idle_figures(work: Path, files: int, ticks: int) -> list[Figure]:
    """A tick when nothing changed, averaged over enough ticks for every rotation to come round."""
    folder = work / "many"
    many_files(folder, files=files)
    with opened(folder) as (_writer, watching):
        watching.tick()
        began = time.process_time()
        for _ in range(ticks):
            _expect(watching.tick().read == 0, "nothing was read")
        average = (time.process_time() - began) * 1000 / ticks
    return [
        Figure(
            f"idle tick, {files:,} files",
            average,
            "ms CPU",
            f"<= {TICK_LIMIT_MS:.0f}",
            average <= TICK_LIMIT_MS,
        )
    ]


_WRITE = """
import sys
from pathlib import Path
from bench.corpus import grow_session
grow_session(Path(sys.argv[1]), megabytes=int(sys.argv[2]), seed=1)
"""


def memory_figures(work: Path, megabytes: int) -> list[Figure]:
    """Peak memory of a process that reads one large session."""
    folder = work / "big"
    session = folder / "projects" / "-p" / "11111111-1111-4111-8111-111111111111.jsonl"
    session.parent.mkdir(parents=True)
    subprocess.run(  # noqa: S603 - our own interpreter and module
        [sys.executable, "-c", _WRITE, str(session), str(megabytes)], check=True
    )
    peak = float(
        subprocess.run(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-m", "bench.run", "--peak-of", str(folder)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    )
    return [
        Figure(f"peak memory, one session of {megabytes} MB", peak, "MB RSS", f"< {MEMORY_LIMIT_MB:.0f}", peak < MEMORY_LIMIT_MB)
    ]  # fmt: skip


def _peak_of(folder: Path) -> float:
    with opened(folder) as (_writer, watching):
        watching.tick()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024 if sys.platform != "darwin" else peak / 1024 / 1024


def _show(figures: list[Figure]) -> None:
    for figure in figures:
        mark = "" if not figure.budget else ("ok" if figure.met else "MISSED")
        sys.stdout.write(
            f"{figure.name:<46}{figure.value:>12.2f} {figure.unit:<9} {figure.budget:<22}{mark}\n"
        )
    sys.stdout.flush()


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; its exit code is 0 also when a budget is missed: the figures say so."""
    parser = argparse.ArgumentParser(prog="python -m bench.run", description=__doc__)
    parser.add_argument(
        "--work", type=Path, help="folder for the corpora (default: a temporary one)"
    )
    parser.add_argument(
        "--quick", action="store_true", help="small corpora: to see that it runs, not for figures"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--peak-of", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.peak_of is not None:
        sys.stdout.write(f"{_peak_of(options.peak_of):.1f}\n")
        return 0
    parent = options.work or (Path("/dev/shm") if Path("/dev/shm").is_dir() else None)  # noqa: S108 - a memory file system, with a private folder in it
    work = Path(tempfile.mkdtemp(prefix="stemma-bench-", dir=parent))
    scale = 10 if options.quick else 1
    steps: list[Callable[[], list[Figure]]] = [
        lambda: cold_figures(work, 100 // scale, 300 // scale, options.rounds),
        lambda: append_figures(work, 50 // scale, 400 // scale),
        lambda: idle_figures(work, 10_000 // scale, 400),
        lambda: memory_figures(work, 600 // scale),
    ]
    figures: list[Figure] = []
    try:
        for step in steps:
            found = step()
            figures.extend(found)
            if not options.json:
                _show(found)
    finally:
        shutil.rmtree(work)
    if options.json:
        sys.stdout.write(msgspec.json.encode(figures).decode() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
