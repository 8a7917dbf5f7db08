"""Cases of counters: what a usage object says, and what it says that cannot be (ACCOUNTING rules 5 to 9)."""

from __future__ import annotations

from tests.builders.records import Record, answered, asked, at, called, counters, line, said, split
from tests.corpus.cases import S1, S2, Bill, Case, Maker


def numeric_strings_and_integral_floats_are_numbers() -> Case:
    """Rule 9: as gateways write them."""
    usage = counters("12", 3.0, "7", 9.0)
    return Case({S1: [said(usage=usage)]}, Bill(12, 3, 7, 0, 9, responses=1))


def null_counters_are_zero() -> Case:
    """Rule 9, B38."""
    usage = counters(5, 6, None, None)
    return Case({S1: [said(usage=usage)]}, Bill(5, 6, responses=1))


def negative_counters_are_an_anomaly() -> Case:
    """Rule 9: listed, not in totals."""
    return Case(
        {S1: [said(usage=counters(5, -6)), said("msg_2", counters(1, 2))]},
        Bill(1, 2, responses=1),
        anomalies=1,
    )


def counters_over_ten_million_are_an_anomaly() -> Case:
    """Rule 9: ten million itself is not."""
    rows = [
        said(usage=counters(5, 10_000_001)),
        said("msg_2", counters(1, 2, 0, 10_000_001)),
        said("msg_3", counters(10_000_000, 3)),
    ]
    return Case({S1: rows}, Bill(10_000_000, 3, responses=1), anomalies=2)


def counters_beyond_64_bits_are_an_anomaly() -> Case:
    """Rule 9: also in the breakdown, as a string and as a float."""
    huge = 10**30
    rows = [
        said(usage=counters(5, huge)),
        said("msg_2", counters(str(huge), 1)),
        said("msg_3", counters(1e300, 1)),
        said("msg_4", counters(1, 1, huge, 0, **split(huge, huge))),
        said("msg_5", counters(-huge, 1)),
        said("msg_6", counters(1, 2)),
    ]
    return Case({S1: rows}, Bill(1, 2, responses=1), anomalies=5)


def fractions_are_an_anomaly() -> Case:
    """Rule 9 accepts integral floats alone."""
    rows = [said(usage=counters(5, 1.5)), said("msg_2", counters(1, 2))]
    return Case(
        {S1: rows}, Bill(1, 2, responses=1), anomalies=1, naive=False
    )  # the naive reader: a line fault


def not_a_number_is_an_anomaly() -> Case:
    """Rule 9: NaN and infinity, which only Python's own JSON reads, are no counters."""
    rows: list[Record | bytes] = [
        line(said(usage=counters(5, float("nan")), sessionId="s1", timestamp=at(0))),
        line(said("msg_2", counters(float("inf"), 5), sessionId="s1", timestamp=at(0))),
        said("msg_3", counters("NaN", 5)),
        said("msg_4", counters(1, 2)),
    ]
    return Case(
        {S1: rows}, Bill(1, 2, responses=1), anomalies=3, naive=False
    )  # the naive reader: line faults


def words_are_an_anomaly() -> Case:
    """Rule 9: a string that is no number."""
    rows = [said(usage=counters("many", 5)), said("msg_2", counters(1, 2))]
    return Case(
        {S1: rows}, Bill(1, 2, responses=1), anomalies=1, naive=False
    )  # the naive reader: a line fault


def an_implausible_line_beside_a_sound_one_is_listed() -> Case:
    """Rule 9 and identity 2: the sound record counts, the other is not silently dropped."""
    rows = [said(usage=counters(5, 10**9)), said(usage=counters(5, 60))]
    return Case({S1: rows}, Bill(5, 60, responses=1), anomalies=1)


def an_implausible_gateway_line_beside_a_sound_one_is_listed() -> Case:
    """The same for an id without any requestId: an anomaly is no second request, and no partner of a placeholder."""
    rows = [
        said("chat", counters(-5, 1), request=None),
        said("chat", counters(None, 2), request=None),
        said("chat", counters(500, 60), request=None),
    ]
    return Case({S1: rows}, Bill(500, 60, responses=1), anomalies=1)


def a_breakdown_over_the_flat_total_is_trusted() -> Case:
    """Rule 5: and flagged."""
    return Case(
        {S1: [said(usage=counters(1, 2, 100, 0, **split(80, 70)))]}, Bill(1, 2, 80, 70, responses=1)
    )


def a_flat_total_over_the_breakdown_is_five_minutes() -> Case:
    """Rule 5: the rest counts as written to the five-minute cache."""
    return Case(
        {S1: [said(usage=counters(1, 2, 100, 0, **split(20, 30)))]}, Bill(1, 2, 70, 30, responses=1)
    )


