"""What a root held when it was last looked at, and what of that has not been told yet. Pure: listings come in.

The inventory keeps two pictures, the present one and the one that was told. A tick that fails half-way tells nothing and
loses nothing: the next one tells all of the difference.
"""

from collections.abc import Iterator

from msgspec import Struct

from stemma.collect.duplicates import SessionClaims
from stemma.collect.listing import Candidate, DirectoryStamp, Listing
from stemma.model.source import Skip, SourceFile

_SkipKey = tuple[str, bool]
"""Path, and whether it is about a duplicate session: the one skip that a path can have beside another."""


class Difference(Struct, frozen=True):
    """What changed between two tellings. All sorted.

    Attributes:
        changed: Sources that are new, or whose fingerprint changed, or that can be read by now.
        removed: Paths of files that are gone.
        skips: Skips that are new, or whose detail changed.
        lifted: Skips that no longer hold.
        appeared: Paths of files that are new, readable or not.
        folders: Paths of new folders.
        folders_gone: Paths of folders that are gone.
    """

    changed: tuple[SourceFile, ...]
    removed: tuple[str, ...]
    skips: tuple[Skip, ...]
    lifted: tuple[Skip, ...]
    appeared: tuple[str, ...]
    folders: tuple[str, ...]
    folders_gone: tuple[str, ...]


class _Contents(Struct, frozen=True):
    """What a folder held."""

    stamp: DirectoryStamp
    files: frozenset[str] = frozenset()
    skips: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()


