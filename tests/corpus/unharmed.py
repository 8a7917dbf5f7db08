"""What damage to some lines of one file may change in the logical dump, and nothing else.

The *zone* is what differs between the two versions of the file: whole lines between the longest common beginning and the
longest common end. Everything in it, before or after, is *named*: words as ids are made of. Then

* rows of other sources never differ;
* rows of the damaged source differ only inside the zone, or where their key is named (a call in the zone has its result
  outside, a claim made once per source moves to the next record that makes it), and by what a fold carries forward from
  the zone: the open turn, the time and session of records that state none, the chain of inline sidechains;
* a session, agent, run or response differs only if it is named or joined with the zone by a tool call or its prompt;
  whatever has records outside the zone is still there.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import msgspec
from tests.corpus.zone import Zone

from stemma.derive.usage import STATE_OWNER_INFERRED, STATE_SHARED
from stemma.model.event import EventType

Row = dict[str, Any]
Dump = dict[str, list[Row]]
_FREE = {"generations", "message_sessions", "shared_sessions"}
_OFFSETS = ("offset", "winner_offset", "first_offset", "last_offset", "result_offset")
_CARRIED = {
    "turn.started",
    "turn.completed",
    "turn.failed",
    "session.started",
    "subagent.started",
    "skill.activated",
}
_THREAD = {"status", "status_reason", "status_grade", "status_basis", "status_at"}


class Comparison:
    """Compares the dumps before and after a damage; every difference that may not be is noted.

    Attributes:
        wrong: What may not be, as texts.
    """

    def __init__(self, before: Dump, after: Dump, zone: Zone) -> None:
        self.before, self.after, self.zone = before, after, zone
        self.wrong: list[str] = []
        self._joined = self._joined_agents()
        self._touched = self._touched_sessions()

    def run(self) -> list[str]:
        """Compare everything."""
        for table in sorted({*self.before, *self.after}):
            compare = getattr(self, f"_{table}", None)
            self._others(table, only_foreign=compare is not None or table in _FREE)
            if compare is not None:
                compare()
        return self.wrong

    def _touched_sessions(self) -> set[str]:
        """Sessions that a record in the zone belongs to, by its own word or by what is carried forward."""
        parts = self.zone.path.split("/")
        found = {*self.zone.named, parts[1].removesuffix(".jsonl")}
        for dump in (self.before, self.after):
            for row in dump.get("participations", ()):
                if row["source"]["path"] == self.zone.path:
                    found.add(row["session"])
        return found

    def _joined_agents(self) -> set[str]:
        """Agents that a call in the zone started, by its id or by its prompt, and those of the damaged file."""
        prompts, agents, runs = set[str](), set[str](), set[str]()
        for dump, new in ((self.before, False), (self.after, True)):
            for row in dump.get("claims", ()):
                mine = row["source"]["path"] == self.zone.path and self.zone.holds(
                    row["offset"], new=new
                )
                if row["kind"] == "spawn_block" and mine:
                    prompts.add(row["link"])
                if mine or row["link"] in self.zone.calls:
                    (runs if row["kind"] in ("dispatch", "run_state") else agents).add(
                        row["subject"]
                    )
            for row in dump.get("participations", ()):
                if row["source"]["path"] == self.zone.path or row["prompt_digest"] in prompts - {
                    ""
                }:
                    agents.add(row["agent"])
        for dump in (self.before, self.after):
            agents |= {row["subject"] for row in dump.get("claims", ()) if row["link"] in runs}
        agents |= set(re.findall(r"agent-(.+?)(?:\.meta\.json|\.jsonl)$", self.zone.path))
        return agents | {agent for agent in self.zone.named if agent}

    def _named(self, *words: str) -> bool:
        """Whether any of the words stands in the zone, or has a character that only damage puts there."""
        text = self.zone.text.decode("utf-8", "replace")
        odd = ("\ufffd" in word or not word.isprintable() for word in words)
        return any(word and word in text for word in words) or any(odd)

    def _foreign(self, row: Row) -> bool:
        return "source" in row and row["source"]["path"] != self.zone.path

    def _others(self, table: str, *, only_foreign: bool = False) -> None:
        """Rows that may not differ at all."""
        if table in ("usage", "edges", "relationships"):
            return
        sides = [
            Counter(
                _text(row) for row in dump.get(table, ()) if not only_foreign or self._foreign(row)
            )
            for dump in (self.before, self.after)
        ]
        self._note(table, sides[0], sides[1])

    def _note(self, what: str, before: Counter[str], after: Counter[str]) -> None:
        for label, extra in (("lost", before - after), ("new", after - before)):
            self.wrong.extend(f"{what}: {label} {text[:700]}" for text in sorted(extra))

    def _mine(self, table: str) -> tuple[list[Row], list[Row]]:
        """Rows of the damaged source outside the zone, places of the new version mapped to the old."""
        sides = []
        for dump, new in ((self.before, False), (self.after, True)):
            rows = []
            for row in dump.get(table, ()):
                if self._foreign(row) or self.zone.holds(row.get("offset", -1), new=new):
                    continue
                if new:
                    row = {k: self.zone.maps(v) if k in _OFFSETS else v for k, v in row.items()}  # noqa: PLW2901
                rows.append(row)
            sides.append(rows)
        return sides[0], sides[1]

    def _same(self, table: str, fields: tuple[str, ...], excused: Callable[[Row], bool]) -> None:
        sides = [
            Counter(_text({k: _plain(row[k]) for k in fields}) for row in rows if not excused(row))
            for rows in self._mine(table)
        ]
        self._note(table, sides[0], sides[1])

    def _record_kinds(self) -> None:
        fields = ("type", "subtype", "known", "count")

        def excused(row: Row) -> bool:
            kind = row["type"].split(":")[-1]
            return not kind or self._named(kind, row["subtype"])

        self._same("record_kinds", fields, excused)

    def _line_faults(self) -> None:
        self._same("line_faults", ("offset", "length", "reason", "detail"), lambda _row: False)

    def _event_segments(self) -> None:
        sides = []
        affected = self._affected_places()
        for dump, new in ((self.before, False), (self.after, True)):
            found: Counter[str] = Counter()
            for row in dump.get("event_segments", ()):
                for event in () if self._foreign(row) else row["body"]:
                    values = (
                        event if isinstance(event, dict) else dict(zip(_EVENT, event, strict=False))
                    )
                    place = self.zone.maps(values["offset"]) if new else values["offset"]
                    inside = self.zone.holds(values["offset"], new=new)
                    if inside or place in affected or _word_of(values["type"]) in _CARRIED:
                        continue
                    kept = ("type", "length", "uuid", "subject", "name", "summary")
                    agent = _plain(values["agent"])
                    found[
                        _text(
                            {
                                "offset": place,
                                "agent": agent,
                                **{k: _plain(values.get(k, "")) for k in kept},
                            }
                        )
                    ] += 1
            sides.append(found)
        self._note("events", sides[0], sides[1])

    def _affected_places(self) -> set[int]:
        """Places outside the zone whose events say something of a call in it."""
        found: set[int] = set()
        for rows in self._mine("tool_executions"):
            for row in rows:
                if row["tool_use"] in self.zone.calls:
                    found |= {row["offset"], row["result_offset"]}
        for dump, new in ((self.before, False), (self.after, True)):
            for row in dump.get("tool_executions", ()):
                if not self._foreign(row) and row["tool_use"] in self.zone.calls:
                    places = (row["offset"], row["result_offset"])
                    found |= {self.zone.maps(place) if new else place for place in places}
        return found

    def _claims(self) -> None:
        def excused(row: Row) -> bool:
            named = self._named(row["subject"], row["link"])
            return (
                named
                or row["kind"] in ("inline_root", "lineage", "recorded_total")
                or row["session"] in ("", None)
            )

        self._same("claims", ("kind", "subject", "offset", "grade", "link", "body"), excused)

    def _usage_claims(self) -> None:
        rows = ("message_id", "offset", "model", "claim")
        sides = []
        for before in self._mine("usage_claims"):
            found: Counter[str] = Counter()
            for row in before:
                if self._named(row["message_id"]) or row["claim"]["via"] == "search":
                    continue
                claim = {
                    k: v
                    for k, v in row["claim"].items()
                    if k not in (*_OFFSETS, "agent", "session", "at")
                }
                found[_text({**{k: row[k] for k in rows if k != "claim"}, "claim": claim})] += 1
            sides.append(found)
        self._note("usage_claims", sides[0], sides[1])

    def _participations(self) -> None:
        def excused(row: Row) -> bool:
            return row["session"] in self._touched or not self.zone.stated

        self._same("participations", ("session", "agent", "records", "responses", "tools"), excused)

    def _turns(self) -> None:
        fields = ("offset", "uuid", "agent", "origin", "prompt")
        self._same("turns", fields, lambda row: row["origin"] == "unknown")

    def _tool_executions(self) -> None:
        def excused(row: Row) -> bool:
            return self._named(row["tool_use"]) or not row["tool_use"]

        def refused(row: Row) -> bool:
            """The marker of an interrupt says how the latest refused call ended; either may be in the zone."""
            return excused(row) or row["status"] in ("denied", "interrupted")

        call = ("offset", "tool_use", "agent", "name", "action", "target")
        result = ("exit_code", "result_bytes", "result_offset")
        self._same("tool_executions", (*call, *result), excused)
        self._same("tool_executions", ("offset", "status", "reason"), refused)

    def _compactions(self) -> None:
        self._same(
            "compactions",
            ("offset", "uuid", "agent", "trigger", "tokens_before"),
            lambda _row: False,
        )

    def _sessions(self) -> None:
        old, new = (
            {row["session"]: row for row in dump.get("sessions", ())}
            for dump in (self.before, self.after)
        )
        for session, row in old.items():
            if session not in new:
                if self._records(session) > self.zone.old:
                    self.wrong.append(f"sessions: lost {session}")
            elif session not in self._touched and new[session] != row:
                self.wrong.append(f"sessions: changed {_text(row)} to {_text(new[session])}")
        self.wrong.extend(
            f"sessions: new {one}" for one in set(new) - set(old) if one not in self._touched
        )

    def _records(self, session: str) -> int:
        return sum(
            row["conversation"]
            for row in self.before["participations"]
            if row["session"] == session
        )

    def _agents(self) -> None:
        old, new = (
            {(row["session"], row["agent"]): row for row in dump.get("agents", ())}
            for dump in (self.before, self.after)
        )
        for key, row in old.items():
            if key not in new:
                held = sum(
                    p["records"]
                    for p in self.before["participations"]
                    if (p["session"], p["agent"]) == key
                )
                if held > self.zone.old and not key[1].startswith("inline-"):
                    self.wrong.append(f"agents: lost {key}")
                continue
            differing = {name for name in row if row[name] != new[key][name]}
            if key[0] in self._touched:
                differing -= set(row) if key[1] in self._joined else _THREAD
            if differing:
                self.wrong.append(
                    f"agents: {key} differs in {differing}: {_text(row)} to {_text(new[key])}"
                )
        for key in set(new) - set(old):
            if key[0] not in self._touched or key[1] not in self._joined:
                self.wrong.append(f"agents: new {key}")

    def _edges(self) -> None:
        self._proofs("edges")

    def _relationships(self) -> None:
        self._proofs("relationships")

    def _proofs(self, table: str) -> None:
        sides = []
        for dump, new in ((self.before, False), (self.after, True)):
            found: Counter[str] = Counter()
            for row in dump.get(table, ()):
                if row["session"] in self._touched and row["child"] in self._joined:
                    continue
                found[_text(self._moved(row) if new else row)] += 1
            sides.append(found)
        self._note(table, sides[0], sides[1])

    def _moved(self, row: Row) -> Row:
        return row if self._foreign(row) else {**row, "offset": self.zone.maps(row["offset"])}

    def _workflow_runs(self) -> None:
        old, new = (
            {(r["session"], r["run"]): r for r in dump.get("workflow_runs", ())}
            for dump in (self.before, self.after)
        )
        for key in set(old) | set(new):
            excused = key[0] in self._touched and (
                self._named(key[1]) or self._named(*_calls(old.get(key), new.get(key)))
            )
            if not excused and old.get(key) != new.get(key) and key[1] not in self._joined:
                self.wrong.append(f"workflow_runs: {key} {old.get(key)} {new.get(key)}")

    def _usage(self) -> None:
        sides = []
        for dump, new in ((self.before, False), (self.after, True)):
            found: dict[str, list[Row]] = defaultdict(list)
            for row in dump.get("usage", ()):
                found[row["message_id"]].append(self._counted(self._moved(row) if new else row))
            sides.append(found)
        for message in set(sides[0]) | set(sides[1]):
            if not self._named(message) and sides[0].get(message) != sides[1].get(message):
                if message.startswith("sha256:"):
                    continue
                self.wrong.append(
                    f"usage: {message} {sides[0].get(message)} {sides[1].get(message)}"
                )

    def _counted(self, row: Row) -> Row:
        """A row of usage without what a tie of copies, or a search count in the zone, may decide otherwise."""
        row = {**row, "agent": _plain(row["agent"])}
        if row["state"] & STATE_SHARED and b"sessionId" in self.zone.text:
            row = {
                **row,
                "session": "",
                "agent": "",
                "state": row["state"] & ~STATE_OWNER_INFERRED,
                "first_at": 0,
            }
            row.pop("instance")
        if b"searchCount" in self.zone.text:
            row["web_searches"] = 0
        return row

    def _lineage(self) -> None:
        sides = [
            Counter(
                _text(row)
                for row in dump.get("lineage", ())
                if not {row["session"], row["origin"]} & self._touched
            )
            for dump in (self.before, self.after)
        ]
        self._note("lineage", sides[0], sides[1])


_EVENT = (
    "offset", "length", "ordinal", "type", "at", "origin", "session", "agent", "turn", "uuid", "subject", "name", "summary",
    "amount",
)  # fmt: skip


def _word_of(kind: object) -> str:
    return EventType(kind).word if isinstance(kind, int) else str(kind)


def _calls(*rows: Row | None) -> list[str]:
    return [row["tool_use"] for row in rows if row]


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Inline agents are named after a record that may be in the zone."""
    return re.sub(r"inline-[0-9a-f]+", "inline", value) if isinstance(value, str) else value


def _text(value: object) -> str:
    return msgspec.json.encode(value, order="sorted").decode()
