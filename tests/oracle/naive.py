"""An independent, slow and obvious reader of Claude Code transcripts, to judge the fast one by.

Written from ACCOUNTING.md section 1 ("A.n": its rule n, "identity n": a point of its identity rule),
FORMATS.md and DESIGN.md section 3 alone. "Choice:" marks a reading where the text leaves several.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Json = dict[str, Any]
T = TypeVar("T", str, dict[str, Any], list[Any])
Locator = tuple[str, int, int]  # file below the root, byte offset of the line, place in the line

BUCKETS = ("input", "output", "cache_write_5m", "cache_write_1h", "cache_read")
FLAT = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
PARTS = {"advisor_message": "advisor", "compaction": "compaction"}  # A.6
NEVER = datetime.max.replace(tzinfo=UTC)  # what has no time sorts last
MOST = 10_000_000  # A.9: more in one counter is an anomaly
TINY = 10  # A.8 names no number. Choice: the placeholders on record are 1 to 9 tokens


class Usage(NamedTuple):
    """The five buckets of a usage object, its web searches, and what is wrong with it."""

    input: int
    output: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int
    searches: int = 0
    implausible: bool = False
    split_exceeds_flat: bool = False


class Claim(NamedTuple):
    """What one record says of one response."""

    locator: Locator
    identity: str
    message_id: str
    request_id: str
    uuid: str
    session: str
    agent: str
    sidechain: bool
    time: datetime
    message: Json
    counts: bool  # it states usage and is not `<synthetic>`
    usage: Usage
    rows: tuple[tuple[str, str, Usage], ...]  # the usage and its iterations: part, model, usage


class Request(NamedTuple):
    """One counted request, or one iteration beside it (same key, another part)."""

    key: str
    message_id: str
    session: str
    agent: str
    model: str
    input: int
    output: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int
    part: str
    incomplete: bool
    web_searches: int
    first_time: datetime | None
    held_by: tuple[str, ...]  # the owner and the sessions that show it as inherited
    inferred_owner: bool


class Report(NamedTuple):
    """What was counted, and all that was not (A.10)."""

    requests: list[Request]
    anomalies: list[str]
    flags: list[str]  # what counts, yet is odd
    skipped_lines: int  # line faults (DESIGN section 3): bad JSON, not an object, wrong types


def objects(line: str) -> Iterator[Json | None]:
    """The objects glued together on one line; None for each stretch that is not one."""
    at, torn = 0, False
    while at < len(line):
        try:
            value, end = json.JSONDecoder().raw_decode(line, at)
        except (ValueError, RecursionError):
            value, end = None, at
        if isinstance(value, dict) and line[end : end + 1] in ("", "{"):
            yield value
            at, torn = end, False
        else:
            if not torn:
                yield None
            at, torn = line.find("}{", at) + 1 or len(line), True


def records(data: bytes) -> Iterator[tuple[int, int, Json | None]]:
    """Records as (offset, place in the line, object or None for a fault).

    Tail read: an unterminated last line is taken if it is one valid object, else it is pending.
    Choice: a line of nothing but NULs is a fault; invalid UTF-8 is replaced, not refused.
    """
    offset = 0
    for raw in data.split(b"\n"):
        text = raw.decode("utf-8", "replace").strip().lstrip("\0\ufeff").strip()
        found = (list(objects(text)) or [None]) if raw.strip() else []
        if offset + len(raw) < len(data) or (len(found) == 1 and found[0] is not None):
            for place, record in enumerate(found):
                yield offset, place, record
        offset += len(raw) + 1


def number(raw: object) -> int:
    """A counter: int, integral float, numeric string, null as 0 (A.9); others (NaN) are faults."""
    n = json.loads(raw) if isinstance(raw, str) else raw
    if isinstance(n, float) and abs(n) == float("inf"):
        return MOST + 1
    if isinstance(n, bool) or not isinstance(n, int | float | None) or (n or 0) != int(n or 0):
        raise TypeError
    return int(n or 0)


def typed(holder: Json, name: str, kind: type[T]) -> T:
    """A field of one type: null is its empty value (so is "", B03), another type a line fault."""
    value = holder.get(name)
    if not isinstance(value, kind | None):
        raise TypeError
    return value or kind()


def moment(value: object) -> datetime:
    """A timestamp in UTC, also if it names no zone; what is none sorts last."""
    try:
        time = datetime.fromisoformat(value if isinstance(value, str) else "")
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return NEVER


def usage_of(usage: Json) -> Usage:
    """The buckets of a usage object (A.5), and A.9's verdict on each counter as written."""
    split, tools = typed(usage, "cache_creation", dict), typed(usage, "server_tool_use", dict)
    given, output, flat, read = (number(usage.get(name)) for name in FLAT)
    five, hour = (number(split.get(f"ephemeral_{age}_input_tokens")) for age in ("5m", "1h"))
    searches = number(tools.get("web_search_requests"))
    wrong = any(not 0 <= n <= MOST for n in (given, output, flat, read, five, hour, searches))
    rest = max(0, flat - five - hour)
    return Usage(given, output, five + rest, hour, read, searches, wrong, five + hour > flat)


