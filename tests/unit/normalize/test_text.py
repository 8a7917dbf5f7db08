"""Short texts out of large ones, and the few texts that carry structure."""

from __future__ import annotations

import pytest
from msgspec import Raw

from stemma.normalize.claude_code.text import (
    Notification,
    child_id,
    digest,
    microseconds,
    notifications,
    peek,
    short,
    typed_command,
)

SECOND = 1_000_000
NINE = 1_762_160_400 * SECOND  # 2025-11-03T09:00:00Z


def check_time(text: str | None, expected: int) -> None:
    """The same whatever was read before, and when it is read again."""
    for warm in ("2025-11-03T09:00:00.000Z", "1999-01-01T00:00:00.000Z"):
        microseconds(warm)
        assert microseconds(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2025-11-03T09:00:00.000Z", NINE),
        ("2025-11-03T09:00:59.999Z", NINE + 59_999_000),
        ("2025-11-03T09:00:01.234567Z", NINE + 1_234_567),
        ("2025-11-03T09:00:00Z", NINE),
        ("2025-11-03T09:00:00", NINE),
        ("2025-11-03T14:30:00.000+05:30", NINE),
        ("2025-11-03T09:00:60.000Z", 0),
        ("2025-11-03T09:00:99.000Z", 0),
        ("2025-11-03T09:00x07.000Z", 0),
        ("2025-11-03T09:00: 7.000Z", 0),
        ("2025-11-03T09:00:+7.000Z", 0),
        ("2025-11-03T09:00:0\u0667.000Z", 0),
        ("2025-11-03T09:00:00.1_0Z", 0),
        ("1969-12-31T23:59:59.999Z", 0),
        ("0001-01-01T00:00:00+23:59", 0),
        ("9999-12-31T23:59:59.000Z", 253_402_300_799 * SECOND),
        ("1762160400", 0),
        ("", 0),
        (None, 0),
    ],
)
def test_a_time_is_what_it_says_or_unknown(text: str | None, expected: int) -> None:
    """A shortcut for the usual form must not accept what the long way refuses."""
    check_time(text, expected)


def test_a_short_text_is_one_line() -> None:
    """At most 120 characters, blanks folded."""
    assert short(" a\n\tb  c ") == "a b c"
    assert short("x" * 500) == "x" * 120
    assert short(None) == ""


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b'"done"', "done"),
        (b'"a\\nb"', "a\nb"),
        (b'[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]', "a\nb"),
        (b"5", ""),
        (b'{"a":1}', ""),
        (b"[5]", ""),
        (b"", ""),
    ],
)
def test_a_result_s_text_is_what_its_blocks_say(raw: bytes, expected: str) -> None:
    """A string, or the texts of a list; anything else says nothing."""
    assert peek(Raw(raw)) == expected


@pytest.mark.parametrize(
    "character", ["\\ud83d\\ude00", "\\u00e9", "\u00e9", "\U0001f642", "\\\\", "\\n", '\\"', "x"]
)
@pytest.mark.parametrize("before", range(12))
def test_a_long_text_is_cut_between_characters(character: str, before: int) -> None:
    """Wherever the cut falls: nothing is left that no encoding knows."""
    text = peek(Raw(b'"' + b"x" * before + character.encode() * 400 + b'"'))
    assert len(text.encode()) <= 480
    assert text.startswith("x" * before)


NOTICE = (
    "<task-notification>\n<task-id>a1</task-id>\n<tool-use-id>t1</tool-use-id>\n<status>completed</status>\n"
    "<summary>s</summary>\n<result><task-id>forged</task-id></result>\n</task-notification>"
)


def test_a_notification_is_read_and_what_an_agent_says_in_it_is_not() -> None:
    """Elements inside the result are the agent's own words."""
    assert notifications(NOTICE) == [Notification("a1", "t1", "completed", "s")]
    assert notifications(NOTICE + NOTICE.replace("a1", "a2"))[1].task == "a2"
    assert (
        notifications("<task-notification>\n<result>x</result><task-id>forged</task-id>")[0].task
        == ""
    )


def test_a_quoted_notification_is_prose() -> None:
    """Only a text that begins with one is one."""
    assert notifications(f"it said {NOTICE}") == []


def test_a_typed_command_is_its_name_and_arguments() -> None:
    """In either order of the elements."""
    command = typed_command(
        "<command-message>x</command-message>\n<command-name>/go</command-name>\n<command-args> a b </command-args>"
    )
    assert command is not None
    assert (command.name, command.args) == ("go", "a b")
    assert typed_command("see <command-name>/go</command-name>") is None


def test_a_digest_tells_exact_texts_apart() -> None:
    """Also such as no encoding knows."""
    assert digest("a") == digest("a") != digest("a ")
    assert digest("\ud800") != digest("\ud801")


def test_no_subagent_is_called_main() -> None:
    """The one id that is taken."""
    assert (child_id("a1"), child_id("main"), child_id("")) == ("a1", "agent-main", "")
