"""Hostile lines: of any length, with any bytes and any values, they cost themselves and never the run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.builders.reading import Database
from tests.builders.records import Record, answered, asked, at, called, counters, line, said, write

from stemma.collect import tail

MEGABYTE = 1_000_000
BOM = b"\xef\xbb\xbf"
HUGE = 10**30
MOST_RSS = 200 << 20
SNAPSHOT: Record = {
    "type": "file-history-snapshot",
    "messageId": "x",
    "snapshot": {"files": "y" * 3000},
}
MEASURE = """
import resource, sys
from pathlib import Path
from stemma.bootstrap import collect_once
collect_once(Path(sys.argv[1]), [Path(sys.argv[2])])
try:
    status = Path("/proc/self/status").read_text()
    print(int(status.split("VmHWM:")[1].split()[0]) << 10)
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(peak if sys.platform == "darwin" else peak << 10)
"""


def read(folder: Path, tree: dict[str, list[Record | bytes] | Record]) -> Database:
    """Write a tree and take it in."""
    return Database(folder / "stemma.db", write(folder / "projects", tree))


def check(folder: Path, lines: list[Record | bytes], output: int, *faults: str) -> Database:
    """One transcript: its output tokens and the reasons of its faults."""
    database = read(folder, {"p/s1.jsonl": lines})
    assert database.totals()["output"] == output
    assert [fault.reason for fault in database.faults()] == list(faults)
    assert Database(database.path, folder / "projects").rows_written == 0
    return database


def plain(message: str, output: int = 5, **fields: object) -> bytes:
    """A line without its newline."""
    record = {**said(message, counters(1, output)), "sessionId": "s1", "timestamp": at(0), **fields}
    return line(record)[:-1]


def test_a_line_of_five_megabytes_is_read(tmp_path: Path) -> None:
    """An image in a prompt, or a long answer with its usage behind it."""
    image: Record = {"type": "image", "source": {"type": "base64", "data": "A" * 5 * MEGABYTE}}
    answer = said("msg_1", counters(1, 7), content=[{"type": "text", "text": "é" * 5 * MEGABYTE}])
    check(tmp_path, [asked([image]), answer, said("msg_2", counters(1, 3))], 10)


def test_a_line_over_the_limit_is_passed_over_and_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its place and length; what stands around it is read."""
    assert tail.read_blocks.__kwdefaults__ is not None
    monkeypatch.setitem(tail.read_blocks.__kwdefaults__, "line_limit", 4096)
    first, long = line(json.loads(plain("msg_1"))), b"{" + b" " * 9000 + b"}\n"
    database = check(tmp_path, [first, long, said("msg_2", counters(1, 3))], 8, "oversize")
    (fault,) = database.faults()
    assert (fault.path, fault.offset, fault.length) == ("p/s1.jsonl", len(first), len(long))


def test_line_ends_and_marks_of_other_systems_are_no_faults(tmp_path: Path) -> None:
    """CRLF, a mark on every line, several marks, blank lines."""
    lines = [BOM + plain(f"msg_{n}") + b"\r\n" for n in range(3)]
    check(
        tmp_path, [*lines, b"\r\n", b" \t\n", BOM + BOM + plain("msg_9") + b"\r\n", BOM + b"\n"], 20
    )


def test_glued_records_are_all_read(tmp_path: Path) -> None:
    """Three on one line; with a blank or a NUL between; whole behind torn."""
    glued = plain("msg_1") + plain("msg_2") + b" \0" + plain("msg_3") + b"\n"
    torn = plain("msg_4")[:-5] + b"}" + plain("msg_5") + b"\n"
    check(tmp_path, [glued, torn], 20, "json")


def test_a_line_of_very_many_objects_is_bounded(tmp_path: Path) -> None:
    """A million objects on one line are no million records."""
    database = check(tmp_path, [b"{}" * MEGABYTE + b"\n", said("msg_1", counters(1, 5))], 5, "json")
    assert database.faults()[0].length > MEGABYTE


@pytest.mark.parametrize(
    "text", [b"\\ud800", b"\\udfff\\ud800", b"\\u0000", b"\xff\xfe", b"\xed\xa0\x80", b"\x1b[31m"]
)
@pytest.mark.parametrize("field", ["text", "model", "id", "cwd"])
def test_texts_that_no_encoding_knows_keep_their_record(
    tmp_path: Path, text: bytes, field: str
) -> None:
    """Lone surrogates, NULs, bytes that are no UTF-8, control characters: in a text, a model, an id, a folder."""
    bare = plain(
        "msg_1", content=[{"type": "text", "text": "@text"}], model="@model", cwd="@cwd"
    ).replace(b'"msg_1"', b'"@id"', 1)
    row = bare.replace(b"@" + field.encode(), text)
    database = check(tmp_path, [row + b"\n", said("msg_2", counters(1, 3))], 8)
    json.dumps(database.dump(), default=str).encode()


