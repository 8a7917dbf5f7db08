"""Which sources and folders to look at in a tick. Pure decisions: time comes in as monotonic seconds.

What changed lately is looked at every tick, and so are the folders around it; everything else takes turns, so that a tick
costs the same whatever the size of the corpus. A folder is listed when its stamp changed, once more when that change has
settled (stamps are as coarse as two seconds on some file systems), and now and then whatever its stamp says.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from posixpath import dirname

from msgspec import Struct


class Limits(Struct, frozen=True, gc=False):
    """How much a tick may look at, and what counts as lately.

    Attributes:
        hot_seconds: A source is hot for this long after a change.
        hot_least: The sources that changed last are hot even when that was long ago.
        hot_most: Never more than these are hot, so that a mass change does not make ticks slow.
        sources_per_tick: Quiet sources looked at per tick.
        folders_per_tick: Quiet folders looked at per tick.
        settle_seconds: How long after a change a folder is listed once more.
        relist_ticks: One folder is listed regardless of its stamp every so many ticks.
        verify_ticks: At most one source is verified in full every so many ticks.
        verify_bytes_per_tick: Verification waits until its size is paid for at this rate.
    """

    hot_seconds: float = 600.0
    hot_least: int = 64
    hot_most: int = 1024
    sources_per_tick: int = 800
    folders_per_tick: int = 240
    settle_seconds: float = 2.5
    relist_ticks: int = 4
    verify_ticks: int = 16
    verify_bytes_per_tick: int = 256 << 10


class Plan(Struct, frozen=True):
    """What to do in one tick. Folders before sources: a changed folder may explain a missing source.

    Attributes:
        folders: Folders whose stamps to compare; the root, which is the empty path, is always among them.
        relist: Folders to list whatever their stamps say.
        sources: Sources whose fingerprints to compare.
        verify: A source to verify in full, if one is due.
    """

    folders: tuple[str, ...]
    relist: tuple[str, ...]
    sources: tuple[str, ...]
    verify: str | None


class Rotation:
    """Paths that take turns: sorted, with a mark behind the last one that had its turn."""

    __slots__ = ("_mark", "_paths")

    def __init__(self) -> None:
        self._paths: list[str] = []
        self._mark = ""

    def __len__(self) -> int:
        return len(self._paths)

    def add(self, paths: Iterable[str]) -> None:
        """Let paths that are not there yet take turns too."""
        self._paths.extend(paths)
        self._paths.sort()  # nearly sorted already: linear

    def discard(self, path: str) -> None:
        """Take a path out, if it is there."""
        index = bisect_left(self._paths, path)
        if self._paths[index : index + 1] == [path]:
            del self._paths[index]

    def take(self, count: int) -> list[str]:
        """The next paths; none twice."""
        start = bisect_right(self._paths, self._mark)
        taken = self._paths[start : start + count]
        if len(taken) < count:
            taken += self._paths[: min(count - len(taken), start)]
        if taken:
            self._mark = taken[-1]
        return taken

    def within(self, folder: str) -> Iterator[str]:
        """A folder, if it is there, and everything below it."""
        index = bisect_left(self._paths, folder)
        if self._paths[index : index + 1] == [folder]:
            yield folder
        index = bisect_left(self._paths, folder + "/")
        while index < len(self._paths) and self._paths[index].startswith(folder + "/"):
            yield self._paths[index]
            index += 1


class Schedule:
    """Decides what to look at. Knows paths and times, touches nothing."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._sources = Rotation()
        self._folders = Rotation()
        self._relists = Rotation()
        self._verifications = Rotation()
        self._changed: dict[str, float] = {}
        self._settling: dict[str, float] = {}
        self._around: tuple[str, ...] | None = None
        self._tick = 0
        self._verify_at = self.limits.verify_ticks

    def watch_sources(self, paths: Iterable[str]) -> None:
        """Take up sources that were not watched so far."""
        added = list(paths)
        self._sources.add(added)
        self._verifications.add(added)

    def watch_folders(self, paths: Iterable[str]) -> None:
        """Take up folders that were not watched so far."""
        added = list(paths)
        self._folders.add(added)
        self._relists.add(added)
        self._around = None

    def drop_source(self, path: str) -> None:
        """Let go of a source that is gone."""
        self._sources.discard(path)
        self._verifications.discard(path)
        if self._changed.pop(path, None) is not None:
            self._around = None

    def drop_folder(self, path: str) -> None:
        """Let go of a folder that is gone."""
        self._folders.discard(path)
        self._relists.discard(path)
        self._settling.pop(path, None)
        self._around = None

    def source_changed(self, path: str, now: float) -> None:
        """Note that a source has changed. Given in order of time: the last one is the hottest."""
        if self._changed.pop(path, None) is None:
            self._around = None
        self._changed[path] = now

    def folder_changed(self, path: str, now: float) -> None:
        """Note that a folder has changed: it is listed once more when that has settled."""
        self._settling[path] = now + self.limits.settle_seconds

    def plan(self, now: float, size_of: Callable[[str], int]) -> Plan:
        """Decide what this tick looks at.

        Args:
            now: Monotonic seconds.
            size_of: Tells the size of a source, so that verifying a large one is paid for by a longer wait.
        """
        self._tick += 1
        self._cool(now)
        if self._around is None:
            self._around = tuple(self._folders_around())
        folders = ("", *self._around, *self._folders.take(self.limits.folders_per_tick))
        sources = (*self._changed, *self._sources.take(self.limits.sources_per_tick))
        return Plan(
            _once(folders), self._relists_due(now), _once(sources), self._verification(size_of)
        )

    def _cool(self, now: float) -> None:
        """Forget changes that are neither recent nor among the last few; the oldest come first."""
        limits = self.limits
        excess = max(len(self._changed) - limits.hot_least, 0)
        for path, at in list(islice(self._changed.items(), excess)):
            if now - at <= limits.hot_seconds and len(self._changed) <= limits.hot_most:
                break
            del self._changed[path]
            self._around = None

    def _folders_around(self) -> Iterator[str]:
        """Where company of hot sources would appear: their folders, and the folder of a session's agents."""
        for path in self._changed:
            folder = dirname(path)
            while folder:
                yield folder
                folder = dirname(folder)
            stem, dot, _ = path.rpartition(".")
            if dot:
                yield from self._folders.within(stem)

    def _relists_due(self, now: float) -> tuple[str, ...]:
        due = [path for path, at in self._settling.items() if at <= now]
        for path in due:
            del self._settling[path]
        if self._tick % self.limits.relist_ticks == 0:
            due += self._relists.take(1)
        return _once(due)

    def _verification(self, size_of: Callable[[str], int]) -> str | None:
        """The next quiet source; hot ones are skipped, since their turn comes when they are quiet."""
        if self._tick < self._verify_at:
            return None
        self._verify_at = self._tick + self.limits.verify_ticks
        for _ in range(min(len(self._changed) + 1, len(self._verifications))):
            (path,) = self._verifications.take(1)
            if path not in self._changed:
                cost = math.ceil(size_of(path) / self.limits.verify_bytes_per_tick)
                self._verify_at = self._tick + max(cost, self.limits.verify_ticks)
                return path
        return None


def _once(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paths))
