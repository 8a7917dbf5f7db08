"""Opening files so that nothing outside a root is ever read, whatever happens on the disk meanwhile.

A path is walked name by name from the root's own descriptor, and no name may be a symbolic link. What was a plain folder
or file when it was listed and is a link when it is opened was swapped between check and use: ``ContainmentError``.
"""

import errno
import os
import stat
from types import TracebackType
from typing import NoReturn, Self

from msgspec import Struct

from stemma.errors import CollectError, ContainmentError, SourceVanished
from stemma.model.source import Fingerprint, escape_path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NOT_AS_LISTED = frozenset({errno.ELOOP, errno.EMLINK, errno.ENOTDIR})
_SIGNED = 1 << 63


class Root:
    """A projects folder held open, so that it cannot be exchanged while it is in use.

    Attributes:
        path: Its real path.
        fd: Its descriptor.
    """

    __slots__ = ("fd", "path")

    def __init__(self, path: str) -> None:
        """Open a root.

        Args:
            path: Real path of the folder: links to it are resolved once, when the root is configured.

        Raises:
            SourceVanished: There is no such folder.
            ContainmentError: The path leads through a symbolic link by now.
            CollectError: The folder cannot be opened.
        """
        self.path = path
        try:
            self.fd = os.open(path, _FOLDER)
        except OSError as error:
            if os.path.realpath(path) != path:
                raise ContainmentError("the root was replaced by a symbolic link") from error
            if error.errno in (errno.ENOENT, errno.ENOTDIR):
                raise SourceVanished("the root does not exist") from error
            raise CollectError(f"the root cannot be opened: {error.strerror}") from error
        if os.path.realpath(path) != path:
            self.close()
            raise ContainmentError("the root was replaced by a symbolic link")

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self.fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class OpenSource(Struct, frozen=True, gc=False):
    """A source opened for reading.

    Attributes:
        fd: Its descriptor, which the receiver closes.
        fingerprint: Its fingerprint as opened: what is read belongs to this one, not to the listed one.
    """

    fd: int
    fingerprint: Fingerprint


def fingerprint_of(status: os.stat_result) -> Fingerprint:
    """The fingerprint that a file's status amounts to."""
    return Fingerprint(
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        signed(status.st_ino),
        signed(status.st_dev),
    )


def signed(number: int) -> int:
    """The same 64 bits of a file or device number as a signed integer, which is what databases store."""
    return number - 2 * _SIGNED if number >= _SIGNED else number


def open_source(root: Root, relpath: str) -> OpenSource:
    """Open a regular file inside a root, by no-follow steps from the root's descriptor.

    Args:
        root: The open root.
        relpath: Path inside it.

    Returns:
        Descriptor and fingerprint.

    Raises:
        ContainmentError: The path leaves the root, or a name on it is a symbolic link by now.
        SourceVanished: The file is gone, or is no longer a regular file.
        CollectError: It cannot be opened.
    """
    *folders, name = _names(relpath)
    try:
        folder = _descend(root, folders, relpath)
        try:
            fd = _open_regular(folder, name, relpath)
        finally:
            os.close(folder)
    except OSError as error:
        raise CollectError(f"{escape_path(relpath)} cannot be opened: {error.strerror}") from error
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        os.close(fd)
        _raise_not_regular(relpath)
    return OpenSource(fd, fingerprint_of(status))


def open_contained(root: Root, relpath: str) -> int:
    """The descriptor of :func:`open_source`, for whoever needs no fingerprint."""
    return open_source(root, relpath).fd


def open_folder(root: Root, relpath: str) -> int:
    """Open a folder inside a root for listing; the empty path is the root itself.

    Raises:
        ContainmentError: The path leaves the root, or a name on it is a symbolic link by now.
        SourceVanished: The folder is gone.
        OSError: It cannot be opened; what that means is for the lister to say.
    """
    return _descend(root, _names(relpath) if relpath else [], relpath)


def _names(relpath: str) -> list[str]:
    names = relpath.split("/")
    if any(name in ("", ".", "..") or "\0" in name for name in names):
        raise ContainmentError(f"{escape_path(relpath)} is not a path inside the root")
    return names


def _descend(root: Root, folders: list[str], relpath: str) -> int:
    """Open one folder after the other, each inside the one before."""
    fd = os.open(".", _FOLDER, dir_fd=root.fd)
    for name in folders:
        try:
            inner = _open_at(fd, name, _FOLDER, relpath)
        finally:
            os.close(fd)
        fd = inner
    return fd


def _open_regular(folder: int, name: str, relpath: str) -> int:
    """Look before opening: opening a device may do something to it."""
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError as error:
        raise SourceVanished(f"{escape_path(relpath)} is gone") from error
    if stat.S_ISLNK(mode):
        _raise_escape(relpath)
    if not stat.S_ISREG(mode):
        _raise_not_regular(relpath)
    return _open_at(folder, name, _FILE, relpath)


def _open_at(folder: int, name: str, flags: int, relpath: str) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ENOENT:
            raise SourceVanished(f"{escape_path(relpath)} is gone") from error
        if error.errno in _NOT_AS_LISTED:
            _raise_for_swap(folder, name, relpath, error)
        raise


def _raise_for_swap(folder: int, name: str, relpath: str, error: OSError) -> NoReturn:
    """Tell a link from a folder that became a file: systems answer both with the same error."""
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        raise SourceVanished(f"{escape_path(relpath)} is gone") from error
    if error.errno == errno.ENOTDIR and not (stat.S_ISLNK(mode) or stat.S_ISDIR(mode)):
        raise SourceVanished(f"{escape_path(relpath)} is no longer in a folder") from error
    _raise_escape(relpath)


def _raise_escape(relpath: str) -> NoReturn:
    raise ContainmentError(f"{escape_path(relpath)} leads through a symbolic link by now")


def _raise_not_regular(relpath: str) -> NoReturn:
    raise SourceVanished(f"{escape_path(relpath)} is no longer a regular file")