def a_flat_total_alone_is_five_minutes() -> Case:
    """Rule 5: as clients before 1.0.111 write it."""
    return Case({S1: [said(usage=counters(1, 2, 100))]}, Bill(1, 2, 100, responses=1))


def a_breakdown_alone_is_taken() -> Case:
    """Rule 5: no flat total, or a null one."""
    bare: Record = {"input_tokens": 1, "output_tokens": 2, **split(80, 70)}
    null = counters(1, 2, None, 0, **split(8, 7))
    return Case({S1: [said(usage=bare), said("msg_2", null)]}, Bill(2, 4, 88, 77, responses=2))


def advisor_iterations_are_added_under_their_own_model() -> Case:
    """Rule 6, B34: and message entries are not."""
    iterations = [
        {"type": "message", "input_tokens": 3, "output_tokens": 100},
        {"type": "advisor_message", "model": "claude-fable-5", "input_tokens": 10_000, "output_tokens": 500,
         "cache_read_input_tokens": 2000},
    ]  # fmt: skip
    usage = counters(3, 100, iterations=iterations)
    return Case({S1: [said(usage=usage)]}, Bill(10_003, 600, 0, 0, 2000, responses=1))


def a_second_copy_does_not_add_the_advisor_again() -> Case:
    """B34: duplicated line, and a copy in another session."""
    iterations = [
        {
            "type": "advisor_message",
            "model": "claude-fable-5",
            "input_tokens": 40,
            "output_tokens": 5,
        }
    ]
    row = said(usage=counters(3, 100, iterations=iterations), uuid="u1")
    return Case(
        {S1: [row, row], S2: [{**row, "timestamp": at(99)}]},
        Bill(43, 105, responses=1),
        {"s1": 105},
    )


def an_advisor_in_a_long_line_is_not_missed() -> Case:
    """B34: a fast path missed lines over 32 KB."""
    iterations = [
        {
            "type": "advisor_message",
            "model": "claude-fable-5",
            "input_tokens": 40,
            "output_tokens": 5,
        }
    ]
    usage = counters(3, 100, iterations=iterations)
    row = said(usage=usage, content=[{"type": "text", "text": "x" * 70_000}])
    return Case({S1: [row]}, Bill(43, 105, responses=1))


def compaction_iterations_are_added() -> Case:
    """Rule 6: with their cache writes by time to live."""
    iterations = [
        {"type": "compaction", "input_tokens": 40, "output_tokens": 5, "cache_creation_input_tokens": 9,
         "cache_creation": {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 7}},
        {"type": "message", "input_tokens": 3, "output_tokens": 100},
    ]  # fmt: skip
    return Case(
        {S1: [said(usage=counters(3, 100, iterations=iterations))]},
        Bill(43, 105, 2, 7, responses=1),
    )


def an_iteration_without_model_keeps_its_line() -> Case:
    """B33: `model: null` dropped the line; its tokens go to the response's model."""
    iterations = [
        {"type": "message", "model": None, "input_tokens": 3, "output_tokens": 100},
        {"type": "advisor_message", "model": None, "input_tokens": 40, "output_tokens": 5},
        {"type": None, "model": None},
        {"type": "thinking_of_the_future", "input_tokens": 999},
    ]
    return Case(
        {S1: [said(usage=counters(3, 100, iterations=iterations))]}, Bill(43, 105, responses=1)
    )


def null_and_empty_iterations_are_nothing() -> Case:
    """Rule 6: nothing to add."""
    rows = [
        said(usage=counters(3, 4, iterations=None)),
        said("msg_2", counters(5, 6, iterations=[])),
    ]
    return Case({S1: rows}, Bill(8, 10, responses=2))


def an_implausible_iteration_is_an_anomaly() -> Case:
    """Rule 9 inside rule 6: the response itself counts."""
    iterations = [
        {
            "type": "advisor_message",
            "model": "claude-fable-5",
            "input_tokens": 10**12,
            "output_tokens": 5,
        }
    ]
    usage = counters(3, 100, iterations=iterations)
    return Case({S1: [said(usage=usage)]}, Bill(3, 100, responses=1), anomalies=1)


def web_searches_are_the_largest_counter() -> Case:
    """Rule 7: over the snapshots of a message."""
    rows = [
        said(usage=counters(3, 4, server_tool_use={"web_search_requests": 1})),
        said(
            usage=counters(
                3, 4, server_tool_use={"web_search_requests": 3, "web_fetch_requests": 8}
            )
        ),
        said(usage=counters(3, 4, server_tool_use={"web_search_requests": "2"})),
        said(usage=counters(3, 4, server_tool_use=None)),
    ]
    return Case({S1: rows}, Bill(3, 4, responses=1, web_searches=3))


