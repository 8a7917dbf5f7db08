"""Sources that fail again and again are parked, visibly, until something about them changes. Pure."""

import re
from enum import StrEnum

from msgspec import Struct

from stemma.model.source import Fingerprint

STRIKES = 3
"""Consecutive failures at one fingerprint after which a source is parked."""
REASON_CHARACTERS = 300
"""Length beyond which a reason is cut."""

_READ_CHARACTERS = 4 * 1024
_QUOTED = re.compile(r"""(['"])([^'"]*)\1""")
_WORD = re.compile(r"""[^\s'"<>]+""")
_PATH_MARK = re.compile(r"[/\\]|\.jsonl?\b")
_PATHS = re.compile(r"<path>(?:[\s:]*<path>)+")


class Retry(StrEnum):
    """When a failing source is tried again."""

    NEXT_PASS = "next-pass"  # noqa: S105 - not a password
    ON_CHANGE = "on-change"


class Failing(Struct, frozen=True, gc=False):
    """A source that failed, and how often in a row.

    Attributes:
        fingerprint: Its fingerprint when it failed.
        prices: Digest of the price table then; empty where prices play no part.
        failures: Consecutive failures at that fingerprint and those prices.
        reason: Why it failed last, without paths.
    """

    fingerprint: Fingerprint
    prices: str
    failures: int
    reason: str

    @property
    def parked(self) -> bool:
        """Whether it is left alone as it is now."""
        return self.failures >= STRIKES

    @property
    def will_retry(self) -> Retry:
        """When it is tried again: always some day, since no source is given up."""
        return Retry.ON_CHANGE if self.parked else Retry.NEXT_PASS


def fail(
    before: Failing | None, fingerprint: Fingerprint, reason: str, *, prices: str = ""
) -> Failing:
    """The state after a failure. A success needs no state: forget it then.

    Args:
        before: The state before, if the source's last attempt failed too.
        fingerprint: The source's fingerprint at this attempt.
        reason: What went wrong, in any form.
        prices: Digest of the price table.
    """
    again = before is not None and not _changed(before, fingerprint, prices)
    count = before.failures + 1 if before is not None and again else 1
    return Failing(fingerprint, prices, count, sanitise(reason))


def admits(state: Failing | None, fingerprint: Fingerprint, *, prices: str = "") -> bool:
    """Whether a source may be tried: it is not parked, or its bytes or the prices have changed since."""
    return state is None or not state.parked or _changed(state, fingerprint, prices)


def sanitise(reason: str) -> str:
    """A reason fit to be stored and shown: no paths, one line, bounded, encodable."""
    text = reason[:_READ_CHARACTERS].encode("utf-8", "replace").decode()
    text = _WORD.sub(_without_path, _QUOTED.sub(_without_path, text))
    text = "".join(character if character.isprintable() else " " for character in text)
    text = _PATHS.sub("<path>", " ".join(text.split()))
    return text if len(text) <= REASON_CHARACTERS else text[: REASON_CHARACTERS - 1] + "…"


def _changed(state: Failing, fingerprint: Fingerprint, prices: str) -> bool:
    return state.fingerprint != fingerprint or state.prices != prices


def _without_path(match: re.Match[str]) -> str:
    return "<path>" if _PATH_MARK.search(match[0]) else match[0]
