"""Which model an id means."""

import pytest
from tests.unit.cost.making import BOOK

from stemma.derive.cost.identify import identify

SPELLINGS = {
    "claude-opus-4-8": ("anthropic", "claude-opus-4-8"),
    "claude-opus-4-8[1m]": ("anthropic", "claude-opus-4-8"),
    "CLAUDE-OPUS-4-8[1M]": ("anthropic", "claude-opus-4-8"),
    " claude-opus-4-8 ": ("anthropic", "claude-opus-4-8"),
    "claude-opus-4-5-20251101": ("anthropic", "claude-opus-4-5"),
    "claude-opus-4-5@20251101": ("anthropic", "claude-opus-4-5"),
    "claude-opus-4-5-20251101[1m]": ("anthropic", "claude-opus-4-5"),
    "claude-opus-5-2026-07-01": ("anthropic", "claude-opus-5"),
    "claude-sonnet-5@default": ("anthropic", "claude-sonnet-5"),
    "claude-opus-4.8": ("anthropic", "claude-opus-4-8"),
    "anthropic/claude-opus-4.8": ("anthropic", "claude-opus-4-8"),
    "openrouter/anthropic/claude-opus-4.8": ("anthropic", "claude-opus-4-8"),
    "claude-4-5-opus": ("anthropic", "claude-opus-4-5"),
    "claude-4.5-haiku": ("anthropic", "claude-haiku-4-5"),
    "claude-5-5-sonnet": ("anthropic", "claude-sonnet-5-5"),
    "claude-opus-5.0": ("anthropic", "claude-opus-5"),
    "claude-opus-4-0": ("anthropic", "claude-opus-4"),
    "claude-opus-4-20250514": ("anthropic", "claude-opus-4"),
    "claude-opus-4-1-20250805": ("anthropic", "claude-opus-4-1"),
    "claude-sonnet-4": ("anthropic", "claude-sonnet-4"),
    "claude-4-sonnet-20250514": ("anthropic", "claude-sonnet-4"),
    "claude-3-5-haiku-20241022": ("anthropic", "claude-3-5-haiku"),
    "claude-3-5-haiku-latest": ("anthropic", "claude-3-5-haiku"),
    "claude-3.7-sonnet": ("anthropic", "claude-3-7-sonnet"),
    "claude-sonnet-3-7": ("anthropic", "claude-3-7-sonnet"),
    "claude-3-opus-20240229": ("anthropic", "claude-3-opus"),
    "claude-2.1": ("anthropic", "claude-2"),
    "claude-fable-5-1": ("anthropic", "claude-fable-5-1"),
    "claude-mythos-5": ("anthropic", "claude-mythos-5"),
    "claude-mythos-preview": ("anthropic", "claude-mythos-preview"),
    "<synthetic>": ("anthropic", "<synthetic>"),
    "global.anthropic.claude-sonnet-4-5-20250929-v1:0": ("aws", "global.claude-sonnet-4-5"),
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0": ("aws", "regional.claude-sonnet-4-5"),
    "eu.anthropic.claude-opus-4-6-v1": ("aws", "regional.claude-opus-4-6"),
    "apac.anthropic.claude-haiku-4-5-20251001-v1:0": ("aws", "regional.claude-haiku-4-5"),
    "us-gov.anthropic.claude-haiku-4-5-20251001-v1:0": ("aws", "regional.claude-haiku-4-5"),
    "anthropic.claude-opus-4-8-v1:0": ("aws", "regional.claude-opus-4-8"),
    "bedrock/global.anthropic.claude-opus-5": ("aws", "global.claude-opus-5"),
    "us.anthropic.claude-3-5-sonnet-20241022-v2:0": ("aws", "regional.claude-3-5-sonnet"),
    "us.anthropic.claude-sonnet-4-20250514-v1:0:200k": ("aws", "regional.claude-sonnet-4"),
    "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-opus-5": (
        "aws",
        "regional.claude-opus-5",
    ),
    "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-opus-4-8-v1:0": (
        "aws",
        "regional.claude-opus-4-8",
    ),
    "vertex_ai/claude-opus-4-5@20251101": ("google", "claude-opus-4-5"),
    "projects/p/locations/global/publishers/anthropic/models/claude-opus-5@20260701": (
        "google",
        "claude-opus-5",
    ),
    "gpt-5.1-codex": ("openai", "gpt-5.1"),
    "openai/gpt-5-2025-08-07": ("openai", "gpt-5"),
    "gemini-2.5-pro": ("google", "gemini-2.5-pro"),
}

UNKNOWN = [
    "",
    "claude",
    "claude-nimbus-9",
    "claude-opus",
    "claude-opus-9",
    "claude-opus-5-9",
    "claude-opus-4-9",
    "claude-opus-4-99",
    "claude-opus-4-80",
    "claude-opus-4-8-1",
    "claude-opus-48",
    "claude-opus-4-08",
    "claude-opus-4-8-thinking",
    "claude-opus-4-8-20261399",
    "claude-3-9-sonnet",
    "claude-haiku-4",
    "claude-fable-5-3",
    "xclaude-opus-4-8",
    "claude-opus-4-8x",
    "acme/claude-opus-4-8",
    "global.anthropic.claude-opus-9-v1:0",
    "global.anthropic.claude-opus-4-1-20250805-v1:0",  # never sold through the global profile
    "us.anthropic.claude-opus-4-99-v1:0",
    "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3d4e5f6",
    "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/claude-opus-4-8",
    "bedrock/gpt-5",
    "gpt-5.9",
    "gpt",
]


@pytest.mark.parametrize("model", SPELLINGS)
def test_a_model_is_known_by_all_its_spellings(model: str) -> None:
    """Suffixes, prefixes, dates, word orders and clouds."""
    found = BOOK.find(model)
    assert found is not None
    assert (found.provider, found.name) == SPELLINGS[model]
    assert BOOK.rows(found.provider, found.name)


@pytest.mark.parametrize("model", UNKNOWN)
def test_a_match_never_crosses_a_version_number(model: str) -> None:
    """A model that is not in the book is unknown, however much it looks like one that is."""
    assert BOOK.find(model) is None


@pytest.mark.parametrize(("provider", "name"), BOOK.models())
def test_every_model_of_the_book_is_found_by_its_own_name(provider: str, name: str) -> None:
    """No entry is out of reach."""
    if provider == "aws":
        model = name.replace("claude-", "anthropic.claude-", 1)
    elif provider == "google" and name.startswith("claude-"):
        model = f"vertex/{name}"
    else:
        model = name
    found = BOOK.find(model)
    assert found is not None
    assert (found.provider, found.name) == (provider, name)


def test_a_fast_edition_is_the_model_served_fast() -> None:
    """As gateways name it; the price is that of the speed."""
    assert identify("anthropic/claude-opus-4.8-fast").variant == "fast"
    assert identify("claude-opus-4-8").variant == ""


def test_a_regional_endpoint_is_told_from_the_global_one() -> None:
    """Only where the id says so."""
    path = "projects/p/locations/{}/publishers/anthropic/models/claude-opus-5@20260701"
    assert identify(path.format("europe-west1")).scope == "regional"
    assert identify(path.format("global")).scope == "global"