def web_searches_come_from_the_linked_result() -> Case:
    """Rule 7: where the counter is 0; the first value of a tool id wins."""
    ask = said(
        usage=counters(3, 4, server_tool_use={"web_search_requests": 0}),
        content=[called("t1", "WebSearch")],
    )
    results = [answered("t1", {"searchCount": 2}), answered("t1", {"searchCount": 9})]
    return Case({S1: [ask, *results]}, Bill(3, 4, responses=1, web_searches=2))


def web_searches_of_two_calls_of_one_message_add_up() -> Case:
    """Rule 7: each call's result is linked with its own call."""
    ask = said(usage=counters(3, 4), content=[called("t1", "WebSearch"), called("t2", "WebSearch")])
    results = [answered("t1", {"searchCount": 2}), answered("t2", {"searchCount": 1})]
    return Case({S1: [ask, *results]}, Bill(3, 4, responses=1, web_searches=3))


def a_counter_beats_the_linked_result() -> Case:
    """Rule 7: only if the counter is 0."""
    usage = counters(3, 4, server_tool_use={"web_search_requests": 1})
    ask = said(usage=usage, content=[called("t1", "WebSearch")])
    return Case(
        {S1: [ask, answered("t1", {"searchCount": 5})]}, Bill(3, 4, responses=1, web_searches=1)
    )


def search_counts_of_other_tools_are_none() -> Case:
    """Rule 7 is about WebSearch."""
    ask = said(usage=counters(3, 4), content=[called("t1", "Grep")])
    return Case({S1: [ask, answered("t1", {"searchCount": 5})]}, Bill(3, 4, responses=1))


def a_tiny_output_without_stop_reason_is_incomplete() -> Case:
    """Rule 8: counted, and reported as a lower bound."""
    rows = [
        said(usage=counters(3, 1), stop=None),
        said("msg_2", counters(3, 1)),
        said("msg_3", counters(3, 500), stop=None),
    ]
    return Case({S1: rows}, Bill(9, 502, responses=3, incomplete=1))


def a_final_snapshot_completes_a_response() -> Case:
    """Rule 8: the best record decides, not the first."""
    rows = [said(usage=counters(3, 1), stop=None), said(usage=counters(3, 90))]
    return Case({S1: rows}, Bill(3, 90, responses=1))


def synthetic_messages_are_no_responses() -> Case:
    """FORMATS d: neither calls nor models."""
    rows = [
        said(usage=counters(0, 0), model="<synthetic>", request=None),
        said("msg_2", counters(1, 2)),
        asked("go on"),
    ]
    return Case({S1: rows}, Bill(1, 2, responses=1))


def a_response_without_usage_is_a_lower_bound() -> Case:
    """Guarantee 3: unknown is not zero; it is a response, and reported as incomplete."""
    bare = said("msg_2")
    del bare["message"]["usage"]
    rows = [said(usage=counters(1, 2)), bare]
    return Case({S1: rows}, Bill(1, 2, responses=2, incomplete=1), naive=False)  # does not list it


def unknown_models_are_counted() -> Case:
    """Guarantee 6: an unknown model costs its dollars, never its tokens."""
    rows = [
        said(usage=counters(1, 2), model="claude-nimbus-9"),
        said("msg_2", counters(3, 4), model=None),
    ]
    return Case({S1: rows}, Bill(4, 6, responses=2))


CASES: tuple[Maker, ...] = (
    numeric_strings_and_integral_floats_are_numbers,
    null_counters_are_zero,
    negative_counters_are_an_anomaly,
    counters_over_ten_million_are_an_anomaly,
    counters_beyond_64_bits_are_an_anomaly,
    fractions_are_an_anomaly,
    not_a_number_is_an_anomaly,
    words_are_an_anomaly,
    an_implausible_line_beside_a_sound_one_is_listed,
    an_implausible_gateway_line_beside_a_sound_one_is_listed,
    a_breakdown_over_the_flat_total_is_trusted,
    a_flat_total_over_the_breakdown_is_five_minutes,
    a_flat_total_alone_is_five_minutes,
    a_breakdown_alone_is_taken,
    advisor_iterations_are_added_under_their_own_model,
    a_second_copy_does_not_add_the_advisor_again,
    an_advisor_in_a_long_line_is_not_missed,
    compaction_iterations_are_added,
    an_iteration_without_model_keeps_its_line,
    null_and_empty_iterations_are_nothing,
    an_implausible_iteration_is_an_anomaly,
    web_searches_are_the_largest_counter,
    web_searches_come_from_the_linked_result,
    web_searches_of_two_calls_of_one_message_add_up,
    a_counter_beats_the_linked_result,
    search_counts_of_other_tools_are_none,
    a_tiny_output_without_stop_reason_is_incomplete,
    a_final_snapshot_completes_a_response,
    synthetic_messages_are_no_responses,
    a_response_without_usage_is_a_lower_bound,
    unknown_models_are_counted,
)
