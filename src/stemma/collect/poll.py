"""What changed under a root since the last look: the listing that is kept between ticks, and how it is kept true.

The first poll lists everything. Later ones compare fingerprints and stamps of what the schedule names, and list only
folders that changed.
"""

import os
import stat
from collections.abc import Callable
from heapq import nlargest
from posixpath import dirname

from msgspec import Struct
from msgspec.structs import replace

from stemma.collect.contain import Root, fingerprint_of
from stemma.collect.discover import restrict, walk
from stemma.collect.inventory import Difference, Inventory
from stemma.collect.listing import Place, candidate, list_folder, may_read, stamp_of
from stemma.collect.schedule import Limits, Plan, Schedule
from stemma.errors import CollectError, ContainmentError, SourceVanished
from stemma.model.source import RootSpec, Skip, SourceFile, TickOutcome

StatAt = Callable[[str, int], os.stat_result]
"""Status of a path inside the folder that a descriptor holds open, never following a link at its end."""


class Changes(Struct, frozen=True):
    """What a poll found.

    Attributes:
        changed: Sources to read, sorted by path.
        removed: Paths of files that are gone. Told once; what was never read may be among them.
        skips: Skips that are new, or whose detail changed.
        lifted: Skips that no longer hold.
        verify: A quiet source whose consumed bytes it is time to verify in full.
        outcome: ``ingested`` when there is something to take in, else ``unchanged``, or why nothing can be said.
        detail: More about an outcome that says nothing, for people.
    """

    changed: tuple[SourceFile, ...] = ()
    removed: tuple[str, ...] = ()
    skips: tuple[Skip, ...] = ()
    lifted: tuple[Skip, ...] = ()
    verify: SourceFile | None = None
    outcome: TickOutcome = TickOutcome.UNCHANGED
    detail: str = ""


def stat_at(relpath: str, folder: int) -> os.stat_result:
    """Ask the system."""
    return os.stat(relpath, dir_fd=folder, follow_symlinks=False)


class Poller:
    """Looks at one root again and again."""

    def __init__(
        self,
        spec: RootSpec,
        place: Place,
        clock: Callable[[], float],
        *,
        limits: Limits | None = None,
        stat: StatAt = stat_at,
    ) -> None:
        """Make a poller that has not looked yet.

        Args:
            spec: The root.
            place: Reads paths.
            clock: Monotonic seconds.
            limits: How much a tick may look at.
            stat: Asks for the status of a file or folder.
        """
        self.spec = spec
        self.place = place
        self.stat = stat
        self.inventory = Inventory()
        self.schedule = Schedule(limits or Limits())
        self._clock = clock
        self._is_first = True
        self._must_list = True

    def poll(self) -> Changes:
        """Look at what is due; the first time, at everything."""
        return self._look(self._list_all if self._must_list else self._tick)

    def full(self) -> Changes:
        """Look at everything, whatever is due."""
        return self._look(self._list_all)

    def again(self, relpath: str) -> None:
        """Have a source among the changed ones of the next poll: reading it came to nothing."""
        self.inventory.retell(relpath)

    def files(self) -> list[SourceFile]:
        """All sources as last seen, sorted by path."""
        return self.inventory.files()

    def skips(self) -> list[Skip]:
        """All skips as last seen, sorted by path."""
        return self.inventory.skips()

    def present(self) -> frozenset[str]:
        """Paths of all files that are there, also of those that are skipped as they are now."""
        return frozenset(self.inventory.candidates)

    def _look(self, way: Callable[[Root], SourceFile | None]) -> Changes:
        """Look in one way. After a look that failed, the next one is at everything."""
        self._must_list = True
        try:
            with Root(self.spec.path) as root:
                verify = way(root)
        except SourceVanished as error:
            return Changes(outcome=TickOutcome.NO_CORPUS_ROOT, detail=str(error))
        except ContainmentError as error:
            return Changes(outcome=TickOutcome.CONTAINMENT_HALT, detail=str(error))
        except (CollectError, OSError) as error:
            return Changes(outcome=TickOutcome.READ_ERROR, detail=str(error))
        self._must_list = False
        found = self.inventory.tell()
        self._reschedule(found)
        outcome = TickOutcome.INGESTED if found.changed or found.removed else TickOutcome.UNCHANGED
        return Changes(found.changed, found.removed, found.skips, found.lifted, verify, outcome)

    def _list_all(self, root: Root) -> None:
        for listing in walk(root, "", self.place, self.spec.only_slug):
            self.inventory.apply(listing)

    def _tick(self, root: Root) -> SourceFile | None:
        now = self._clock()
        plan = self.schedule.plan(now, self._size_of)
        look = _Look(self, root, now)
        look.folders(plan)
        look.sources(plan)
        found = self.inventory.candidates.get(plan.verify or "")
        return found.file if found is not None and found.skip is None else None

    def _size_of(self, relpath: str) -> int:
        found = self.inventory.candidates.get(relpath)
        return found.file.fingerprint.size if found is not None else 0

    def _reschedule(self, found: Difference) -> None:
        schedule, now = self.schedule, self._clock()
        schedule.watch_folders(found.folders)
        schedule.watch_sources(found.appeared)
        for path in found.folders_gone:
            schedule.drop_folder(path)
        for path in found.removed:
            schedule.drop_source(path)
        if self._is_first:
            self._is_first = False
            self._warm_up(now)
            return
        for path in dict.fromkeys((*found.appeared, *(file.relpath for file in found.changed))):
            schedule.source_changed(path, now)

    def _warm_up(self, now: float) -> None:
        """Take the files that changed last for hot, the very last for the hottest: there is no other hint yet."""
        schedule = self.schedule
        files = (found.file for found in self.inventory.candidates.values())
        newest = nlargest(
            schedule.limits.hot_least, files, key=lambda file: file.fingerprint.mtime_ns
        )
        for file in reversed(newest):
            schedule.source_changed(file.relpath, float("-inf"))
            schedule.folder_changed(dirname(file.relpath), now)