class Inventory:
    """The present picture of one root, and the one that was told last."""

    def __init__(self) -> None:
        self._candidates: dict[str, Candidate] = {}
        self._told_candidates: dict[str, Candidate] = {}
        self._folders: dict[str, _Contents] = {}
        self._told_folders: set[str] = set()
        self._skips: dict[_SkipKey, Skip] = {}
        self._told_skips: dict[_SkipKey, Skip] = {}
        self._claims = SessionClaims()
        self._conflicts: dict[str, tuple[Skip, ...]] = {}
        self._touched: set[str] = set()
        self._retold: set[str] = set()
        self._touched_folders: set[str] = set()
        self._touched_skips: set[_SkipKey] = set()
        self._touched_sessions: set[str] = set()

    @property
    def candidates(self) -> dict[str, Candidate]:
        """All files that are sources or may become such, by path. Not to be changed."""
        return self._candidates

    def files(self) -> list[SourceFile]:
        """All sources, sorted by path."""
        files = [found.file for found in self._candidates.values() if found.skip is None]
        return sorted(files, key=lambda file: file.relpath)

    def skips(self) -> list[Skip]:
        """All skips, sorted by path."""
        return sorted(self._skips.values(), key=lambda skip: (skip.relpath, skip.reason))

    def stamp(self, folder: str) -> DirectoryStamp | None:
        """A folder's stamp when it was last listed, if it was."""
        contents = self._folders.get(folder)
        return contents.stamp if contents is not None else None

    def apply(self, listing: Listing) -> tuple[str, ...]:
        """Take in the listing of one folder.

        What lay in a folder that cannot be listed any more is kept as it was.

        Returns:
            The folders in it that have never been listed, sorted.
        """
        path = listing.stamp.relpath
        before = self._folders.get(path, _Contents(listing.stamp))
        if listing.refused is not None:
            skips = before.skips | {path}
            now = _Contents(listing.stamp, before.files, skips, before.folders)
            self._set_skip((path, False), listing.refused)
        else:
            now = _contents(listing)
            self._replace(before, now, listing)
        self._folders[path] = now
        self._touched_folders.add(path)
        return tuple(sorted(folder for folder in now.folders if folder not in self._folders))

    def observe(self, found: Candidate) -> None:
        """Take in the present state of one file."""
        path = found.file.relpath
        before = self._candidates.get(path)
        if before == found:
            return
        if before is None:
            self._claims.add(found.file)
            self._touched_sessions.add(found.file.placement.session_hint)
        self._candidates[path] = found
        self._touched.add(path)
        self._set_skip((path, False), found.skip)

    def drop_folder(self, path: str) -> None:
        """Forget a folder and everything in it."""
        contents = self._folders.pop(path, None)
        if contents is None:
            return
        self._touched_folders.add(path)
        for file in contents.files:
            self._forget(file)
        for skip in contents.skips:
            self._set_skip((skip, False), None)
        for folder in contents.folders:
            self.drop_folder(folder)

    def retell(self, path: str) -> None:
        """Tell a source once more although it did not change: what was told came to nothing."""
        self._retold.add(path)
        self._touched.add(path)

    def tell(self) -> Difference:
        """What changed since the last telling."""
        self._find_conflicts()
        skips = list(self._tell_skips())
        changed, removed, appeared = [], [], []
        for path in sorted(self._touched):
            before, now = self._told_candidates.pop(path, None), self._candidates.get(path)
            if now is None:
                removed += [path] if before is not None else []
                continue
            self._told_candidates[path] = now
            appeared += [path] if before is None else []
            if now.skip is None and (now != before or path in self._retold):
                changed.append(now.file)
        self._touched.clear()
        self._retold.clear()
        folders = self._tell_folders()
        return Difference(
            tuple(changed),
            tuple(removed),
            tuple(change.now for change in skips if change.now is not None),
            tuple(change.before for change in skips if change.before is not None),
            tuple(appeared),
            tuple(path for path in folders if path in self._folders),
            tuple(path for path in folders if path not in self._folders),
        )

    def _replace(self, before: _Contents, now: _Contents, listing: Listing) -> None:
        """What is gone goes first: a path may come back as something else."""
        for folder in before.folders - now.folders:
            self.drop_folder(folder)
        for file in before.files - now.files:
            self._forget(file)
        for skip in before.skips - now.skips:
            self._set_skip((skip, False), None)
        for found in listing.candidates:
            self.observe(found)
        for new in listing.skips:
            self._set_skip((new.relpath, False), new)

    def _forget(self, path: str) -> None:
        found = self._candidates.pop(path, None)
        if found is not None:
            self._claims.discard(found.file)
            self._touched_sessions.add(found.file.placement.session_hint)
            self._touched.add(path)
            self._set_skip((path, False), None)

    def _set_skip(self, key: _SkipKey, skip: Skip | None) -> None:
        if self._skips.get(key) == skip:
            return
        self._touched_skips.add(key)
        if skip is None:
            del self._skips[key]
        else:
            self._skips[key] = skip

    def _find_conflicts(self) -> None:
        for session in self._touched_sessions:
            for skip in self._conflicts.pop(session, ()):
                self._set_skip((skip.relpath, True), None)
            found = self._claims.conflicts(session)
            if found:
                self._conflicts[session] = found
            for skip in found:
                self._set_skip((skip.relpath, True), skip)
        self._touched_sessions.clear()

    def _tell_skips(self) -> Iterator["_SkipChange"]:
        for key in sorted(self._touched_skips):
            before, now = self._told_skips.pop(key, None), self._skips.get(key)
            if now is not None:
                self._told_skips[key] = now
            if now != before:
                same = now is not None and before is not None and now.reason == before.reason
                yield _SkipChange(None if same else before, now)
        self._touched_skips.clear()

    def _tell_folders(self) -> list[str]:
        """Folders that appeared or went since the last telling."""
        present = {path for path in self._touched_folders if path in self._folders}
        told = self._touched_folders & self._told_folders
        self._told_folders = (self._told_folders - told) | present
        self._touched_folders.clear()
        return sorted(present ^ told)


class _SkipChange(Struct, frozen=True, gc=False):
    before: Skip | None
    now: Skip | None


def _contents(listing: Listing) -> _Contents:
    return _Contents(
        listing.stamp,
        frozenset(found.file.relpath for found in listing.candidates),
        frozenset(skip.relpath for skip in listing.skips),
        frozenset(listing.folders),
    )