ODD = (
    "a\nb",
    "a\0b",
    "a\ud800b",
    "main",
    " ",
    "\ufeff",
    "x" * 9000,
    "'\"",
    "%s",
    "../x",
    "\U0001f642",
    "[]",
    "null",
)


@pytest.mark.parametrize("odd", ODD)
def test_any_text_may_be_an_id(tmp_path: Path, odd: str) -> None:
    """Of a message, a request, a call, an agent, a run, a session: joined as exactly as a usual one."""
    text = odd.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    child = "agent-main" if odd == "main" else text
    spawn = called(odd, "Agent", prompt="go", subagent_type=odd, description=odd)
    tree: dict[str, list[Record | bytes] | Record] = {
        "p/s1.jsonl": [
            asked(sessionId=odd, uuid=odd, cwd=odd, gitBranch=odd),
            said(
                odd,
                counters(1, 2),
                sessionId=odd,
                request=odd,
                content=[spawn],
                model=odd,
                uuid="u1",
            ),
            said(
                odd,
                counters(1, 9),
                sessionId=odd,
                request=odd,
                content=[spawn],
                model=odd,
                uuid="u2",
            ),
            answered(
                odd,
                {"agentId": odd, "status": "completed", "runId": odd, "taskId": odd},
                sessionId=odd,
            ),
            {"type": odd, "subtype": odd, "sessionId": odd},
        ],
        "p/s1/subagents/agent-file.jsonl": [
            asked("go", isSidechain=True, agentId=odd, sessionId=odd),
            said("msg_2", counters(1, 70), isSidechain=True, agentId=odd, sessionId=odd),
        ],
        "p/s1/subagents/workflows/wf/journal.jsonl": [
            {"type": "started", "agentId": odd, "label": odd}
        ],
    }
    database = read(tmp_path, tree)
    assert {key: one["output"] for key, one in database.by("session", "agent").items()} == {
        (text, "main"): 9,
        (text, child): 70,
    }
    (session,) = [one for one in database.neutral()["sessions"] if one["agents"]]
    assert session["session_id"] == text
    (agent,) = session["agents"]
    assert (agent["agent_id"], agent["parent"], agent["status"]) == (child, "main", "completed")
    assert Database(database.path, tmp_path / "projects").rows_written == 0


def test_an_agent_called_main_is_not_the_main_thread(tmp_path: Path) -> None:
    """By its file's name, its records and its sidecar."""
    tree: dict[str, list[Record | bytes] | Record] = {
        "p/s1.jsonl": [asked(), said("msg_1", counters(1, 5))],
        "p/s1/subagents/agent-main.jsonl": [
            said("msg_2", counters(1, 70), isSidechain=True, agentId="main")
        ],
        "p/s1/subagents/agent-main.meta.json": {"agentType": "x"},
    }
    database = read(tmp_path, tree)
    assert {key[0]: one["output"] for key, one in database.by("agent").items()} == {
        "main": 5,
        "agent-main": 70,
    }
    assert database.neutral()["sessions"][0]["agents"][0]["type"] == "x"


def test_sessions_of_other_case_are_other_sessions(tmp_path: Path) -> None:
    """Ids are compared exactly; both files are read."""
    tree: dict[str, list[Record | bytes] | Record] = {
        "p/abc.jsonl": [said("msg_1", counters(1, 2), sessionId="abc")],
        "p/other.jsonl": [said("msg_2", counters(1, 3), sessionId="ABC")],
    }
    assert {key[0]: one["output"] for key, one in read(tmp_path, tree).by("session").items()} == {
        "abc": 2,
        "ABC": 3,
    }


def test_empty_texts_everywhere_are_what_is_missing(tmp_path: Path) -> None:
    """Ids fall back, types are unknown, nothing is lost."""
    empty = dict.fromkeys(
        (
            "uuid",
            "parentUuid",
            "timestamp",
            "sessionId",
            "agentId",
            "requestId",
            "cwd",
            "gitBranch",
            "version",
            "slug",
        ),
        "",
    )
    rows: list[Record | bytes] = [
        {"type": "", **empty},
        asked("", **empty),
        said("", counters(1, 5), model="", stop="", content="", **empty),
        said(
            "msg_2",
            counters(1, 6),
            content=[{"type": "", "id": "", "name": "", "input": ""}, called("", "")],
            **empty,
        ),
        answered("", "", **empty),
        {"type": "system", "subtype": "", **empty},
    ]
    assert check(tmp_path, rows, 11).by("session").keys() == {("s1",)}


