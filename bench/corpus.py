"""Generate transcript trees for benchmarks: ``python -m bench.corpus OUT --mb 300 --seed 1``.

The trees imitate what six versions of a coding agent write, with invented text
only, and come with the totals a correct reader must find. Everything follows
from the size and the seed: the same call writes the same bytes.
"""

# the chances of a mix are plain numbers
# ruff: noqa: PLR2004

import argparse
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from bench.corpus_dialects import DIALECTS, Dialect, Level, most_wanted
from bench.corpus_sessions import Origin, Plan, Session, project_folder
from bench.corpus_text import WORDS, Sizes
from bench.corpus_turns import Tally

MEGABYTE = 1_000_000
FIRST_DAY_MS = 1_756_684_800_000  # 2025-09-01
DAY_MS = 86_400_000
DAYS_PER_VERSION = 70
FLUSH_BYTES = 8 * MEGABYTE
SESSION_SIZES = Sizes(median=340_000, p90=3_000_000, low=3_000, high=14_000_000)
GIANT_EVERY_MB = 100
REAL_MEAN_LINE = 3_080
FIXED_MEAN_LINE = 1_590  # what a line holds beside its filler
SMALLEST_SESSION = 3_000
LINEAGES, FORKED, CLEARED = 14, 3, 6  # one session in 14 is forked, one goes on after /clear
AGENT_ROOM_BYTES = 60_000  # what must be left of the corpus for each agent of a session
OPENING_BYTES = 150_000  # what the newest version may write before the first prompt, and some room


class CorpusSummary(msgspec.Struct, frozen=True):
    """What a tree holds, as its generator knows it.

    Attributes:
        files: Transcript files; ``sidecars`` counts ``meta.json`` files.
        bytes: Bytes in transcript files.
        agents: Subagents that a call started, in files of their own or inline.
        warmups: Agent files that no call points at.
        messages: API responses, each counted once; token fields sum over them.
        output: Most that the records report; ``output_true`` is what was charged.
    """

    files: int
    sidecars: int
    bytes: int
    lines: int
    sessions: int
    agents: int
    warmups: int
    messages: int
    input: int
    output: int
    output_true: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int