def blocks(message: object, **want: str) -> list[Json]:
    """The content blocks of a message with these fields."""
    content = message.get("content") if isinstance(message, dict) else None
    found = [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []
    return [b for b in found if all(b.get(name) == value for name, value in want.items())]


def claim_of(inner: Json, record: Json, at: Locator, session: str, agent: str) -> Claim:
    """The claim of a response: `inner` is the record itself, or the one that a progress quotes."""
    message = typed(inner, "message", dict)
    usage, model = typed(message, "usage", dict), typed(message, "model", str)
    uuid, message_id = typed(inner, "uuid", str), typed(message, "id", str)
    digest = hashlib.sha256(json.dumps(message, sort_keys=True).encode()).hexdigest()
    entries = [e for e in typed(usage, "iterations", list) if isinstance(e, dict)]
    parts = [(str(e.get("type")), typed(e, "model", str) or model, usage_of(e)) for e in entries]
    beside = [(PARTS[kind], own, counters) for kind, own, counters in parts if kind in PARTS]
    return Claim(
        locator=at,
        identity=message_id or (f"uuid:{uuid}" if uuid else f"sha256:{digest}"),
        message_id=message_id,
        request_id=typed(inner, "requestId", str),
        uuid=uuid,
        session=session,
        agent=agent,
        sidechain=record.get("isSidechain") is True,
        time=moment(inner.get("timestamp") or record.get("timestamp")),
        message=message,
        counts=message.get("usage") is not None and model != "<synthetic>",
        usage=usage_of(usage),
        rows=(("message", model, usage_of(usage)), *beside),
    )


class Evidence:
    """All that the records below one root say."""

    def __init__(self) -> None:
        self.claims: list[Claim] = []
        self.legacy: list[Claim] = []
        self.starts: dict[str, datetime] = defaultdict(lambda: NEVER)
        self.marks: dict[str, list[tuple[datetime, set[str]]]] = defaultdict(list)
        self.homes: dict[str, set[str]] = defaultdict(set)  # `uuid` or `message.id`: its sessions
        self.searches: dict[str, list[tuple[datetime, Locator, int]]] = defaultdict(list)

    def take(self, record: Json | None, at: Locator, session: str, agent: str) -> None:
        """Note what one record contributes: `assistant`, and legacy `progress` (A.2)."""
        if record is None:
            raise ValueError
        session = typed(record, "sessionId", str) or session
        side = "sidechain" if record.get("isSidechain") is True else "main"
        agent = typed(record, "agentId", str) or agent or side
        time, ids = moment(record.get("timestamp")), {typed(record, "uuid", str)}
        data = record["data"] if isinstance(record.get("data"), dict) else {}
        quoted = data["message"] if isinstance(data.get("message"), dict) else {}
        if record.get("type") == "assistant":
            self.claims.append(claim_of(record, record, at, session, agent))
            ids.add(self.claims[-1].message_id)
        elif record.get("type") == "progress" and quoted.get("type") == "assistant":
            agent = typed(data, "agentId", str) or agent
            self.legacy.append(claim_of(quoted, record, at, session, agent))
        answers = blocks(record.get("message"), type="tool_result")
        result = record.get("toolUseResult")
        if isinstance(result, dict) and "searchCount" in result and len(answers) == 1:
            tool, count = str(answers[0].get("tool_use_id")), number(result["searchCount"])
            self.searches[tool] += [(time, at, count)] if 0 <= count <= MOST else []
        self.starts[session] = min(time, self.starts[session])
        for name in ids - {""}:
            self.marks[session].append((time, ids - {""}))
            self.homes[name].add(session)

    def owner(self, claims: list[Claim]) -> tuple[str, bool]:
        """The owning session, and whether only the last two tie-breaks told it (identity 3).

        Choice: "shared" is a record whose `uuid` or `message.id` stands in another session too,
        records with neither say nothing; "all shared" is a session without any own record.
        """

        def rank(session: str) -> tuple[datetime, bool, datetime, str]:
            marks = self.marks[session]
            own = [time for time, ids in marks if all(len(self.homes[i]) == 1 for i in ids)]
            return self.starts[session], bool(own), min(own, default=NEVER), session

        first = min(c.time for c in claims)
        tied = {c.session for c in claims if c.time == first}
        best, *others = sorted(map(rank, tied)) if len(tied) > 1 else [(NEVER, True, NEVER, *tied)]
        return str(best[-1]), any(other[:2] == best[:2] for other in others)


def transcripts(root: Path) -> Iterator[tuple[Path, str, str]]:
    """Transcript files with the session and the agent that their place names."""
    for path in sorted(root.glob("*/**/*.jsonl")):
        folders, is_agent = path.relative_to(root).parts[1:-1], path.name.startswith("agent-")
        wanted = folders[1:2] == ("subagents",) and is_agent if folders else True
        if wanted and len(folders) <= 6 and path.is_file() and not path.is_symlink():
            yield path, folders[0] if folders else path.stem, path.stem[6:] if is_agent else ""


def separate(claims: list[Claim]) -> list[list[Claim]]:
    """The requests behind the claims of one identity, earliest first (identity 1).

    Choice: placeholders are 0 and 1 (B36); "the only other claim" is the only other request.
    """

    def same(a: Claim, b: Claim) -> bool:
        x, y = ((c.usage[0], c.usage[2] + c.usage[3], c.usage[4]) for c in (a, b))
        copied = (a.uuid != "" and a.uuid == b.uuid) or a.time == b.time != NEVER
        return x == y and (a.session == b.session or copied)

    def linked(some: list[Claim]) -> list[list[Claim]]:
        groups: list[list[Claim]] = []
        for claim in some:
            near = [g for g in groups if any(same(claim, other) for other in g)]
            groups = [g for g in groups if g not in near] + [sum(near, [claim])]
        return groups

    if not claims[0].message_id or any(c.request_id for c in claims):
        return [claims]
    vague = [c for c in claims if c.usage.input in (0, 1)]
    solid = linked([c for c in claims if c.usage.input not in (0, 1)])
    groups = solid + linked(vague)
    if len(solid) == 1 or (not solid and len(groups) <= 2):
        return [claims]
    return sorted(groups, key=lambda g: min((c.time, c.locator) for c in g))


def requests_of(key: str, claims: list[Claim], seen: Evidence) -> Iterator[Request]:
    """The counted request of one set of claims, and the iterations beside it (A.6)."""
    # identity 2: main chain, then most output, then largest total, then least (time, locator)
    order = [(c.sidechain, -c.usage[1], -sum(c.usage[:5]), c.time, c.locator) for c in claims]
    best = claims[order.index(min(order))]
    first, sessions = min(c.time for c in claims), {c.session for c in claims}
    session, inferred = seen.owner(claims)
    # A.7: the largest counter, else the first search counts of the linked results
    uses = [b for c in claims for b in blocks(c.message, type="tool_use", name="WebSearch")]
    results = [seen.searches.get(tool) for tool in {str(b.get("id")) for b in uses}]
    searches = max(c.usage.searches for c in claims) or sum(min(r)[-1] for r in results if r)
    unfinished = best.message.get("stop_reason") is None and best.usage.output <= TINY
    for part, model, usage in [row for row in best.rows if not row[2].implausible]:
        yield Request(
            *(key, best.message_id, session, best.agent, model, *usage[:5], part),
            incomplete=unfinished and part == "message",
            web_searches=searches if part == "message" else 0,
            first_time=None if first == NEVER else first,
            held_by=tuple(sorted(sessions)),
            inferred_owner=inferred,
        )


def read(root: Path) -> Report:
    """Read a `projects` folder and count every request once."""
    seen, report, skipped = Evidence(), Report([], [], [], 0), 0
    for path, session, agent in transcripts(root):
        name = path.relative_to(root).as_posix()
        for offset, place, record in records(path.read_bytes()):
            try:
                seen.take(record, (name, offset, place), session, agent)
            except (TypeError, ValueError):
                skipped += 1
    held, sets = {c.identity for c in seen.claims}, defaultdict(list)
    for claim in seen.claims + [c for c in seen.legacy if c.identity not in held]:
        odd = [row for row in claim.rows if claim.counts and row[2].implausible]
        report.anomalies.extend(f"{claim.identity} at {claim.locator}: {row}" for row in odd)
        if claim.counts and not claim.usage.implausible:
            sets[claim.identity].append(claim)
    for name, claims in sorted(sets.items()):
        groups = separate(claims)
        for n, group in enumerate(groups, 1):
            key = name if len(groups) == 1 else f"{name}#{n}"
            report.requests.extend(requests_of(key, group, seen))
            exceeds = any(c.usage.split_exceeds_flat for c in group)
            report.flags.extend([f"{key}: gateway id"] if len(groups) > 1 else [])
            report.flags.extend([f"{key}: breakdown exceeds flat total"] if exceeds else [])
    return report._replace(skipped_lines=skipped)


def by(requests: Iterable[Request], *fields: str) -> dict[tuple[Any, ...], dict[str, int]]:
    """`totals` for each combination of the given fields."""
    groups: dict[tuple[Any, ...], list[Request]] = defaultdict(list)
    for request in requests:
        groups[tuple(getattr(request, name) for name in fields)].append(request)
    return {key: totals(group) for key, group in groups.items()}


def totals(requests: Iterable[Request]) -> dict[str, int]:
    """The five buckets, and the number of responses: only a "message" is one."""
    rows = list(requests)
    sums = {bucket: sum(getattr(row, bucket) for row in rows) for bucket in BUCKETS}
    return {**sums, "responses": sum(row.part == "message" for row in rows)}
