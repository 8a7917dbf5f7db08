"""Which model a recorded id means: the many spellings of one model, and never a step across a version number.

Spellings: ``[1m]`` suffix, ``@date`` and ``-YYYYMMDD``, provider prefixes, dots for hyphens, old word order, Bedrock's
regions and revisions, Vertex paths (ACCOUNTING section 3, faults B44, B47, B53).
"""

from __future__ import annotations

import re
from typing import NamedTuple

ANTHROPIC, AWS, GOOGLE = "anthropic", "aws", "google"
GLOBAL, REGIONAL = "global", "regional"

CLOUD_PREFIXES = {
    "bedrock": AWS,
    "amazon-bedrock": AWS,
    "aws": AWS,
    "vertex": GOOGLE,
    "vertex_ai": GOOGLE,
    "vertex-ai": GOOGLE,
    "google-vertex": GOOGLE,
}
"""First words of ``word/model`` that say who bills."""

PASSING_PREFIXES = frozenset(
    {"anthropic", "google", "litellm", "models", "openai", "openrouter", "vercel"}
)
"""First words that change nothing about the price: the maker's name, and gateways that bill the maker's list price."""

_DATE = r"20\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])"
_TAIL = rf"(?:[-@]{_DATE}|[-@]latest|@default)?(?:-v\d+(?::\d+)*(?::\d+[km])?)?(?P<fast>-fast)?"
_NUMBER = r"(?P<major>0|[1-9]\d?)(?:[-.](?P<minor>0|[1-9]\d?))?"
_CLAUDE = re.compile(rf"claude-(?P<family>[a-z]+)-{_NUMBER}{_TAIL}")
_OLD_CLAUDE = re.compile(rf"claude-{_NUMBER}-(?P<family>[a-z]+){_TAIL}")
_CONTEXT = re.compile(r"\[\d+[km]\]$")
_DATED = re.compile(rf"[-@](?:{_DATE}|latest)$")
_BEDROCK = re.compile(r"(?:(?P<scope>[a-z]+(?:-[a-z]+)?)\.)?anthropic\.(?P<name>claude.+)")
_PROFILE = re.compile(
    r"arn:aws[a-z-]*:bedrock:.*:(?:inference-profile|foundation-model)/(?P<name>[^/]+)"
)
_VERTEX = re.compile(
    r"(?:projects/[^/]+/)?(?:locations/(?P<location>[^/]+)/)?publishers/anthropic/models/(?P<name>[^/]+)"
)  # fmt: skip
_LAST_OLD_ORDER = 3


class Identity(NamedTuple):
    """What an id says.

    Attributes:
        provider: Who bills; empty when the id does not say.
        name: Canonical name at that provider.
        scope: ``global``, ``regional``, or empty where a provider makes no difference.
        variant: ``fast`` when the id itself names a fast edition, else empty.
    """

    provider: str
    name: str
    scope: str = ""
    variant: str = ""


class _Place(NamedTuple):
    provider: str
    name: str
    scope: str


def identify(model: str) -> Identity:
    """The model that an id means, as far as the id itself can tell.

    A Claude id that no rule reads, and any other id, comes back in lower case without context suffix, known prefix and
    date; whether such a model exists is for the price book to say.
    """
    text = _CONTEXT.sub("", model.strip().lower())
    place = _place(text)
    found = _CLAUDE.fullmatch(place.name) or _OLD_CLAUDE.fullmatch(place.name)
    if found is None:
        return Identity(place.provider, _DATED.sub("", place.name), place.scope)
    name = _canonical(found["family"], int(found["major"]), int(found["minor"] or 0))
    variant = "fast" if found["fast"] else ""
    provider = (
        place.provider or ANTHROPIC
    )  # also name@date, as Vertex writes it: its global endpoint costs the same
    if provider == AWS:
        return Identity(AWS, f"{place.scope or REGIONAL}.{name}", place.scope or REGIONAL, variant)
    return Identity(provider, name, place.scope, variant)


def is_claude(model: str) -> bool:
    """Whether an id has the form of a Claude model with a version number."""
    name = _place(_CONTEXT.sub("", model.strip().lower())).name
    return bool(_CLAUDE.fullmatch(name) or _OLD_CLAUDE.fullmatch(name))


def _canonical(family: str, major: int, minor: int) -> str:
    number = f"{major}-{minor}" if minor else f"{major}"
    return f"claude-{number}-{family}" if major <= _LAST_OLD_ORDER else f"claude-{family}-{number}"


def _place(text: str) -> _Place:
    """Take apart where an id says that the model runs."""
    provider = ""
    if text.startswith("arn:"):
        profile = _PROFILE.fullmatch(text)
        if (
            profile is None
        ):  # an application's own profile is opaque: only an alias of the user's can name its model
            return _Place("", text, "")
        provider, text = AWS, profile["name"]
    vertex = _VERTEX.fullmatch(text)
    if vertex is not None:
        location = vertex["location"] or GLOBAL
        return _Place(GOOGLE, vertex["name"], GLOBAL if location == GLOBAL else REGIONAL)
    while "/" in text:
        word, rest = text.split("/", 1)
        if word in CLOUD_PREFIXES:
            provider = CLOUD_PREFIXES[word]
        elif word not in PASSING_PREFIXES:
            break
        text = rest
    bedrock = _BEDROCK.fullmatch(text)
    if bedrock is not None:
        scope = GLOBAL if bedrock["scope"] == GLOBAL else REGIONAL
        return _Place(AWS, bedrock["name"], scope)
    return _Place(provider, text, "")
