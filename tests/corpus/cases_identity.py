"""Cases of the identity rule: which records are one request, which of them wins, whose it is (ACCOUNTING section 1)."""

from __future__ import annotations

from tests.builders.records import Record, asked, at, called, counters, said
from tests.corpus.cases import S1, S2, Bill, Case, Maker

ROW = counters(3, 100, 1000, 20_000)
ONE = Bill(3, 100, 1000, 0, 20_000, responses=1)


def empty_and_missing_request_ids_are_one_request() -> Case:
    """B03: two lines with an empty requestId and one without."""
    rows = [said(usage=ROW, request=""), said(usage=ROW, request=""), said(usage=ROW, request=None)]
    return Case({S1: [asked(), *rows]}, ONE)


def a_request_id_on_one_line_only_is_one_request() -> Case:
    """Identity 1: ids are unique per response whatever their requestId."""
    partial = counters(3, 7, 1000, 20_000)
    return Case({S1: [said(usage=partial, request=None), said(usage=ROW, request="req_1")]}, ONE)


def copies_with_changed_request_ids_are_one_request() -> Case:
    """Identity 1: copies may change the requestId."""
    return Case(
        {S1: [said(usage=ROW)], S2: [said(usage=ROW, request="req_9", timestamp=at(60))]},
        ONE,
        {"s1": 100},
    )


def a_copy_that_dropped_request_id_and_time_belongs_to_the_first() -> Case:
    """FORMATS a.4: forks of 1.0.128 lose the requestId and get a new time and session."""
    own = said("msg_2", counters(4, 50), timestamp=at(90))
    return Case(
        {
            S1: [said(usage=ROW, uuid="u1")],
            S2: [said(usage=ROW, uuid="u1", request=None, timestamp=at(80)), own],
        },
        Bill(7, 150, 1000, 0, 20_000, responses=2),
        {"s1": 100, "s2": 50},
    )


def a_copy_with_an_earlier_time_takes_the_request() -> Case:
    """Identity 3: the earliest claim owns, whatever the file names are."""
    return Case(
        {S1: [said(usage=ROW, timestamp=at(60))], S2: [said(usage=ROW, timestamp=at(5))]},
        ONE,
        {"s2": 100},
    )


def a_background_handoff_replays_the_chain_once() -> Case:
    """B13: a new transcript with uuid, time, id and usage kept, sessionId rewritten; it began later, on its own."""
    old = [
        asked(uuid="u0", timestamp=at(0)),
        said(usage=ROW, uuid="u1", timestamp=at(1)),
        said("msg_2", counters(1, 20), uuid="u2", timestamp=at(2)),
    ]
    own = said("msg_3", counters(2, 30), uuid="u3", timestamp=at(3), sessionKind="bg")
    return Case(
        {S1: old, S2: [*({**one, "sessionKind": "bg"} for one in old), own]},
        Bill(6, 150, 1000, 0, 20_000, responses=3),
        {"s1": 120, "s2": 30},
        naive=False,  # it decides by the later first own record of s2, which the rule calls inferred
    )


def a_session_with_nothing_of_its_own_owns_a_tie() -> Case:
    """Identity 3: equal times and starts: the session whose records are all shared comes first."""
    shared = said(usage=ROW, uuid="u1", timestamp=at(0))
    own = said("msg_2", counters(1, 9), uuid="u2", timestamp=at(1))
    return Case(
        {S1: [shared, own], S2: [shared]},
        Bill(4, 109, 1000, 0, 20_000, responses=2),
        {"s1": 9, "s2": 100},
    )


def the_earlier_session_start_owns_a_tie() -> Case:
    """Identity 3: the same time of the claim in both, but one session began before."""
    shared = said(usage=ROW, uuid="u1", timestamp=at(10))
    return Case({S1: [shared], S2: [asked(timestamp=at(-60)), shared]}, ONE, {"s2": 100})


def two_children_of_one_parent_hold_a_message_once() -> Case:
    """B11: a fork inside one file."""
    twin = said(usage=ROW, parentUuid="u0")
    return Case({S1: [asked(uuid="u0"), twin, {**twin, "uuid": "other"}]}, ONE)


def gateway_ids_with_other_counters_are_requests_of_their_own() -> Case:
    """Identity 1: no requestId anywhere, counters differ."""
    first, second = counters(500, 10), counters(800, 20)
    return Case(
        {S1: [said("chat", first, request=None), said("chat", second, request=None)]},
        Bill(1300, 30, responses=2),
    )


