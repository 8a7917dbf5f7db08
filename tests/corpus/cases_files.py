"""Cases of files and lines: where usage may stand, where it may not, and lines that are no plain records."""

from __future__ import annotations

from tests.builders.records import Record, answered, asked, at, called, counters, line, said
from tests.corpus.cases import S1, S2, Bill, Case, Maker

AGENT = {"isSidechain": True, "agentId": "a1"}


def _progress(message: Record, **fields: object) -> Record:
    inner = {
        "type": "assistant",
        "uuid": "inner",
        "timestamp": at(5),
        "requestId": "req_2",
        "message": message,
    }
    data = {"type": "agent_progress", "agentId": "a1", "prompt": "x", "message": inner, **fields}
    return {"type": "progress", "isSidechain": False, "parentToolUseID": "t1", "data": data}


def progress_is_dropped_where_a_transcript_holds_the_message() -> Case:
    """Rule 2: the agent's own file, wherever it is read first; also with smaller counters."""
    quoted = said("msg_2", counters(3, 999))["message"]
    own = said("msg_2", counters(3, 70), **AGENT)
    tree = {
        S1: [said(usage=counters(1, 2)), _progress(quoted)],
        "p/s1/subagents/agent-a1.jsonl": [own],
    }
    return Case(tree, Bill(4, 72, responses=2), agents={"main": 2, "a1": 70})


def progress_counts_where_no_transcript_holds_the_message() -> Case:
    """Rule 2: once, by the best of its records, for the agent it names."""
    quoted = [said("msg_2", counters(3, output))["message"] for output in (1, 70, 70)]
    tree = {S1: [said(usage=counters(1, 2)), *map(_progress, quoted)]}
    return Case(tree, Bill(4, 72, responses=2), agents={"main": 2, "a1": 70})


def progress_without_an_agent_counts_too() -> Case:
    """Rule 2 names the message alone."""
    quoted = said("msg_2", counters(3, 70))["message"]
    tree = {S1: [said(usage=counters(1, 2)), _progress(quoted, agentId=None)]}
    return Case(tree, Bill(4, 72, responses=2))


def usage_of_tool_results_is_not_counted() -> Case:
    """Rule 2, B21: it repeats one response, or sums some up."""
    ask = said(usage=counters(1, 2), content=[called("t1", "Agent", prompt="x")])
    result = {
        "status": "completed",
        "agentId": "a1",
        "totalTokens": 99_999,
        "usage": counters(9, 777, 888, 9999),
    }
    own = said("msg_2", counters(3, 70), **AGENT)
    tree = {S1: [ask, answered("t1", result)], "p/s1/subagents/agent-a1.jsonl": [own]}
    return Case(tree, Bill(4, 72, responses=2), agents={"main": 2, "a1": 70})


def usage_in_other_records_is_not_counted() -> Case:
    """Rule 2: only assistant records."""
    others: list[Record] = [
        {"type": kind, "message": said("msg_9", counters(500, 500))["message"]}
        for kind in ("user", "system", "summary", "result", "assistant_v2", "attachment")
    ]
    return Case({S1: [*others, said(usage=counters(1, 2))]}, Bill(1, 2, responses=1))


def agent_files_at_any_depth_are_read() -> Case:
    """B20, DESIGN section 3: up to six folders below the project; sidecars carry no usage."""
    places = ("", "x/", "workflows/wf_1/", "a/b/c/")
    tree: dict[str, list[Record] | Record] = {S1: [said(usage=counters(1, 1))]}
    for number, place in enumerate(places):
        agent = f"a{number}"
        tree[f"p/s1/subagents/{place}agent-{agent}.jsonl"] = [
            said(f"own_{number}", counters(10, 100), isSidechain=True, agentId=agent)
        ]
        tree[f"p/s1/subagents/{place}agent-{agent}.meta.json"] = {
            "agentType": "x",
            "usage": counters(7, 7),
        }
    tree["p/agent-beside.jsonl"] = [
        said("old", counters(10, 100), isSidechain=True, agentId="beside", sessionId="s1")
    ]
    return Case(tree, Bill(51, 501, responses=6), {"s1": 501})


def inline_sidechains_count() -> Case:
    """B22: the layout of 1.0.x and 2.0.20."""
    rows = [
        said(usage=counters(1, 2), content=[called("t1", "Task", prompt="look")]),
        asked("look", isSidechain=True, uuid="u1", parentUuid=None),
        said("msg_2", counters(3, 70), isSidechain=True, parentUuid="u1"),
    ]
    return Case(
        {S1: rows}, Bill(4, 72, responses=2), {"s1": 72}, naive=False
    )  # names the agent otherwise


def nulls_in_tool_arguments_keep_the_line() -> Case:
    """B35."""
    block: Record = {
        "type": "tool_use",
        "id": "t1",
        "name": "Read",
        "input": {"file_path": None, "limit": None},
    }
    return Case({S1: [said(usage=counters(1, 2), content=[block])]}, Bill(1, 2, responses=1))


def unknown_fields_cost_nothing() -> Case:
    """Guarantee 6: on every level, of any type."""
    usage = counters(
        1, 2, something={"new": [1, None]}, output_tokens_details={"thinking_tokens": 1}
    )
    row = said(usage=usage, futureField=[{"deep": {}}], mode=None)
    row["message"]["container"] = {"id": "x"}
    return Case({S1: [row]}, Bill(1, 2, responses=1))


