"""The one redactor: what looks like a secret is never stored, and what does not is left alone."""

from __future__ import annotations

import time

import pytest

from stemma.normalize.redact import MARK, redact, sweep

KEY = "sk-" + "ant-api03-" + "A1b2C3d4E5f6G7h8I9"
SECRETS = (
    (KEY, MARK),
    (f"use {KEY}, please", f"use {MARK}, please"),
    ("gh" + "p_" + "a1" * 18, MARK),
    ("github" + "_pat_" + "a1" * 20, MARK),
    ("gl" + "pat-" + "a1b2c3d4e5f6", MARK),
    ("xo" + "xb-123456789012-abcdef", MARK),
    ("AK" + "IAABCDEFGHIJKLMNOP", MARK),
    ("AI" + "za" + "b" * 35, MARK),
    ("npm" + "_" + "a1" * 18, MARK),
    ("hf" + "_" + "a1" * 17, MARK),
    ("ey" + "Jhbmciabcd.eyJzdWIabcd.c2lnbmF0", MARK),
    ("curl https://user:hunter2@host/x", f"curl https://{MARK}@host/x"),
    ("Authorization: Bearer abcdef123456789", f"Authorization: Bearer {MARK}"),
    ("export API_KEY=abcdef", f"export API_KEY={MARK}"),
    ("AWS_SECRET_ACCESS_KEY = 'abcdefgh'", f"AWS_SECRET_ACCESS_KEY = '{MARK}'"),
    ('{"access_token": "abcdefghijk"}', f'{{"access_token": "{MARK}"}}'),
    ('password: "abcdefgh"', f'password: "{MARK}"'),
    ("password: hunter2hunter2", f"password: {MARK}"),
    ("login --password abcdef", f"login --password {MARK}"),
    ("login --token=abcdef", f"login --token={MARK}"),
)
HARMLESS = (
    "",
    "input_tokens: 12345678",
    '"cache_read_input_tokens":123456789',
    "max_tokens=4096",
    "the token budget is fine",
    "password=$PASSWORD_FROM_ENV",
    "token=true",
    "secret: none",
    f"password={MARK}",
    "https://host/path?x=1",
    "a task-skeleton",
    "tests/test_secret_handling.py",
)


@pytest.mark.parametrize(("text", "expected"), SECRETS)
def test_a_secret_is_taken_out_and_the_rest_stays(text: str, expected: str) -> None:
    """Alone and in the middle of a text; what is left holds nothing more to take out."""
    assert redact(text) == expected
    assert redact(f"before {text} after") == f"before {expected} after"
    assert redact(expected) == expected


def test_a_private_key_is_taken_out_whole() -> None:
    """Also one whose end was cut off."""
    head = "-----BEGIN RSA " + "PRIVATE KEY-----"
    tail = "-----END RSA " + "PRIVATE KEY-----"
    assert redact(f"x {head}\nabc\n{tail} y") == f"x {MARK} y"
    assert redact(f"x {head}\nabc") == f"x {MARK}"


@pytest.mark.parametrize("text", HARMLESS)
def test_counts_names_and_references_are_left_alone(text: str) -> None:
    """Count fields are exempt (DESIGN section 8)."""
    assert redact(text) == text


def test_a_sweep_is_what_redacting_each_text_is() -> None:
    """And nothing when there is nothing to change."""
    texts = [text for text, _ in SECRETS] + list(HARMLESS)
    assert sweep(texts) == [redact(text) for text in texts]
    assert sweep(["a", "b"]) is None
    assert sweep([]) is None


@pytest.mark.parametrize(
    "part",
    [
        "token",
        "eyJ-",
        'password="',
        "-secret-",
        "://a:b",
        "token=",
        "sk-",
        "credential: a",
        "bearer ",
        "token\t",
    ],
)
def test_a_text_without_end_costs_its_length(part: str) -> None:
    """Eight times the text takes no more than some twenty times as long, which the square of it would."""
    redact(part)
    small, large = part * (50_000 // len(part)), part * (400_000 // len(part))
    started = time.process_time()
    redact(small)
    between = time.process_time()
    redact(large)
    assert time.process_time() - between < 20 * (between - started) + 0.2
