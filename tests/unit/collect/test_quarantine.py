"""A source that fails again and again is parked, says so without paths, and comes back when something changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from stemma.collect.quarantine import Failing, Retry, admits, fail, sanitise
from stemma.model.source import Fingerprint

PRINT = Fingerprint(size=100, mtime_ns=1, ctime_ns=2, inode=3, device=4)
GREW = replace(PRINT, size=101)


def failed(times: int) -> Failing | None:
    """The state after some failures in a row."""
    state = None
    for _ in range(times):
        state = fail(state, PRINT, "boom", prices="p1")
    return state


def test_three_failures_at_one_fingerprint_park_a_source() -> None:
    """The third, not the second."""
    assert [admits(failed(times), PRINT, prices="p1") for times in range(5)] == [
        True, True, True, False, False,
    ]  # fmt: skip
    assert failed(3) == Failing(PRINT, "p1", 3, "boom")


def test_a_failing_source_says_when_it_is_tried_again() -> None:
    """No source is given up."""
    assert [state.will_retry for state in (failed(2), failed(3)) if state] == [
        Retry.NEXT_PASS,
        Retry.ON_CHANGE,
    ]


def test_changed_bytes_or_prices_readmit_a_source() -> None:
    """With three new attempts."""
    parked = failed(3)
    assert admits(parked, GREW, prices="p1")
    assert admits(parked, PRINT, prices="p2")
    again = fail(parked, GREW, "boom", prices="p1")
    assert (again.failures, again.parked) == (1, False)


def test_failures_at_different_fingerprints_are_not_consecutive() -> None:
    """A source that keeps growing is tried at every size."""
    state = None
    for size in range(10):
        state = fail(state, replace(PRINT, size=size), "boom")
        assert not state.parked


@pytest.mark.parametrize(
    ("reason", "clean"),
    [
        ("boom", "boom"),
        ("two\n  lines\tand\x00more", "two lines and more"),
        ("[Errno 2] No such file: '/home/jo doe/x.jsonl'", "[Errno 2] No such file: <path>"),
        ('at "C:\\Users\\jo\\x" line 3', "at <path> line 3"),
        ("cannot read /home/u/.claude/projects/-p/a.jsonl: EIO", "cannot read <path> EIO"),
        ("-home-u-p/abc.jsonl is gone", "<path> is gone"),
        ("abc.jsonl is gone", "<path> is gone"),
        ("~/x and ../y", "<path> and <path>"),
        ("/Users/Jo Doe/x", "<path>"),
        ("file:///etc/passwd", "<path>"),
        ("it's fine", "it's fine"),
        ("name \udcff odd", "name ? odd"),
    ],
)
def test_reasons_carry_no_paths(reason: str, clean: str) -> None:
    """Each path becomes one word, however it is quoted."""
    assert sanitise(reason) == clean


@given(st.text(max_size=5000))
def test_reasons_are_bounded_single_lines_that_can_be_stored(reason: str) -> None:
    """Whatever an error said."""
    clean = sanitise(reason)
    assert len(clean) <= 300
    assert clean.encode().decode().isprintable()
    assert clean == " ".join(clean.split())
    assert not {"/", "\\"} & set(clean)


@pytest.mark.parametrize("bad", ["/" * 100_000, "'" * 100_000, "'/" * 50_000, "a" * 100_000])
def test_hostile_reasons_take_no_time(bad: str) -> None:
    """No pattern runs away: this test would not end."""
    assert len(sanitise(bad)) <= 300
