"""One folder at a time: which of its entries are sources, which are skipped and why."""

import errno
import os
import stat
from collections.abc import Callable, Mapping

from msgspec import Struct

from stemma.collect.contain import Root, fingerprint_of, open_folder, signed
from stemma.errors import CollectError
from stemma.model.source import (
    MAX_FOLDERS,
    MAX_LINE_BYTES,
    MAX_SIDECAR_BYTES,
    Placement,
    Skip,
    SkipReason,
    SourceFile,
    SourceKind,
)

Place = Callable[[tuple[str, ...]], Placement | SkipReason]
"""An adapter's reading of a path below the root: what the file is, or why it is not read."""

_EFFECTIVE = os.access in os.supports_effective_ids
_EMPTY = {SourceKind.MAIN: SkipReason.EMPTY_MAIN, SourceKind.AGENT: SkipReason.EMPTY_AGENT}
_LIMITS = {SourceKind.SIDECAR: MAX_SIDECAR_BYTES, SourceKind.WORKFLOW: MAX_LINE_BYTES}
_SPECIAL = {
    stat.S_IFIFO: "FIFO",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "character device",
    stat.S_IFBLK: "block device",
}
_OWN_LIMITS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})


class DirectoryStamp(Struct, frozen=True, gc=False):
    """When a folder's entries last changed, as its file system tells.

    Attributes:
        relpath: Path inside the root; empty for the root itself.
        mtime_ns: Time of the last change of its entries.
        ctime_ns: Time of the last change of entries or attributes.
        inode: Number of the folder in its file system.
        device: Number of the file system.
    """

    relpath: str
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int


class Candidate(Struct, frozen=True, gc=False):
    """A regular file whose name makes it a source.

    Attributes:
        file: The file.
        skip: Why it is not read as it is now; this can end without its folder changing, as when an empty file grows.
    """

    file: SourceFile
    skip: Skip | None


class Listing(Struct, frozen=True):
    """What lies directly in one folder, sorted by path.

    Attributes:
        stamp: The folder's stamp, taken before its entries were read.
        candidates: Files that are sources, or would be if it were not for their present state.
        skips: Entries that no change of their content makes a source.
        folders: Paths of the folders in it.
        refused: Why it cannot be listed; then nothing is known of what is in it.
    """

    stamp: DirectoryStamp
    candidates: tuple[Candidate, ...] = ()
    skips: tuple[Skip, ...] = ()
    folders: tuple[str, ...] = ()
    refused: Skip | None = None


def list_folder(
    root: Root, relpath: str, place: Place, known: Mapping[str, Candidate] | None = None
) -> Listing:
    """List one folder.

    Args:
        root: The open root.
        relpath: Path of the folder; empty for the root itself.
        place: Reads paths.
        known: Files that need not be asked for their state again unless they were replaced.

    Returns:
        Its entries. A folder that cannot be listed is refused.

    Raises:
        SourceVanished: The folder is gone.
        CollectError: The root itself cannot be listed, or this process is out of descriptors or memory.
        ContainmentError: It, or a folder on the way, was swapped for a symbolic link.
    """
    try:
        fd = open_folder(root, relpath)
        try:
            stamp = stamp_of(relpath, os.fstat(fd))
            with os.scandir(fd) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
            return _sort_out(_Folder(root, relpath, fd, place, known or {}), stamp, found)
        finally:
            os.close(fd)
    except OSError as error:
        return _unreadable(root, relpath, error)


def stamp_of(relpath: str, status: os.stat_result) -> DirectoryStamp:
    """The stamp that a folder's status amounts to."""
    print_ = fingerprint_of(status)
    return DirectoryStamp(relpath, print_.mtime_ns, print_.ctime_ns, print_.inode, print_.device)


def candidate(file: SourceFile, *, readable: bool) -> Candidate:
    """Judge a file by its present state: empty transcripts, oversized documents and closed files are not read."""
    kind, size = file.placement.kind, file.fingerprint.size
    if size == 0 and kind in _EMPTY:
        return Candidate(file, Skip(file.relpath, _EMPTY[kind]))
    if size > _LIMITS.get(kind, size):
        detail = f"{size} bytes; at most {_LIMITS[kind]} are read"
        return Candidate(file, Skip(file.relpath, SkipReason.OVERSIZE, detail))
    if not readable:
        return Candidate(
            file, Skip(file.relpath, SkipReason.UNREADABLE, "no permission to read it")
        )
    return Candidate(file, None)


def may_read(name: str, folder: int) -> bool:
    """Whether this process may read a file, asked without opening it."""
    if _EFFECTIVE:
        return os.access(name, os.R_OK, dir_fd=folder, effective_ids=True)
    return os.access(name, os.R_OK, dir_fd=folder)


class _Folder(Struct, frozen=True):
    """A folder being listed."""

    root: Root
    relpath: str
    fd: int
    place: Place
    known: Mapping[str, Candidate]


def _sort_out(folder: _Folder, stamp: DirectoryStamp, found: list[os.DirEntry[str]]) -> Listing:
    candidates: list[Candidate] = []
    skips: list[Skip] = []
    folders: list[str] = []
    for entry in found:
        path = f"{folder.relpath}/{entry.name}" if folder.relpath else entry.name
        seen = _judge(folder, entry, path)
        if isinstance(seen, Candidate):
            candidates.append(seen)
        elif isinstance(seen, Skip):
            skips.append(seen)
        elif seen is not None:
            folders.append(seen)
    return Listing(stamp, tuple(candidates), tuple(skips), tuple(folders))


def _judge(folder: _Folder, entry: os.DirEntry[str], path: str) -> Candidate | Skip | str | None:
    """Say what an entry is; nothing when it is gone already."""
    if entry.is_symlink():
        return Skip(path, SkipReason.SYMLINK)
    if entry.is_dir(follow_symlinks=False):
        return Skip(path, SkipReason.TOO_DEEP) if path.count("/") > MAX_FOLDERS else path
    try:
        if not entry.is_file(follow_symlinks=False):
            mode = entry.stat(follow_symlinks=False).st_mode
            return Skip(path, SkipReason.NOT_REGULAR_FILE, _SPECIAL.get(stat.S_IFMT(mode), ""))
        return _judge_file(folder, entry, path)
    except FileNotFoundError:
        return None


def _judge_file(folder: _Folder, entry: os.DirEntry[str], path: str) -> Candidate | Skip:
    known = folder.known.get(path)
    if known is not None and known.file.fingerprint.inode == signed(entry.inode()):
        return known
    placed = folder.place(tuple(path.split("/")))
    if isinstance(placed, SkipReason):
        return Skip(path, placed)
    fingerprint = fingerprint_of(entry.stat(follow_symlinks=False))
    file = SourceFile(folder.root.path, path, placed, fingerprint)
    return candidate(file, readable=may_read(entry.name, folder.fd))


def _unreadable(root: Root, relpath: str, error: OSError) -> Listing:
    """What is said of a folder that refuses to be listed, unless the refusal is about this process."""
    if not relpath or error.errno in _OWN_LIMITS:
        raise CollectError(f"a folder cannot be listed: {error.strerror}") from error
    status = os.stat(relpath, dir_fd=root.fd, follow_symlinks=False)
    skip = Skip(relpath, SkipReason.UNREADABLE, error.strerror or "")
    return Listing(stamp_of(relpath, status), refused=skip)