@dataclass
class Tree:
    """A ``projects/`` folder being filled, and counts of what went in."""

    root: Path
    tally: Tally
    files: int = 0
    sidecars: int = 0
    size: int = 0
    lines: int = 0
    sessions: int = 0
    agents: int = 0
    warmups: int = 0

    def write(self, session: Session) -> None:
        """Write a finished session with its agents."""
        path = self.root / project_folder(session.plan.cwd) / f"{session.id}.jsonl"
        self._put(path, session.lines.drain(), session.lines.count)
        for agent in session.agent_files:
            agent_path = session.agent_path(path, agent)
            self._put(agent_path, agent.lines.drain(), agent.lines.count)
            if agent.meta:
                agent_path.with_suffix(".meta.json").write_bytes(agent.meta.encode("latin-1"))
                self.sidecars += 1
        nested = sum(agent.nested for agent in session.agent_files)
        self.sessions += 1
        self.agents += session.agents_called + nested
        self.warmups += sum(agent.warmup for agent in session.agent_files)

    def _put(self, path: Path, data: bytes, lines: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self.files += 1
        self.size += len(data)
        self.lines += lines

    def summary(self) -> CorpusSummary:
        """Return the counts so far."""
        tally = self.tally
        return CorpusSummary(
            files=self.files,
            sidecars=self.sidecars,
            bytes=self.size,
            lines=self.lines,
            sessions=self.sessions,
            agents=self.agents,
            warmups=self.warmups,
            messages=tally.messages,
            input=tally.input,
            output=tally.output,
            output_true=tally.output_true,
            cache_write_5m=tally.cache_write_5m,
            cache_write_1h=tally.cache_write_1h,
            cache_read=tally.cache_read,
        )


def _new_tree(out: Path) -> Tree:
    root = out / "projects"
    if root.exists() and any(root.iterdir()):
        message = f"{root} is not empty: choose another folder or remove it"
        raise FileExistsError(message)
    root.mkdir(parents=True, exist_ok=True)
    return Tree(root, Tally())


def _sizes(megabytes: float, rng: random.Random) -> Iterator[int]:
    """Yield main file sizes without end: a few giants among the real distribution, evenly drawn."""
    giants = int(megabytes // GIANT_EVERY_MB)
    expected = max(
        8, int(megabytes * MEGABYTE * 0.55 / (sum(SESSION_SIZES.table) / len(SESSION_SIZES.table)))
    )
    table = SESSION_SIZES.table
    sizes = [table[int((index + 0.5) * len(table) / expected)] for index in range(expected)]
    rng.shuffle(sizes)
    for index in range(giants):
        sizes.insert(2 + index * 5, int((20 + 6 * rng.random()) * MEGABYTE))
    yield from sizes
    while True:
        yield SESSION_SIZES.draw(rng)


def generate(
    out: Path, *, megabytes: float, seed: int, mean_line: int = REAL_MEAN_LINE
) -> CorpusSummary:
    """Write a tree of about ``megabytes`` (10^6 bytes) under ``out``.

    Args:
        out: Folder that gets ``projects/``; that must not hold anything yet.
        megabytes: Size to aim at; met within a few per cent.
        seed: Everything random follows from it.
        mean_line: Rough mean line length in bytes; the default is the real mix.

    Returns:
        What was written and what a reader should count.
    """
    tree = _new_tree(out)
    rng = random.Random(f"corpus/{seed}")
    target = int(megabytes * MEGABYTE)
    scale = max(0.05, (mean_line - FIXED_MEAN_LINE) / (REAL_MEAN_LINE - FIXED_MEAN_LINE))
    projects = [
        f"/home/dev/{word}" for word in rng.sample(WORDS, min(24, 3 + int(megabytes // 15)))
    ]
    written: dict[Level, int] = {}
    for number, size in enumerate(_sizes(megabytes, rng)):
        before = tree.size
        room = target - before
        if room < target * 0.01 or room < SMALLEST_SESSION:
            break
        own = random.Random(f"{seed}/{number}")
        wanted = Plan(
            most_wanted(written),
            rng.choice(projects),
            FIRST_DAY_MS,
            min(size, room, max(target // 4, SMALLEST_SESSION)),
            text_scale=scale,
        )
        _write_lineage(tree, _planned(wanted, own, room), own, target - before, number % LINEAGES)
        level = wanted.dialect.level
        written[level] = written.get(level, 0) + tree.size - before
    return tree.summary()


def _planned(wanted: Plan, rng: random.Random, room: int) -> Plan:
    """Return ``wanted`` with a day, agents and limits that fit into ``room`` bytes."""
    days = (wanted.dialect.level + rng.random()) * DAYS_PER_VERSION
    agents = 1 + int(rng.random() ** 2 * 8) if rng.random() < 0.25 else 0
    agents = min(agents, (room - wanted.size) // AGENT_ROOM_BYTES)
    plan = wanted._replace(
        start=wanted.start + int(days * DAY_MS),
        agents=agents,
        line_limit=min(2_700_000, max(20_000, wanted.size // 3)),
        plain=room < OPENING_BYTES,
    )
    if agents:
        plan = plan._replace(
            agent_limit=min(plan.agent_limit, (room - wanted.size) // (2 * agents))
        )
    return plan


def _write_lineage(tree: Tree, plan: Plan, rng: random.Random, room: int, kind: int) -> None:
    """Write a session and, for some, what follows from it: a fork or a chain of ``/clear``."""
    session = Session(plan, rng, tree.tally)
    session.run()
    history, before = session.lines.pending[:], tree.size
    tree.write(session)
    room -= tree.size - before
    more = min(plan.size // 3, room // 3)
    later = plan._replace(start=session.clock.now + 60_000, size=more, agents=0)
    if more < OPENING_BYTES // 3:
        return
    if kind == FORKED and plan.size < min(4 * MEGABYTE, room):
        _write_fork(
            tree, later, rng, session, history[: 1 + int(len(history) * (0.3 + 0.4 * rng.random()))]
        )
    elif kind == CLEARED:
        process = session.id
        for _ in range(1 + int(rng.random() * 3)):
            follower = Session(
                later, rng, tree.tally, Origin(session.id, [], process, session.ledger)
            )
            follower.run()
            tree.write(follower)
            later = later._replace(
                start=follower.clock.now + 60_000,
                size=max(SMALLEST_SESSION, min(later.size // 2, more)),
            )


def _write_fork(
    tree: Tree, plan: Plan, rng: random.Random, session: Session, history: list[str]
) -> None:
    copied = sum(map(len, history))
    origin = Origin(session.id, history, "", session.ledger)
    fork = Session(plan._replace(size=copied + plan.size // 4), rng, tree.tally, origin)
    fork.run()
    tree.write(fork)


def grow_session(path: Path, *, megabytes: float, seed: int) -> Iterator[bytes]:
    """Write one session of about ``megabytes`` at ``path``; return its endless further lines.

    Each item is one valid line with its line end, to be appended to the file.
    The file's name need not be the session's id.
    """
    size = int(megabytes * MEGABYTE)
    plan = Plan(DIALECTS[-2], "/home/dev/growing", FIRST_DAY_MS, size, line_limit=200_000)
    session = Session(plan, random.Random(f"grow/{seed}"), Tally())
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        while session.lines.size < size:
            session.turn()
            if session.lines.size - file.tell() > FLUSH_BYTES:
                file.write(session.lines.drain())
        file.write(session.lines.drain())
    return _further_lines(session)


def _further_lines(session: Session) -> Iterator[bytes]:
    while True:
        session.turn()
        yield from session.lines.drain().splitlines(keepends=True)


def many_files(out: Path, *, files: int, seed: int = 1) -> CorpusSummary:
    """Write ``files`` tiny sessions, about fifty to a project folder."""
    return _small(out, sessions=files, agents=0, projects=1 + files // 50, seed=seed)


def scale(out: Path, *, sessions: int, agents: int, seed: int = 1) -> CorpusSummary:
    """Write ``sessions`` small sessions that call ``agents`` small agents between them."""
    return _small(out, sessions=sessions, agents=agents, projects=1 + sessions // 40, seed=seed)


def _small(out: Path, *, sessions: int, agents: int, projects: int, seed: int) -> CorpusSummary:
    tree = _new_tree(out)
    rng = random.Random(f"small/{seed}")
    cwds = [f"/home/dev/{WORDS[number % len(WORDS)]}{number}" for number in range(projects)]
    dialects: tuple[Dialect, ...] = DIALECTS[2:] if agents else DIALECTS
    for number in range(sessions):
        share = agents * (number + 1) // sessions - agents * number // sessions
        plan = Plan(
            dialect=dialects[number % len(dialects)],
            cwd=cwds[number % projects],
            start=FIRST_DAY_MS + number * DAY_MS // 8,
            size=2_000,
            agents=share,
            agent_limit=1_500,
            line_limit=3_000,
            text_scale=0.06,
            plain=True,
        )
        session = Session(plan, rng, tree.tally)
        session.run()
        tree.write(session)
    return tree.summary()


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.corpus", description=__doc__)
    parser.add_argument("out", type=Path, help="folder that gets projects/")
    parser.add_argument(
        "--mb", type=float, default=300, help="size in millions of bytes (default 300)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--mean-line", type=int, default=REAL_MEAN_LINE, help="rough mean line length in bytes"
    )
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    summary = generate(
        options.out, megabytes=options.mb, seed=options.seed, mean_line=options.mean_line
    )
    seconds = time.perf_counter() - began
    report = msgspec.to_builtins(summary) | {
        "seconds": round(seconds, 2),
        "mb_per_second": round(summary.bytes / MEGABYTE / seconds, 1),
        "mean_line": round(summary.bytes / max(1, summary.lines)),
    }
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
