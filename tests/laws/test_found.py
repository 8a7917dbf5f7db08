"""What the laws found: each the least evidence that once depended on the moments of reading, with those moments."""

from __future__ import annotations

from typing import Any

import pytest
from tests.builders.records import Record, answered, asked, at, called, counters, line, said
from tests.laws.observing import Observer
from tests.laws.trees import at_once, content, difference, workplace

MAIN, OTHER, COPY = "p/s1.jsonl", "p/s2.jsonl", "q/s1.jsonl"
AGENT, META = "p/s1/subagents/agent-a1.jsonl", "p/s1/subagents/agent-a1.meta.json"
Stage = dict[str, bytes]
"""What is appended to which files before the next look."""


def of(session: str, record: Record, **fields: Any) -> bytes:  # noqa: ANN401 - any JSON
    """A line of a session; fields that are None are left out."""
    whole = {"sessionId": session, "timestamp": at(1), **record, **fields}
    return line({name: value for name, value in whole.items() if value is not None})


def bare(record: bytes) -> bytes:
    """A record without its newline."""
    return record.rstrip(b"\n")


def inner(message: str, **fields: Any) -> Record:  # noqa: ANN401 - any JSON
    """A progress record of an old client that repeats an agent's response."""
    response = {
        "type": "assistant",
        "timestamp": at(2),
        "message": said(message, **fields)["message"],
    }
    data = {"type": "agent_progress", "agentId": "a1", "message": response}
    return {"type": "progress", "data": data, "parentToolUseID": "t1"}


RESPONSE = of("s1", said("m1"))
RESULT = of("s1", answered("t1")).replace(b'"done"', '"ü"'.encode())
WORKING = of("s1", asked("go"), agentId="a1", isSidechain=True, timestamp=at(1))
ENDED = of("s1", {"type": "cost-state", "totalCostUSD": 1}, timestamp=at(9))
STARTED_AGAIN = of(
    "s1",
    {"type": "progress", "data": {"type": "hook_progress", "hookName": "SessionStart:resume"}},
    timestamp=at(9),
)
QUEUED = of("s1", {"type": "queue-operation", "operation": "enqueue"})
DRIVEN = QUEUED + of("s1", asked("go"), version="2.1.20")
DONE = of("s1", said("m1"), version="2.1.20", timestamp=at(5))
BARE_INPUT = {"request": None, "usage": counters(0, 5)}
GATEWAY = {"request": None, "uuid": "u1"}