def test_numbers_beyond_64_bits_raise_nothing(tmp_path: Path) -> None:
    """In every field whose number reaches the database."""
    usage = counters(
        1, 2, server_tool_use={"web_search_requests": HUGE}, iterations=[{"input_tokens": HUGE}]
    )
    compact = {"trigger": "auto", "preTokens": HUGE, "postTokens": -HUGE, "durationMs": HUGE}
    failed = {
        "type": "tool_result",
        "tool_use_id": "t2",
        "is_error": True,
        "content": f"Exit code {HUGE}",
    }
    rows: list[Record | bytes] = [
        said("msg_1", usage, costUSD=1e30, content=[called("t1", "WebSearch")]),
        answered("t1", {"searchCount": HUGE}),
        {"type": "system", "subtype": "compact_boundary", "compactMetadata": compact},
        {"type": "system", "subtype": "turn_duration", "durationMs": HUGE},
        {"type": "pr-link", "prNumber": HUGE, "prUrl": "https://x"},
        {"type": "cost-state", "totalCostUSD": 1e300, "modelUsage": {"m": {"inputTokens": HUGE}}},
        said("msg_2", counters(1, 5), costUSD=HUGE, content=[called("t2")]),
        asked([failed]),
        said("msg_3", counters(1, 3), isApiErrorMessage=True, apiErrorStatus=HUGE),
    ]
    tree: dict[str, list[Record | bytes] | Record] = {
        "p/s1.jsonl": rows,
        "p/s1/subagents/agent-a1.jsonl": [
            said("msg_4", counters(1, 1), isSidechain=True, agentId="a1")
        ],
        "p/s1/subagents/agent-a1.meta.json": {"spawnDepth": HUGE, "agentType": "x"},
    }
    database = read(tmp_path, tree)
    assert database.totals()["output"] == 9
    assert [row.message for row in database.anomalies()] == ["msg_1"]


TIMES = (
    "9999-12-31T23:59:59.999Z",
    "9999-12-31T23:59:59.999-23:59",
    "0001-01-01T00:00:00.000+23:59",
    "-2026-01-01T00:00:00.000Z",
    "1969-12-31T23:59:59.999Z",
    "2026-13-45T99:99:99.000Z",
    "10000-01-01T00:00:00.000Z",
    "2026-01-01T00:00:00.000+99:99",
    "1730628000",
    "yesterday",
)


@pytest.mark.parametrize("time", TIMES)
def test_absurd_times_cost_nothing(tmp_path: Path, time: str) -> None:
    """Out of range, before the epoch, in other calendars or none."""
    call = said("msg_1", counters(1, 5), content=[called("t1")], timestamp=time)
    check(
        tmp_path,
        [
            asked(timestamp=time),
            call,
            answered("t1", timestamp=time),
            said("msg_2", counters(1, 3)),
        ],
        8,
    )


def history(path: Path, megabytes: int) -> int:
    """Write a file of which one line in a hundred says what was used; the number of those."""
    count, other = 0, line(SNAPSHOT)
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        while file.tell() < megabytes * MEGABYTE:
            file.write(plain(f"msg_{count}") + b"\n")
            file.write(other * 99)
            count += 1
    return count


def bounded(folder: Path, megabytes: int) -> None:
    """Take a large file in by a process of its own, which must stay small."""
    root = folder / "projects"
    count = history(root / "p" / "s1.jsonl", megabytes)
    command = [sys.executable, "-c", MEASURE, str(folder / "stemma.db"), str(root)]
    peak = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert peak < MOST_RSS
    database = Database(folder / "stemma.db", root)
    assert database.rows_written == 0
    assert database.totals()["responses"] == count


def test_a_file_of_60_megabytes_takes_little_memory(tmp_path: Path) -> None:
    """B38a: mostly snapshots, one line in a hundred with usage."""
    bounded(tmp_path, 60)


@pytest.mark.slow
def test_a_file_of_600_megabytes_takes_little_memory(tmp_path: Path) -> None:
    """B38a: the size that other tools crash on, in under 200 MB."""
    bounded(tmp_path, 600)


@pytest.mark.slow
def test_a_pathological_line_does_not_cost_its_square(tmp_path: Path) -> None:
    """Texts on which a pattern could backtrack without end, as prompts, commands and ids."""
    words = (
        "token" * 40_000,
        "eyJ-" * 50_000,
        'password="' * 20_000,
        "-secret-" * 25_000,
        "}{" * 100_000,
        "[" * 100_000,
    )
    rows: list[Record | bytes] = []
    for number, word in enumerate(words):
        rows += [
            asked(word),
            said(f"msg_{number}", counters(1, 1), content=[called(word, "Bash", command=word)]),
        ]
        rows.append({**asked("x"), "agentId": f"/{word}"})
    check(tmp_path, rows, len(words))