def a_record_says_which_session_it_belongs_to() -> Case:
    """B26: the file's name is a hint."""
    rows = [
        said(usage=counters(1, 2), sessionId="other"),
        said("msg_2", counters(3, 4), sessionId=None),
    ]
    return Case(
        {S1: rows}, Bill(4, 6, responses=2), {"other": 6}, naive=False
    )  # falls back to the file's name


def crlf_byte_order_marks_and_blank_lines_are_no_faults() -> Case:
    """DESIGN section 3: the record counts as if they were not there."""
    rows = [
        line({**said(f"msg_{n}", counters(1, 2)), "sessionId": "s1", "timestamp": at(n)})[:-1]
        for n in range(4)
    ]
    bom = b"\xef\xbb\xbf"
    return Case(
        {
            S1: [
                bom + rows[0] + b"\r\n",
                b"\r\n",
                b"\n",
                b"  \n",
                rows[1] + b"\r\n",
                bom + rows[2] + b"\n",
                rows[3],
            ]
        },
        Bill(4, 8, responses=4),
    )


def two_records_on_one_line_both_count() -> Case:
    """FORMATS h: glued by an unclean stop."""
    rows = [
        line({**said(f"msg_{n}", counters(1, 2)), "sessionId": "s1", "timestamp": at(n)})[:-1]
        for n in range(2)
    ]
    return Case({S1: [rows[0] + rows[1] + b"\n"]}, Bill(2, 4, responses=2))


def a_torn_line_in_the_middle_costs_itself() -> Case:
    """Guarantee 6: and is stored as a fault."""
    torn = line(said("msg_9", counters(1, 2)))[:150] + b"\n"
    return Case(
        {S1: [said(usage=counters(1, 2)), torn, said("msg_2", counters(3, 4))]},
        Bill(4, 6, responses=2),
        faults=1,
    )


def a_torn_tail_is_pending_and_no_fault() -> Case:
    """DESIGN section 3, tail read."""
    torn = line(said("msg_9", counters(1, 2)))[:150]
    return Case({S1: [said(usage=counters(1, 2)), torn]}, Bill(1, 2, responses=1))


def an_unterminated_last_record_counts() -> Case:
    """DESIGN section 3, tail read: valid JSON without its newline."""
    last = line({**said("msg_2", counters(3, 4)), "sessionId": "s1"})[:-1]
    return Case({S1: [said(usage=counters(1, 2)), last]}, Bill(4, 6, responses=2))


def leading_nuls_are_passed_over() -> Case:
    """FORMATS b: an unclean stop can leave them."""
    last = line({**said("msg_2", counters(3, 4)), "sessionId": "s1"})
    return Case({S1: [said(usage=counters(1, 2)), b"\0" * 200 + last]}, Bill(4, 6, responses=2))


def a_duplicate_session_folder_is_united() -> Case:
    """DESIGN section 3, duplicate session: the evidence of both counts once."""
    row = said(usage=counters(1, 2), uuid="u1", timestamp=at(0))
    more = said("msg_2", counters(3, 4), timestamp=at(9))
    return Case({S1: [row], "q/s1.jsonl": [row, more]}, Bill(4, 6, responses=2), {"s1": 6})


def an_orphan_session_folder_counts() -> Case:
    """Issue 2: agents whose session has no transcript."""
    own = said("msg_2", counters(3, 70), **AGENT)
    return Case(
        {"p/s1/subagents/agent-a1.jsonl": [own]}, Bill(3, 70, responses=1), {"s1": 70}, {"a1": 70}
    )


def the_same_agent_under_two_sessions_counts_once() -> Case:
    """FORMATS b: one agent id in two session folders, the message in one of them, repeated verbatim."""
    own = said("msg_2", counters(3, 70), **AGENT, uuid="u1", timestamp=at(1))
    tree = {
        S1: [asked(timestamp=at(0))],
        S2: [asked(timestamp=at(0.5))],
        "p/s1/subagents/agent-a1.jsonl": [own, own],
        "p/s2/subagents/agent-a1.jsonl": [{**own, "sessionId": "s2"}],
    }
    return Case(tree, Bill(3, 70, responses=1), {"s1": 70})


CASES: tuple[Maker, ...] = (
    progress_is_dropped_where_a_transcript_holds_the_message,
    progress_counts_where_no_transcript_holds_the_message,
    progress_without_an_agent_counts_too,
    usage_of_tool_results_is_not_counted,
    usage_in_other_records_is_not_counted,
    agent_files_at_any_depth_are_read,
    inline_sidechains_count,
    nulls_in_tool_arguments_keep_the_line,
    unknown_fields_cost_nothing,
    a_record_says_which_session_it_belongs_to,
    crlf_byte_order_marks_and_blank_lines_are_no_faults,
    two_records_on_one_line_both_count,
    a_torn_line_in_the_middle_costs_itself,
    a_torn_tail_is_pending_and_no_fault,
    an_unterminated_last_record_counts,
    leading_nuls_are_passed_over,
    a_duplicate_session_folder_is_united,
    an_orphan_session_folder_counts,
    the_same_agent_under_two_sessions_counts_once,
)
