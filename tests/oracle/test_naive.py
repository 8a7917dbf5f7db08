"""The reference reader against all known truths: the shared cases, the rig runs, and its own rules.

The data lies in $STEMMA_SHARED, by default the folder `shared` beside the working copy. A check of
an oracle must not pass for want of data: what is missing fails.
"""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from .naive import BUCKETS, Report, Request, by, read, totals

SHARED = Path(os.environ.get("STEMMA_SHARED", Path(__file__).parents[3] / "shared"))
MISSING = f"no data at {SHARED}: set STEMMA_SHARED to the folder with cases/ and rig-data/"
CASES = sorted((SHARED / "cases" / "accounting").glob("*/expected.json"))
TRUTHS = sorted((SHARED / "rig-data").glob("[0-9]*/*/truth.json"))  # the others are Codex
FIELDS = ("responses", *BUCKETS)
Bill = dict[str, dict[str, int]]


def name(path: Path) -> str:
    """The test id of a case or run."""
    return "-".join(path.parent.parts[-2:])


def test_the_shared_data_is_there() -> None:
    """Without data the tests below would be empty, and look like success."""
    assert CASES, MISSING
    assert TRUTHS, MISSING


@pytest.mark.parametrize("expected", CASES, ids=name)
def test_shared_case(expected: Path) -> None:
    """Every case has the tokens that its expected.json states; the implausible one is listed."""
    want, report = json.loads(expected.read_text()), read(expected.parent / "projects")
    got = totals(report.requests)
    got["cache_write"] = got["cache_write_5m"] + got["cache_write_1h"]
    if want["input"] is None:
        assert len(report.anomalies) == 1
        assert [got[k] for k in FIELDS] == [1, 3, 100, 0, 0, 0], "the plausible response alone"
        return
    kinds = ("input", "output", "cache_write", "cache_read")
    assert {k: got[k] for k in kinds} == {k: want[k] for k in kinds}
    assert not report.anomalies
    assert not report.flags


def differences(want: Bill, got: Bill, slack: int) -> list[str]:
    """Differences of two bills; an output may fall short of the truth by the slack of its run."""
    found = []
    for model in sorted({*want, *got}):
        for kind in FIELDS:
            right, ours = want.get(model, {}).get(kind, 0), got.get(model, {}).get(kind, 0)
            if not (right - slack if kind == "output" else right) <= ours <= right:
                found.append(f"{model} {kind}: {ours} instead of {right}")
    return found


@pytest.mark.parametrize("path", TRUTHS, ids=name)
def test_rig_run(path: Path) -> None:
    """Every session of a real client's run has what the API served it, as far as it was written.

    As in rig/check_truth.py, only the total decides where a run used throw-away session ids.
    """
    truth, report = json.loads(path.read_text()), read(path.parent / "projects")
    sessions = {s["session_id"]: s["served_in_transcripts"] for s in truth["sessions"]}
    throwaway = {s["session_id"] for s in truth["sessions"] if s["throwaway"]}
    ours: dict[str, Bill] = {}
    for (session, model), row in by(report.requests, "session", "model").items():
        ours.setdefault(session, {})[model] = row
    slack, served = 0, truth["served"]
    if served["transcript_output"].startswith("lower"):
        slack = served["transcript_output_true"] - served["transcript_output_sum_of_maxima"]
        output = totals(report.requests)["output"]
        assert output == served["transcript_output_sum_of_maxima"]
    assert report.skipped_lines == 0
    assert not report.anomalies
    assert not report.flags
    assert set(ours) <= set(sessions)
    if not throwaway:
        wrong = {s: differences(sessions[s], ours.get(s, {}), slack) for s in sessions}
        assert not {s: found for s, found in wrong.items() if found}
    whole: Bill = {}
    for bill in sessions.values():
        for model, row in bill.items():
            whole[model] = dict(Counter(whole.get(model, {})) + Counter(row))
    got = {model: row for (model,), row in by(report.requests, "model").items()}
    assert not differences(whole, got, slack)


# The rules that no shared case reaches, on records made here.

T = "2026-11-03T10:00:0{}.000Z"


def usage(given: int = 3, output: int = 100, write: int = 0, read_: int = 0) -> dict[str, Any]:
    """A usage object."""
    return {
        "input_tokens": given,
        "output_tokens": output,
        "cache_creation_input_tokens": write,
        "cache_read_input_tokens": read_,
    }