def gateway_ids_with_other_output_alone_are_one_request() -> Case:
    """Identity 1 compares input, cache writes and cache reads; output grows while a response is streamed."""
    partial, final = counters(500, 1), counters(500, 40)
    return Case(
        {S1: [said("chat", partial, request=None), said("chat", final, request=None)]},
        Bill(500, 40, responses=1),
    )


def gateway_ids_in_two_sessions_are_two_requests() -> Case:
    """Identity 1: equal counters at other times, no shared uuid."""
    row = counters(500, 40)
    tree = {
        S1: [said("chat", row, request=None)],
        S2: [said("chat", row, request=None, timestamp=at(60))],
    }
    return Case(tree, Bill(1000, 80, responses=2), {"s1": 40, "s2": 40})


def gateway_ids_in_two_sessions_with_a_shared_uuid_are_one_request() -> Case:
    """Identity 1: a copy keeps the uuid."""
    row = counters(500, 40)
    tree = {
        S1: [said("chat", row, request=None, uuid="u1")],
        S2: [said("chat", row, request=None, uuid="u1", timestamp=at(60))],
    }
    return Case(tree, Bill(500, 40, responses=1), {"s1": 40})


def gateway_ids_in_two_sessions_with_equal_counters_and_time_are_one_request() -> Case:
    """Identity 1: or a copy keeps counters and time."""
    row = counters(500, 40)
    one = said("chat", row, request=None, timestamp=at(0))
    return Case(
        {S1: [one], S2: [asked(timestamp=at(-1)), one]}, Bill(500, 40, responses=1), {"s2": 40}
    )


def gateway_ids_with_a_shared_uuid_and_other_counters_are_two_requests() -> Case:
    """Identity 1: counters that differ separate, whatever else is shared."""
    tree = {
        S1: [said("chat", counters(500, 40), request=None, uuid="u1")],
        S2: [said("chat", counters(700, 50), request=None, uuid="u1", timestamp=at(60))],
    }
    return Case(tree, Bill(1200, 90, responses=2), {"s1": 40, "s2": 50})


def one_request_id_in_the_set_makes_it_no_gateway_id() -> Case:
    """Identity 1: only claims without any requestId in the whole set are separated."""
    tree = {
        S1: [said("chat", counters(500, 10), request=None)],
        S2: [said("chat", counters(800, 20), request="req_1", timestamp=at(60))],
    }
    return Case(tree, Bill(800, 20, responses=1), {"s1": 20})


def a_null_input_joins_the_only_other_claim() -> Case:
    """Identity 1: a gateway's first line without input is the same response."""
    rows = [
        said("chat", counters(None, 1), request=None),
        said("chat", counters(900, 40), request=None),
    ]
    return Case({S1: rows}, Bill(900, 40, responses=1))


def a_placeholder_input_joins_the_only_other_claim() -> Case:
    """Identity 1, B36: some versions write 0 or 1 until they know better."""
    rows = [
        said("chat", counters(1, 1), request=None),
        said("chat", counters(900, 40, 0, 7), request=None),
    ]
    zero = [said("talk", counters(0, 1), request=None), said("talk", counters(50, 4), request=None)]
    return Case({S1: rows + zero}, Bill(950, 44, 0, 0, 7, responses=2))


def a_placeholder_between_two_requests_stands_alone() -> Case:
    """Identity 1: with two other claims there is no only one to join."""
    rows = [
        said("chat", counters(500, 10), request=None),
        said("chat", counters(0, 5), request=None),
        said("chat", counters(800, 20), request=None),
    ]
    return Case({S1: rows}, Bill(1300, 35, responses=3))


def a_sidechain_replay_is_dropped_and_a_smaller_third_copy_too() -> Case:
    """B08: a replay under a new requestId, then the main chain again with smaller counters."""
    replay = said(usage=counters(9, 900, 9000), request="req_2", isSidechain=True, agentId="aside")
    tree = {
        S1: [said(usage=ROW), said(usage=counters(3, 90, 1000, 20_000))],
        "p/s1/subagents/agent-aside.jsonl": [replay],
    }
    return Case(tree, ONE, {"s1": 100}, {"main": 100})


def an_aside_that_replays_fifty_counts_its_own_two() -> Case:
    """B25: such an agent starts with the whole conversation."""
    history = [said(f"msg_{n}", counters(1, 10), uuid=f"u{n}") for n in range(50)]
    copies: list[Record] = [
        {**one, "requestId": f"new_{n}", "isSidechain": True, "agentId": "aside_question-1"}
        for n, one in enumerate(history)
    ]
    own = [
        said(
            f"own_{n}",
            counters(2, 7),
            isSidechain=True,
            agentId="aside_question-1",
            timestamp=at(900 + n),
        )
        for n in range(2)
    ]
    tree = {S1: history, "p/s1/subagents/agent-aside_question-1.jsonl": copies + own}
    return Case(tree, Bill(54, 514, responses=52), agents={"main": 500, "aside_question-1": 14})


