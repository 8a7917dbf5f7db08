"""The one redactor: secrets are taken out of every text before anything stores or prints it (DESIGN section 8).

A sweep over many texts at once first looks for the few substrings that every pattern needs, which costs next to nothing
when there is none; only texts that hold one are searched.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MARK = "[redacted]"


class _Pattern(NamedTuple):
    triggers: tuple[str, ...]
    regex: re.Pattern[str]
    replacement: str


def _pattern(triggers: str, regex: str, replacement: str = MARK) -> _Pattern:
    return _Pattern(tuple(triggers.split()), re.compile(regex), replacement)


_NAMED = r"(?i)((?:secret|token|passwd|password|passphrase|api[_\-]?key|access[_\-]?key|private[_\-]?key|credential)[\w\-]{0,64}+)"
"""Bounded, as every repetition here that may begin anywhere: a text without an end must cost its length, not its square."""
_HARMLESS = r"(?!\d+\b)(?!\[redacted\])(?!\$)(?!true\b|false\b|null\b|none\b)"

PATTERNS = (
    _pattern("sk-", r"\bsk-(?:ant-|proj-|or-|svcacct-)?[A-Za-z0-9_\-]{16,}"),
    _pattern("ghp_ gho_ ghu_ ghs_ ghr_", r"\bgh[pousr]_[A-Za-z0-9]{16,}"),
    _pattern("github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{16,}"),
    _pattern("glpat-", r"\bglpat-[A-Za-z0-9_\-]{12,}"),
    _pattern("xoxb- xoxp- xoxa- xoxr- xoxs-", r"\bxox[abprs]-[A-Za-z0-9\-]{8,}"),
    _pattern("hooks.slack.com", r"hooks\.slack\.com/services/[A-Za-z0-9/_\-]+"),
    _pattern("akia asia", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    _pattern("aiza", r"\bAIza[A-Za-z0-9_\-]{20,}"),
    _pattern("ya29.", r"\bya29\.[A-Za-z0-9_\-]{16,}"),
    _pattern("sk_live_ sk_test_ rk_live_ rk_test_", r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{10,}"),
    _pattern("npm_", r"\bnpm_[A-Za-z0-9]{20,}"),
    _pattern("pypi-", r"\bpypi-[A-Za-z0-9_\-]{20,}"),
    _pattern("hf_", r"\bhf_[A-Za-z0-9]{20,}"),
    _pattern("eyj", r"\beyJ[A-Za-z0-9_\-]{8,2000}\.[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]*)?"),
    _pattern(
        "-----begin",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    ),
    _pattern("://", r"(?<=://)[^\s/:@'\"]*:[^\s/@'\"]+(?=@)"),
    _pattern("bearer basic", r"(?i)(?<=\b)(bearer|basic)\s+[A-Za-z0-9_\-.=+/]{12,}", r"\1 " + MARK),
    _pattern(
        "secret token passw passphrase api_key apikey api-key access_key private_key credential",
        _NAMED + r"(\s*=\s*[\"']|=|[\"']?\s*:\s*[\"'])" + _HARMLESS + r"[^\s\"',;&|<>(){}]{6,}",
        r"\1\2" + MARK,
    ),
    _pattern(
        "secret token passw passphrase api_key apikey api-key access_key private_key credential",
        _NAMED + r"(\s*[:=]\s*)" + _HARMLESS + r"(?=[^\s]{0,200}\d)[^\s\"',;&|<>(){}]{8,}",
        r"\1\2" + MARK,
    ),
    _pattern(
        "--password --token --secret --api-key",
        r"(?i)(--(?:password|token|secret|api-key)[= ]+)[^\s\"']{4,}",
        r"\1" + MARK,
    ),
)


def redact(text: str) -> str:
    """The text with everything that looks like a secret replaced by ``[redacted]``; numbers of tokens stay."""
    lowered = text.lower()
    for pattern in PATTERNS:
        if any(trigger in lowered for trigger in pattern.triggers):
            text = pattern.regex.sub(pattern.replacement, text)
    return text


_TRIGGERS = tuple(dict.fromkeys(trigger for pattern in PATTERNS for trigger in pattern.triggers))


def sweep(texts: list[str]) -> list[str] | None:
    """Redact many texts at once.

    Returns:
        The redacted texts in the same order, or nothing when none had to change.
    """
    joined = "\x00".join(texts).lower()
    found = [trigger for trigger in _TRIGGERS if trigger in joined]
    if not found:
        return None
    out = []
    for text in texts:
        lowered = text.lower()
        out.append(redact(text) if any(trigger in lowered for trigger in found) else text)
    return out