def said(session: str, uuid: str, at: int = 1, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """An assistant record; a value of None leaves its field out."""
    message = {
        "id": more.pop("id", "m"),
        "model": more.pop("model", "claude-opus-5"),
        "stop_reason": "end_turn",
        "content": more.pop("content", []),
        "usage": more.pop("usage", usage()),
    }
    record = {
        "type": "assistant",
        "sessionId": session,
        "uuid": uuid,
        "requestId": "r",
        "timestamp": T.format(at),
        "message": message,
        **more,
    }
    return {k: v for k, v in record.items() if v is not None}


def asked(session: str, uuid: str, at: int) -> dict[str, Any]:
    """A user record."""
    return {"type": "user", "sessionId": session, "uuid": uuid, "timestamp": T.format(at)}


def line_of(record: dict[str, Any]) -> bytes:
    """A record as a line."""
    return json.dumps(record).encode() + b"\n"


def report_of(folder: Path, **files: list[dict[str, Any]] | bytes) -> Report:
    """Write transcripts (`__` in a name is a folder) and read them."""
    for file, given in files.items():
        path = folder / "p" / f"{file.replace('__', '/').replace('agent_', 'agent-')}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        made = given if isinstance(given, bytes) else b"".join(map(line_of, given))
        path.write_bytes(made)
    return read(folder)


def only(report: Report) -> Request:
    """The one request of a report."""
    (request,) = report.requests
    return request


@pytest.mark.parametrize(
    ("a", "b", "owner", "inferred"),
    [
        ([said("a", "u", 2)], [said("b", "u", 1)], "b", False),
        ([asked("a", "x", 0), said("a", "u")], [said("b", "u")], "a", False),
        ([said("a", "u"), asked("a", "x", 2)], [said("b", "u")], "b", False),
        ([said("a", "u"), asked("a", "x", 3)], [said("b", "u"), asked("b", "y", 2)], "b", True),
        ([said("a", "u")], [said("b", "u")], "a", True),
    ],
    ids=["earliest claim", "earlier start", "all shared", "earlier own record", "id"],
)
def test_owner(
    tmp_path: Path,
    a: list[dict[str, Any]],
    b: list[dict[str, Any]],
    owner: str,
    inferred: bool,  # noqa: FBT001
) -> None:
    """Identity 3: each tie-break decides where those before it do not."""
    request = only(report_of(tmp_path, a=a, b=b))
    assert (request.session, request.inferred_owner) == (owner, inferred)
    assert request.held_by == ("a", "b")


@pytest.mark.parametrize(
    ("records", "inputs"),
    [
        ([said("a", "u"), said("a", "v", usage=usage(4))], [4]),
        ([said("a", "u", requestId=None), said("a", "v", usage=usage(4))], [4]),
        ([said("a", "u", requestId=""), said("a", "v", requestId=None, usage=usage(4))], [3, 4]),
        ([said("a", "u", requestId=None), said("a", "v", 2, requestId=None)], [3]),
        ([said("a", "u", requestId=None), said("b", "v", 2, requestId=None)], [3, 3]),
        ([said("a", "u", requestId=None), said("b", "u", 2, requestId=None)], [3]),
        ([said("a", "u", requestId=None), said("b", "v", 1, requestId=None)], [3]),
        (
            [
                said("a", "u", requestId=None, usage=usage(0, 200)),
                said("b", "v", 2, requestId=None),
                said("b", "w", 3, requestId=None),
            ],
            [0],
        ),
    ],
    ids=["ids", "one id", "counters", "session", "sessions", "uuid", "time", "placeholder"],
)
def test_gateway_ids(tmp_path: Path, records: list[dict[str, Any]], inputs: list[int]) -> None:
    """Identity 1: without any request id, other counters or sessions mean other requests."""
    report = report_of(tmp_path, a=records)
    assert [r.input for r in report.requests] == inputs
    assert len(report.flags) == (len(inputs) if len(inputs) > 1 else 0)


def test_winner_is_taken_whole_from_the_main_chain(tmp_path: Path) -> None:
    """Identity 2 and 4: the main chain wins over a larger replay, then output, then total."""
    replay = said("a", "z", usage=usage(9, 900), isSidechain=True)
    main = [said("a", "u", 2), said("a", "v", 3, usage=usage(7, 50)), said("a", "w", 4)]
    request = only(report_of(tmp_path, a=main, a__subagents__agent_x=[replay]))
    assert (request.agent, request.input, request.output) == ("main", 3, 100)


def test_agents(tmp_path: Path) -> None:
    """Identity 4: the record's agent, else the file's, else whether it is a sidechain."""
    report = report_of(
        tmp_path,
        a=[said("a", "1", id="m1"), said("a", "2", id="m2", isSidechain=True)],
        a__subagents__workflows__wf__agent_x=[said("a", "3", id="m3")],
        agent_y=[said("a", "4", id="m4"), said("a", "5", id="m5", agentId="z")],
        a__tool__agent_n=[said("a", "6", id="m6")],
    )
    assert [r.agent for r in report.requests] == ["main", "sidechain", "x", "y", "z"]


def test_lines_are_recovered_or_counted(tmp_path: Path) -> None:
    """Glued, NUL-led, CRLF and BOM lines count, as does a lone surrogate; torn ones are faults."""
    lines = [json.dumps(said("a", str(n), id=f"m{n}")).encode() for n in range(6)]
    lone = lines[5].replace(b'"content": []', b'"content": ["\\ud800"]')
    text = b"\xef\xbb\xbf%s\r\n%s%s\n\0\0%s\n\n[1]\n# no\n%s\n{" % (
        lines[0], lines[1], lines[2], lines[3], lines[4][:-9] + b"}" + lone,
    )  # fmt: skip
    report = report_of(tmp_path, a=text)
    assert [r.key for r in report.requests] == ["m0", "m1", "m2", "m3", "m5"]
    assert report.skipped_lines == 3


@pytest.mark.parametrize(("tail", "keys"), [(0, ["m", "n"]), (1, ["m"])], ids=["whole", "torn"])
def test_unterminated_last_line(tmp_path: Path, tail: int, keys: list[str]) -> None:
    """Tail read: taken when it is a valid object, else pending, which is no fault."""
    text = b"\n".join(json.dumps(said("a", i, id=i)).encode() for i in "mn")
    report = report_of(tmp_path, a=text[: len(text) - tail])
    assert [r.key for r in report.requests] == keys
    assert report.skipped_lines == 0


def test_numbers(tmp_path: Path) -> None:
    """A.9: integral floats and numeric strings count, implausible ones are listed, others fault."""
    good = [3, 3.0, "3", "3.0"]
    odd, bad = [-1, 10_000_001, float("inf")], [2.5, "x", True, [], float("nan")]
    many = [said("a", f"u{n}", id=f"m{n}", usage=usage(v)) for n, v in enumerate(good + odd + bad)]  # type: ignore[arg-type]
    report = report_of(tmp_path, a=[*many, said("a", "n", usage={"output_tokens": None})])
    assert totals(report.requests)["input"] == 12
    assert (len(report.requests), len(report.anomalies), report.skipped_lines) == (5, 3, 5)


def test_cache_writes(tmp_path: Path) -> None:
    """A.5: what the breakdown leaves is 5m; a breakdown beyond the flat total is trusted, flagged."""
    split = {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 5}
    more, less = (said("a", i, id=i, usage=usage(write=w)) for i, w in (("m", 10), ("n", 2)))
    for record in (more, less):
        record["message"]["usage"]["cache_creation"] = split
    report = report_of(tmp_path, a=[more, less])
    assert [(r.cache_write_5m, r.cache_write_1h) for r in report.requests] == [(5, 5), (1, 5)]
    assert len(report.flags) == 1


def test_iterations(tmp_path: Path) -> None:
    """A.6: advisor (own model) and compaction are rows beside the response, and no responses."""
    record = said("a", "u")
    record["message"]["usage"]["iterations"] = [
        {"type": "message", **usage()},
        {"type": "advisor_message", "model": "claude-fable-5", **usage(7, 8)},
        {"type": "compaction", "model": None, **usage(9, 10)},
    ]
    rows = report_of(tmp_path, a=[record, record]).requests
    assert [(r.part, r.model, r.input) for r in rows] == [
        ("message", "claude-opus-5", 3),
        ("advisor", "claude-fable-5", 7),
        ("compaction", "claude-opus-5", 9),
    ]
    assert totals(rows)["responses"] == 1


def test_web_searches(tmp_path: Path) -> None:
    """A.7: the first search count seen for a tool stands in for a counter of 0."""
    call = {"type": "tool_use", "id": "t", "name": "WebSearch"}
    answer = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}
    results = [
        {**asked("a", f"r{at}", at), "message": answer, "toolUseResult": {"searchCount": count}}
        for at, count in ((5, 9), (2, 4))
    ]
    searched = {**usage(), "server_tool_use": {"web_search_requests": 2}}
    counted = [said("a", "v", 2, id="n", content=[call], usage=searched), said("a", "w", id="n")]
    report = report_of(tmp_path, a=[said("a", "u", content=[call]), *results, *counted])
    assert [r.web_searches for r in report.requests] == [4, 2]


