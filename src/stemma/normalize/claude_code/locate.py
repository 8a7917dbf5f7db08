"""Where Claude Code keeps its files, and what a path says (FORMATS section b). Pure: nothing here touches a disk."""

import posixpath
from collections.abc import Mapping

from stemma.model.source import (
    MAX_FOLDERS,
    Placement,
    SkipReason,
    SourceKind,
    escape_path,
    storable,
)

_AGENT = "agent-"
_TRANSCRIPT = ".jsonl"
_SIDECAR = ".meta.json"
_DOCUMENT = ".json"
_JOURNAL = "journal.jsonl"
_SUBAGENTS = "subagents"
_WORKFLOWS = "workflows"


def place(parts: tuple[str, ...]) -> Placement | SkipReason:
    """Say what a file is by its path below the projects folder.

    Folders below ``subagents`` may nest in any way; ids may have any form.

    Args:
        parts: The names on the way: project, folders, file.

    Returns:
        What the path says, or why the file is not read.
    """
    if len(parts) - 2 > MAX_FOLDERS:
        return SkipReason.TOO_DEEP
    if len(parts) < 2 or parts[-1].startswith("."):  # noqa: PLR2004 - a project and a file in it
        return SkipReason.NON_ARTIFACT
    found = _beside_session(parts) if len(parts) == 2 else _inside_session(parts)  # noqa: PLR2004
    return found or SkipReason.NON_ARTIFACT


def config_roots(env: Mapping[str, str], home: str) -> list[str]:
    """The folders to look in when none is named: configuration folders, or their ``projects``.

    Args:
        env: The environment. ``CLAUDE_CONFIG_DIR`` may hold several folders, separated by commas.
        home: The user's home folder.

    Returns:
        Candidates, most specific first and without repetition; they need not exist.
    """
    named = [_expand(part.strip(), home) for part in env.get("CLAUDE_CONFIG_DIR", "").split(",")]
    named = [part for part in named if part]
    if not named:
        base = env.get("XDG_CONFIG_HOME", "")
        base = base if posixpath.isabs(base) else posixpath.join(home, ".config")
        named = [posixpath.join(base, "claude"), posixpath.join(home, ".claude")]
    return list(dict.fromkeys(posixpath.normpath(part) for part in named))


def _expand(path: str, home: str) -> str:
    return home + path[1:] if path == "~" or path.startswith("~/") else path


def _beside_session(parts: tuple[str, ...]) -> Placement | None:
    """A file directly in a project: a session, or an agent whose session only its records tell."""
    name = parts[-1]
    if name.startswith(_AGENT):
        return _agent(parts, session="")
    session = _stem(name, "", _TRANSCRIPT)
    return _placement(SourceKind.MAIN, parts, session=session) if session else None


def _inside_session(parts: tuple[str, ...]) -> Placement | None:
    """A file somewhere in a session's folder, whether or not the session has a transcript."""
    session, folders, name = parts[1], parts[2:-1], parts[-1]
    if name == _JOURNAL and len(folders) > 1 and folders[-2] == _WORKFLOWS:
        return _placement(SourceKind.JOURNAL, parts, session=session, run=folders[-1])
    if folders and folders[0] == _SUBAGENTS and name.startswith(_AGENT):
        return _agent(parts, session=session, run=_run(folders))
    if folders and folders[-1] == _WORKFLOWS:
        run = _stem(name, "", _DOCUMENT)
        return _placement(SourceKind.WORKFLOW, parts, session=session, run=run) if run else None
    return None


def _agent(parts: tuple[str, ...], *, session: str, run: str = "") -> Placement | None:
    for kind, suffix in ((SourceKind.SIDECAR, _SIDECAR), (SourceKind.AGENT, _TRANSCRIPT)):
        agent = _stem(parts[-1], _AGENT, suffix)
        if agent:
            return _placement(kind, parts, session=session, agent=agent, run=run)
    return None


def _run(folders: tuple[str, ...]) -> str:
    """The innermost folder that lies directly in a ``workflows`` folder."""
    for index in range(len(folders) - 1, 0, -1):
        if folders[index - 1] == _WORKFLOWS:
            return folders[index]
    return ""


def _stem(name: str, prefix: str, suffix: str) -> str:
    """What stands between prefix and suffix; empty unless the name has both and something between."""
    if name.startswith(prefix) and name.endswith(suffix):
        return name[len(prefix) : len(name) - len(suffix)]
    return ""


def _placement(
    kind: SourceKind, parts: tuple[str, ...], *, session: str, agent: str = "", run: str = ""
) -> Placement:
    return Placement(
        kind,
        storable(parts[0]),
        storable(session),
        storable(agent),
        storable(run),
        escape_path("/".join(parts)),
    )
