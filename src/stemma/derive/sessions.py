"""The session fact and its lineage."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from stemma.model.entity import MAIN
from stemma.model.evidence import Grade
from stemma.relate.evidence import SourcedPart, latest_parts


class SessionFact(Struct, frozen=True):
    """The logical conversation, united from all sources that state its id.

    Attributes:
        session: Upstream session id.
        project: Smallest-sorting project slug of its sources.
        projects: All project slugs of its main sources; more than one is a conflict (*duplicate session*).
        cwd: Working directory that the earliest record states, or empty.
        branch: Git branch that the latest record states.
        model: Model of the main thread's latest response.
        version: Client version, latest.
        entrypoint: How the client was started, latest.
        title: Title, else the first prompt.
        title_basis: ``custom``, ``generated``, ``first prompt``, ``first command`` or empty.
        started_at: Earliest record, microseconds; 0 unknown.
        last_at: Latest record.
        prompts: Prompts by a person.
        compactions: Compaction boundaries.
        api_errors: Final API failures.
        root_session: First session id of the process, where a record states one.
        completeness: ``main`` or ``no-main`` (only agents of it are there).
    """

    session: str
    project: str
    projects: tuple[str, ...]
    cwd: str
    branch: str
    model: str
    version: str
    entrypoint: str
    title: str
    title_basis: str
    started_at: int
    last_at: int
    prompts: int
    compactions: int
    api_errors: int
    root_session: str
    completeness: str


_TITLE_BASES = {3: "custom", 2: "generated"}


class Distinct(NamedTuple):
    """Counts over several sources that may hold copies of each other's records.

    Attributes:
        prompts: Distinct prompts by a person.
        compactions: Distinct compaction boundaries.
    """

    prompts: int
    compactions: int


def derive_session(
    session: str, parts: list[SourcedPart], distinct: Distinct | None = None
) -> SessionFact | None:
    """The session that the participations speak of; nothing when no record of a conversation states its id.

    Args:
        session: Its id.
        parts: All participations that state it.
        distinct: Counts by record id, for a session whose main thread stands in several sources: clients that fork or
            resume copy records with the session id that they had.
    """
    if not any(one.part.conversation for one in parts):
        return None
    main = [one for one in parts if one.part.agent == MAIN and one.part.conversation]
    own = main or parts
    last = sorted(own, key=lambda one: (one.part.last_at, *_place(one)))
    first = sorted(own, key=lambda one: (one.part.first_at or 1 << 62, *_place(one)))
    counted = latest_parts(main)
    titled = max(
        (one for one in reversed(last) if one.part.title_rank),
        key=lambda one: one.part.title_rank,
        default=None,
    )
    prompt = (
        next((one.part.first_prompt for one in first if one.part.first_prompt), "") if main else ""
    )
    command = next((one.part.title for one in first if one.part.title), "") if main else ""
    projects = tuple(sorted({one.project for one in (main or parts)}))
    return SessionFact(
        session=session,
        project=projects[0],
        projects=projects if main else projects[:1],
        cwd=_stated(first, "cwd"),
        branch=_stated(reversed(last), "branch"),
        model=_stated(reversed(last), "model") if main else "",
        version=_stated(reversed(last), "version"),
        entrypoint=_stated(reversed(last), "entrypoint"),
        title=titled.part.title if titled is not None else prompt or command,
        title_basis=_TITLE_BASES.get(titled.part.title_rank, "")
        if titled is not None
        else _untitled(prompt, command),
        started_at=min((one.part.first_at for one in parts if one.part.first_at), default=0),
        last_at=max(one.part.last_at for one in parts),
        prompts=distinct.prompts if distinct else sum(one.part.prompts for one in counted),
        compactions=distinct.compactions
        if distinct
        else sum(one.part.compactions for one in counted),
        api_errors=sum(one.part.api_errors for one in counted),
        root_session=_stated(first, "root_session"),
        completeness="main" if main else "no-main",
    )


def _place(one: SourcedPart) -> tuple[str, int, str]:
    return one.source, one.generation, one.part.agent


def _untitled(prompt: str, command: str) -> str:
    """What stands in for a title."""
    if prompt:
        return "first prompt"
    return "first command" if command else ""


def _stated(parts: object, field: str) -> str:
    return next((str(value) for one in parts if (value := getattr(one.part, field))), "")  # type: ignore[attr-defined]


class Lineage(Struct, frozen=True):
    """Where a session comes from.

    Attributes:
        session: The later session.
        origin: The session whose history it holds, or that its process began with.
        kind: ``fork`` (copied history) or ``clear`` (same process, emptied context).
        grade: How sure.
        basis: What it rests on, in words.
        shared: Responses of the origin that the session holds.
    """

    session: str
    origin: str
    kind: str
    grade: Grade
    basis: str
    shared: int


def derive_lineage(
    session: str, shared: dict[str, int], declared: set[str], roots: set[str]
) -> list[Lineage]:
    """Lineage of one session.

    Args:
        session: The session.
        shared: Responses it holds that others own, counted by owner.
        declared: Sessions that its records name as the makers of requests it holds.
        roots: First session ids of its process that its records name.
    """
    found = [
        Lineage(
            session, origin, "fork", Grade.OBSERVED if origin in declared else Grade.DERIVED,
            "records name the requesting session" if origin in declared else "shared message ids", number,
        )
        for origin, number in sorted(shared.items())
        if origin != session
    ]  # fmt: skip
    found.extend(
        Lineage(session, root, "clear", Grade.OBSERVED, "first session id of the process", 0)
        for root in sorted(roots - shared.keys())
        if root != session
    )
    return found