def the_winner_is_taken_whole() -> Case:
    """Identity 2: never the fields of several records."""
    rows = [said(usage=counters(50, 10, 500, 900)), said(usage=counters(3, 20, 0, 0))]
    return Case({S1: rows}, Bill(3, 20, responses=1))


def equal_output_is_decided_by_the_larger_total() -> Case:
    """Identity 2: then the largest total."""
    rows = [said(usage=counters(3, 20, 0, 10)), said(usage=counters(3, 20, 0, 9000))]
    return Case({S1: rows}, Bill(3, 20, 0, 0, 9000, responses=1))


def a_record_without_message_id_is_known_by_its_uuid() -> Case:
    """Identity 1: the same uuid in two files is one request."""
    row = counters(5, 6)
    tree = {
        S1: [said(None, row, uuid="u1"), said(None, row, uuid="u2")],
        S2: [said(None, row, uuid="u1", timestamp=at(99))],
    }
    return Case(tree, Bill(10, 12, responses=2), {"s1": 12})


def a_record_without_any_id_is_known_by_its_content() -> Case:
    """Identity 1: neither message id nor uuid; a verbatim repetition is no second request."""
    one = said(None, counters(5, 6), uuid=None, timestamp=at(1))
    other = said(None, counters(5, 7), uuid=None, timestamp=at(2))
    return Case({S1: [one, one, other]}, Bill(10, 13, responses=2))


def a_resume_into_five_files_counts_once() -> Case:
    """B14: each file repeats all that came before; sessions add up to the whole."""
    said_so_far: list[Record] = []
    tree: dict[str, list[Record]] = {}
    for number in range(5):
        said_so_far.append(
            said(f"msg_{number}", counters(1, 10), uuid=f"u{number}", timestamp=at(100 * number))
        )
        tree[f"p/s{number}.jsonl"] = list(said_so_far)
    return Case(tree, Bill(5, 50, responses=5), naive=False)  # who owns: see the test of owners


def blocks_of_a_message_with_equal_usage_count_once() -> Case:
    """B16: stream-json repeats usage for each content block."""
    kinds = (
        [{"type": "thinking", "thinking": ""}],
        [{"type": "text", "text": "x"}],
        [called("t1")],
    )
    return Case({S1: [said(usage=ROW, content=content) for content in kinds]}, ONE)


def tool_results_between_blocks_do_not_part_a_message() -> Case:
    """FORMATS d: results stand between the blocks of one message."""
    block = {"type": "tool_result", "tool_use_id": "t1", "content": "x"}
    rows = [
        said(usage=ROW, content=[called("t1")]),
        asked([block]),
        said(usage=ROW, content=[called("t2")]),
    ]
    return Case({S1: rows}, ONE)


CASES: tuple[Maker, ...] = (
    empty_and_missing_request_ids_are_one_request,
    a_request_id_on_one_line_only_is_one_request,
    copies_with_changed_request_ids_are_one_request,
    a_copy_that_dropped_request_id_and_time_belongs_to_the_first,
    a_copy_with_an_earlier_time_takes_the_request,
    a_background_handoff_replays_the_chain_once,
    a_session_with_nothing_of_its_own_owns_a_tie,
    the_earlier_session_start_owns_a_tie,
    two_children_of_one_parent_hold_a_message_once,
    gateway_ids_with_other_counters_are_requests_of_their_own,
    gateway_ids_with_other_output_alone_are_one_request,
    gateway_ids_in_two_sessions_are_two_requests,
    gateway_ids_in_two_sessions_with_a_shared_uuid_are_one_request,
    gateway_ids_in_two_sessions_with_equal_counters_and_time_are_one_request,
    gateway_ids_with_a_shared_uuid_and_other_counters_are_two_requests,
    one_request_id_in_the_set_makes_it_no_gateway_id,
    a_null_input_joins_the_only_other_claim,
    a_placeholder_input_joins_the_only_other_claim,
    a_placeholder_between_two_requests_stands_alone,
    a_sidechain_replay_is_dropped_and_a_smaller_third_copy_too,
    an_aside_that_replays_fifty_counts_its_own_two,
    the_winner_is_taken_whole,
    equal_output_is_decided_by_the_larger_total,
    a_record_without_message_id_is_known_by_its_uuid,
    a_record_without_any_id_is_known_by_its_content,
    a_resume_into_five_files_counts_once,
    blocks_of_a_message_with_equal_usage_count_once,
    tool_results_between_blocks_do_not_part_a_message,
)