def test_progress_counts_only_where_no_transcript_has_the_response(tmp_path: Path) -> None:
    """A.2: the legacy copy is a stand-in, under the agent it names."""
    quotes = [
        {
            **asked("a", f"p{i}", 3),
            "type": "progress",
            "data": {"agentId": "x", "message": said("a", f"q{i}", id=i, usage=usage(7, 500))},
        }
        for i in ("m", "n")
    ]
    report = report_of(tmp_path, a=[*quotes, said("a", "u", usage=usage(5))])
    assert [(r.key, r.agent, r.input) for r in report.requests] == [("m", "main", 5), ("n", "x", 7)]


def test_incomplete(tmp_path: Path) -> None:
    """A.8: tiny output and no stop reason."""
    tiny, done = (said("a", i, id=i, usage=usage(output=2)) for i in ("m", "n"))
    tiny["message"]["stop_reason"] = None
    assert [r.incomplete for r in report_of(tmp_path, a=[tiny, done]).requests] == [True, False]


def test_identity_without_a_message_id(tmp_path: Path) -> None:
    """Identity 1: the record's uuid, else the content; `<synthetic>` is no response."""
    report = report_of(
        tmp_path,
        a=[said("a", "u", id=None), said("a", "u", id="")],
        b=[said("b", "", id=None), said("b", "", 2, id=None), said("b", "s", model="<synthetic>")],
    )
    assert [r.key[:6] for r in report.requests] == ["sha256", "uuid:u"]