CASES: dict[str, list[Stage]] = {
    "a carriage return behind a record": [{MAIN: bare(RESPONSE)}, {MAIN: b"\r\n"}],
    "white space behind a record": [{MAIN: bare(RESPONSE)}, {MAIN: b" \t\n"}],
    "white space behind a last record": [{MAIN: bare(RESPONSE)}, {MAIN: b" "}],
    "a space between glued records": [{MAIN: bare(RESPONSE)}, {MAIN: b" " + RESPONSE}],
    "a mark between glued records": [{MAIN: bare(RESPONSE)}, {MAIN: b"\xef\xbb\xbf" + RESPONSE}],
    "a result glued to another record": [{MAIN: bare(RESULT)}, {MAIN: RESULT}],
    "a torn record glued to a whole one": [{MAIN: bare(RESPONSE)}, {MAIN: RESPONSE[:20]}],
    "garbage behind a last record": [{MAIN: bare(RESPONSE)}, {MAIN: b"7"}],
    "a response that a transcript takes over from another session's progress": [
        {OTHER: of("s2", inner("m1"))},
        {OTHER: of("s2", said("m2", timestamp=at(5)))},
        {MAIN: of("s1", said("m2", timestamp=at(4)))},
        {MAIN: of("s1", said("m1"))},
    ],
    "an implausible record of a shared response": [
        {MAIN: of("s1", said("m1", timestamp=at(3)))},
        {OTHER: of("s2", said("m1", timestamp=at(2))) + of("s2", said("m1", counters(-1)))},
        {MAIN: of("s1", said("m1", counters(-2), timestamp=at(1)))},
    ],
    "a placeholder that leaves the request it had joined": [
        {MAIN: of("s1", said("m1", counters(40), **GATEWAY))},
        {OTHER: of("s2", said("m1", **BARE_INPUT, timestamp=at(3)))},
        {COPY: of("s3", said("m1", counters(50), request=None, timestamp=at(4)))},
    ],
    "a main thread that gets its status after its process ended": [
        {MAIN: STARTED_AGAIN, AGENT: WORKING},
        {MAIN: of("s1", asked("hi"))},
    ],
    "a program that drives the client, as another source tells": [
        {MAIN: DRIVEN, AGENT: WORKING},
        {COPY: DONE},
    ],
    "a client that is replaced by one that waits for its agents": [
        {MAIN: DRIVEN + DONE, AGENT: WORKING},
        {MAIN: of("s1", {"type": "surprise"}, version="2.1.332")},
    ],
    "an agent that was finished, resumed and lost": [
        {META: b'{"toolUseId":"t1"}', AGENT: WORKING},
        {MAIN: of("s1", said("m1", content=[called("t1", "Agent")])) + of("s1", answered("t1", {"agentId": "a1", "status": "completed"}), timestamp=at(2))},
        {MAIN: of("s1", said("m2", content=[called("t2", "SendMessage")])) + of("s1", answered("t2", {"resumedAgentId": "a1"}), timestamp=at(4))},
        {MAIN: ENDED},
    ],
    "an agent that ended its own process": [
        {AGENT: WORKING + of("s1", asked("<command-name>/exit</command-name>"), agentId="a1")},
        {MAIN: of("s1", asked("hi")) + ENDED},
    ],
    "agents of one file that tie": [
        {OTHER: of("s2", asked("x"), agentId="a0", isSidechain=True)},
        {AGENT: of("s9", asked("x"), agentId="a1", version="1.0.0") + of("s9", asked("x"), agentId="a0", version="2.0.0")},
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_evidence_read_in_stages_equals_evidence_read_at_once(name: str) -> None:
    """Looked at after each stage by one collector, it comes to what one pass over the finished files comes to."""
    with workplace() as place:
        observer = Observer(place / "staged.db", place / "projects")
        for stage in CASES[name]:
            for path, data in stage.items():
                file = place / "projects" / path
                file.parent.mkdir(parents=True, exist_ok=True)
                with file.open("ab") as out:
                    out.write(data)
            observer.reopen()
            observer.tick()
        assert difference(observer.settled(), at_once(place, place / "once.db")) == []


def test_the_installation_of_a_session_is_that_of_its_first_root() -> None:
    """Whichever of two roots that hold parts of it was read first, also for responses that only the other one holds."""
    with workplace() as place:
        roots = [place / name / "projects" for name in ("a", "b")]
        for root, message in zip(roots, ("m1", "m2"), strict=True):
            (root / "p").mkdir(parents=True)
            (root / "p" / "s1.jsonl").write_bytes(of("s1", said(message)))
        dumps = [
            Observer(place / f"{number}.db", *order).settled()
            for number, order in enumerate((roots, roots[::-1]))
        ]
        assert difference(*dumps) == []
        assert '"root":2' not in next(row for row in dumps[0] if row.startswith("sessions "))


def test_a_touched_sidecar_that_cannot_be_read_writes_nothing() -> None:
    """It is as unreadable as before."""
    with workplace() as place:
        path = place / "projects" / META
        path.parent.mkdir(parents=True)
        path.write_bytes(b'{"agentType":')
        observer = Observer(place / "a.db", place / "projects")
        assert observer.tick() > 0
        path.touch()
        observer.reopen()
        assert observer.tick() == 0
        path.write_bytes(b'{"agentType":"x"')
        observer.reopen()
        assert observer.tick() > 0
        observer.close()
        assert sum(row.startswith("line_faults ") for row in content(place / "a.db")) == 1


def test_memory_that_is_stored_holds_no_secret() -> None:
    """The prompt of an open turn and the command of an open call are redacted in the checkpoint, too."""
    secret = "sk-ant-REDACTED" + "a1" * 10
    command = called("t1", "Bash", command=f"curl -H {secret}")
    with workplace() as place:
        path = place / "projects" / MAIN
        path.parent.mkdir(parents=True)
        path.write_bytes(of("s1", asked(f"use {secret}")) + of("s1", said("m1", content=[command])))
        observer = Observer(place / "a.db", place / "projects")
        observer.tick()
        state = observer.writer.connection.execute("SELECT state FROM checkpoints").get
        observer.close()
        assert b"[redacted]" in state
        assert secret.encode() not in state
