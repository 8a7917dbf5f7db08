"""From what a person names to the projects folder that it means."""

import os
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from stemma.model.source import RootSpec

_PROJECTS = "projects"
_SUBAGENTS = "subagents"
_TRANSCRIPT = ".jsonl"
_CONFIG_MARKS = frozenset(
    {
        ".claude.json",
        ".credentials.json",
        "history.jsonl",
        "settings.json",
        "shell-snapshots",
        "statsig",
    }
)


class Roots(Struct, frozen=True):
    """What a list of folders came to.

    Attributes:
        specs: The folders to observe, each once.
        missing: Those that were named and hold nothing of the kind, as they were named.
    """

    specs: tuple[RootSpec, ...]
    missing: tuple[str, ...]


def resolve_roots(paths: Iterable[str | Path]) -> Roots:
    """Resolve several folders. A project is dropped when its whole projects folder is named too."""
    found: dict[RootSpec, None] = {}
    missing: list[str] = []
    for path in paths:
        spec = resolve_root(path)
        if spec is None:
            missing.append(str(path))
        else:
            found[spec] = None
    kept = [spec for spec in found if spec.only_slug is None or RootSpec(spec.path) not in found]
    return Roots(tuple(kept), tuple(missing))


def resolve_root(path: str | Path) -> RootSpec | None:
    """Find the projects folder that a path means; links are followed here, and only here.

    Args:
        path: A configuration folder, its ``projects``, any folder laid out like that, or a single project.

    Returns:
        What to observe, or nothing when there is no such folder. A folder that cannot be listed is returned as it
        is, so that reading it says why.
    """
    real = Path(os.path.realpath(path))
    try:
        inside = _look(real)
    except PermissionError:
        return RootSpec(str(real))
    except OSError:
        return None
    projects = Path(os.path.realpath(real / _PROJECTS))
    if projects.is_dir() and not _has_transcripts(projects):
        return RootSpec(str(projects))
    if _PROJECTS in (Path(path).name, real.name) or _looks_like_projects(real, inside):
        return RootSpec(str(real))
    if inside.names.isdisjoint(_CONFIG_MARKS) and _looks_like_project(real, inside):
        return RootSpec(str(real.parent), real.name)
    return None


class _Inside(Struct, frozen=True):
    """What lies directly in a folder."""

    names: frozenset[str]
    folders: tuple[str, ...]
    has_transcripts: bool


def _look(folder: Path) -> _Inside:
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    folders = tuple(entry.name for entry in found if entry.is_dir(follow_symlinks=False))
    names = frozenset(entry.name for entry in found)
    return _Inside(names, folders, any(_is_transcript(name) for name in names.difference(folders)))


def _is_transcript(name: str) -> bool:
    return name.endswith(_TRANSCRIPT) and not name.startswith(".")


def _has_transcripts(folder: Path) -> bool:
    try:
        return _look(folder).has_transcripts
    except OSError:
        return False


def _looks_like_projects(folder: Path, inside: _Inside) -> bool:
    """Whether a folder in it is a project: one with transcripts, or with a session's folder."""
    if not inside.names.isdisjoint(_CONFIG_MARKS):
        return False
    for name in inside.folders:
        project = folder / name
        try:
            within = _look(project)
        except OSError:
            continue
        if name != _SUBAGENTS and (within.has_transcripts or _has_session_folder(project, within)):
            return True
    return False


def _looks_like_project(folder: Path, inside: _Inside) -> bool:
    return inside.has_transcripts or _has_session_folder(folder, inside)


def _has_session_folder(folder: Path, inside: _Inside) -> bool:
    return any(
        name != _SUBAGENTS and (folder / name / _SUBAGENTS).is_dir() for name in inside.folders
    )