class _Look:
    """One tick's look at what is due, in an open root."""

    def __init__(self, poller: Poller, root: Root, now: float) -> None:
        self._root = root
        self._now = now
        self._only_slug = poller.spec.only_slug
        self._place = poller.place
        self._stat = poller.stat
        self._inventory = poller.inventory
        self._schedule = poller.schedule
        self._listed: set[str] = set()

    def folders(self, plan: Plan) -> None:
        """List the folders that changed, and those that are due whether or not they did."""
        for path in plan.folders:
            before = self._inventory.stamp(path)
            if before is None:
                continue
            status = self._status(path)
            if status is not None and stamp_of(path, status) != before:
                self._list(path)
        for path in plan.relist:
            self._list(path)

    def sources(self, plan: Plan) -> None:
        """Compare fingerprints, and judge those files anew that changed."""
        for path in plan.sources:
            known = self._inventory.candidates.get(path)
            if known is None:
                continue
            status = self._status(path, is_file=True)
            if status is None:
                continue
            fingerprint = fingerprint_of(status)
            if fingerprint != known.file.fingerprint:
                file = replace(known.file, fingerprint=fingerprint)
                readable = may_read(path, self._root.fd)
                self._inventory.observe(candidate(file, readable=readable))

    def _status(self, path: str, *, is_file: bool = False) -> os.stat_result | None:
        """A path's status; where it is not what it was, nothing, but its folder is listed."""
        try:
            status = self._stat(path or ".", self._root.fd)
        except PermissionError:
            return None  # a folder on the way was closed: what lies in it is kept as it was
        except (FileNotFoundError, NotADirectoryError):
            status = None
        is_kind = stat.S_ISREG if is_file else stat.S_ISDIR
        if status is not None and is_kind(status.st_mode):
            return status
        self._list(dirname(path))
        return None

    def _list(self, path: str) -> None:
        """List a folder that is known, at most once a tick; walk what is new in it."""
        before = self._inventory.stamp(path)
        if before is None or path in self._listed:
            return
        self._listed.add(path)
        try:
            listing = list_folder(self._root, path, self._place, self._inventory.candidates)
        except SourceVanished:
            self._inventory.drop_folder(path)
            self._list(dirname(path))
            return
        if listing.stamp != before:
            self._schedule.folder_changed(path, self._now)
        for folder in self._inventory.apply(restrict(listing, self._only_slug)):
            self._walk(folder)

    def _walk(self, start: str) -> None:
        try:
            for listing in walk(self._root, start, self._place):
                self._schedule.folder_changed(listing.stamp.relpath, self._now)
                self._inventory.apply(listing)
        except SourceVanished:
            return  # its folder changed by that, and is listed again
