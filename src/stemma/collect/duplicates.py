"""Sessions that more than one project claims (DESIGN section 3, *duplicate session*). Pure.

The evidence of all of them is united and the smallest-sorting project names the session; the others are reported.
"""

from collections.abc import Iterable

from stemma.model.source import Skip, SkipReason, SourceFile, SourceKind

_Claim = tuple[bool, str]


class SessionClaims:
    """Which files of which projects claim a session, kept up to date file by file."""

    def __init__(self) -> None:
        self._claims: dict[str, dict[str, set[_Claim]]] = {}

    def add(self, file: SourceFile) -> None:
        """Note a file."""
        placement = file.placement
        if placement.session_hint:
            slugs = self._claims.setdefault(placement.session_hint, {})
            slugs.setdefault(placement.project_slug, set()).add(_claim(file))

    def discard(self, file: SourceFile) -> None:
        """Forget a file."""
        placement = file.placement
        slugs = self._claims.get(placement.session_hint, {})
        claims = slugs.get(placement.project_slug, set())
        claims.discard(_claim(file))
        if not claims:
            slugs.pop(placement.project_slug, None)
        if not slugs:
            self._claims.pop(placement.session_hint, None)

    def conflicts(self, session: str) -> tuple[Skip, ...]:
        """One skip for every project that claims the session in vain, on its transcript or else its first file."""
        slugs = self._claims.get(session, {})
        owner, *others = sorted(slugs) or [""]
        return tuple(_conflict(slugs[slug], owner) for slug in others)


def duplicate_sessions(files: Iterable[SourceFile]) -> list[Skip]:
    """All conflicts among files, sorted by path."""
    claims = SessionClaims()
    sessions: set[str] = set()
    for file in files:
        claims.add(file)
        sessions.add(file.placement.session_hint)
    found = [skip for session in sessions for skip in claims.conflicts(session)]
    return sorted(found, key=lambda skip: skip.relpath)


def _claim(file: SourceFile) -> _Claim:
    """Sorts transcripts of sessions before everything else."""
    return (file.placement.kind is not SourceKind.MAIN, file.relpath)


def _conflict(claims: set[_Claim], owner: str) -> Skip:
    detail = f"its session belongs to project {owner}"
    return Skip(min(claims)[1], SkipReason.DUPLICATE_SESSION, detail)
