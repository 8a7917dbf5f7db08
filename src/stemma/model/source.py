"""Sources of evidence: where one lies, what its path says, how a change of it is noticed, how far it was read.

A path inside a root is kept as the operating system gives it: POSIX separators, bytes that are not UTF-8 as surrogate
escapes. Such text can be neither encoded nor stored; :func:`escape_path` gives its one printable form.
"""

import re
from enum import StrEnum

from msgspec import Struct

MAX_FOLDERS = 6
"""Folders below a project within which files are looked for (DESIGN section 3, *skip reason*)."""
MAX_SIDECAR_BYTES = 1 << 20
"""Size beyond which an agent's sidecar is skipped."""
MAX_LINE_BYTES = 256 << 20
"""Size beyond which a line, or a document that is read whole, is skipped."""

_ODD = re.compile(r"[\x00-\x1f\x7f\\\udc80-\udcff]")
_ESCAPED = re.compile(r"\\(\\|x[0-9a-f]{2})")


class SourceKind(StrEnum):
    """What a source holds."""

    MAIN = "main"
    """The transcript of a session."""
    AGENT = "agent"
    """The transcript of one subagent."""
    SIDECAR = "sidecar"
    """What the client noted beside an agent's transcript (``agent-*.meta.json``)."""
    WORKFLOW = "workflow"
    """The summary of a workflow run (``workflows/<run>.json``)."""
    JOURNAL = "journal"
    """The journal of a workflow run (``journal.jsonl``)."""

    @property
    def is_document(self) -> bool:
        """Whether it is one JSON document, read whole, rather than lines that are appended."""
        return self in (SourceKind.SIDECAR, SourceKind.WORKFLOW)


class SkipReason(StrEnum):
    """Why a path is not read: the closed set of DESIGN section 3."""

    OVERSIZE = "oversize"
    SYMLINK = "symlink"
    NOT_REGULAR_FILE = "not-regular-file"
    UNREADABLE = "unreadable"
    EMPTY_AGENT = "empty-agent"
    EMPTY_MAIN = "empty-main"
    NON_ARTIFACT = "non-artifact"
    DUPLICATE_SESSION = "duplicate-session"
    """The one reason whose file is read nevertheless: two projects claim its session."""
    TOO_DEEP = "too-deep"


class TickOutcome(StrEnum):
    """How one pass over one root ended: seven outcomes, never collapsed."""

    INGESTED = "ingested"
    UNCHANGED = "unchanged"
    NO_CORPUS_ROOT = "no-corpus-root"
    OVERLAPPED = "overlapped"
    STOPPED = "stopped"
    READ_ERROR = "read-error"
    CONTAINMENT_HALT = "containment-halt"


class Placement(Struct, frozen=True):
    """What a path says about its source. Hints only: a record's own fields decide, and folders may lie.

    All are text that can be stored, verbatim except for bytes that are not UTF-8, and empty where the path says nothing.

    Attributes:
        kind: What the source holds.
        project_slug: Name of the project's folder.
        session_hint: Session id, in the case in which it is written.
        agent_hint: Agent id.
        run_hint: Workflow run id.
        relpath_key: The path inside the root in its one printable form (:func:`escape_path`).
    """

    kind: SourceKind
    project_slug: str
    session_hint: str = ""
    agent_hint: str = ""
    run_hint: str = ""
    relpath_key: str = ""


class Fingerprint(Struct, frozen=True, gc=False):
    """Cheap change detector: when none of it changed, neither did the file's content.

    Attributes:
        size: Bytes.
        mtime_ns: Time of the last modification, which any program can set.
        ctime_ns: Time of the last change of content or attributes, which no program can set.
        inode: Number of the file in its file system, as a signed 64-bit integer.
        device: Number of the file system, as a signed 64-bit integer; may differ after a restart.
    """

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int


class SourceFile(Struct, frozen=True):
    """A file that is to be read, as it was when it was listed.

    Attributes:
        root: Real path of the projects folder.
        relpath: Path inside it.
        placement: What that path says.
        fingerprint: The file's fingerprint when it was listed.
    """

    root: str
    relpath: str
    placement: Placement
    fingerprint: Fingerprint


class Skip(Struct, frozen=True, gc=False):
    """A path that is not read.

    Attributes:
        relpath: Path inside the root.
        reason: Why.
        detail: More about it for people; never a path, never content.
    """

    relpath: str
    reason: SkipReason
    detail: str = ""


class RootSpec(Struct, frozen=True, gc=False):
    """A folder to observe.

    Attributes:
        path: Real path of the projects folder.
        only_slug: The one project in it that was asked for, or nothing for all of them.
    """

    path: str
    only_slug: str | None = None


class Checkpoint(Struct, frozen=True, gc=False):
    """How far one generation of a source was read, and what its bytes were.

    It may change how much work a start does, never what the start results in.

    Attributes:
        generation: Raised each time the source was found rewritten, shrunk or replaced.
        offset: Bytes consumed: complete lines, and a last line that was taken without its newline.
        fingerprint: The source's fingerprint when it was opened for the last read.
        head_digest: Digest of the first consumed bytes.
        head_length: How many those are.
        tail_digest: Digest of the last consumed bytes.
        tail_length: How many those are.
        crc: CRC-32 of all consumed bytes.
        pending: Bytes of a torn line seen behind the offset.
        revision: Adapter revision under which the bytes were normalised.
    """

    generation: int
    offset: int
    fingerprint: Fingerprint
    head_digest: bytes
    head_length: int
    tail_digest: bytes
    tail_length: int
    crc: int
    pending: int
    revision: int


def escape_path(relpath: str) -> str:
    r"""The printable form of a path: reversible, storable, and the path itself unless it is odd.

    Backslashes are doubled; control characters and bytes that are not UTF-8 become ``\xNN``.
    """
    return _ODD.sub(_escape, relpath)


def unescape_path(text: str) -> str:
    """The path that :func:`escape_path` was given."""
    return _ESCAPED.sub(_unescape, text)


def storable(name: str) -> str:
    r"""A name as text that can be stored: itself, unless it has bytes that are not UTF-8 (they become ``\xNN``)."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _escape(match: re.Match[str]) -> str:
    odd = match[0]
    return "\\\\" if odd == "\\" else f"\\x{ord(odd) & 0xFF:02x}"


def _unescape(match: re.Match[str]) -> str:
    if match[1] == "\\":
        return "\\"
    byte = int(match[1][1:], 16)
    return chr(byte) if byte < 0x80 else chr(0xDC00 + byte)  # noqa: PLR2004 - where ASCII ends
