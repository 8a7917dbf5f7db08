"""What requests cost, to the digit."""

import pytest
from tests.unit.cost.making import BOOK, dollars, priced, tokens, with_prices

from stemma.derive.cost.charge import BOUNDARIES, LARGEST_PROMPT, Charge, context_class

OPUS_48 = (3, 1000, 1000, 0, 10_000)
LONG = (1000, 1000, 10_000, 0, 240_000)
BEFORE, AFTER = "2026-03-12", "2026-03-13"

VECTORS = {
    # one-hour cache writes, fault B39
    "fable-5, 1 h": (tokens("claude-fable-5", 0, 0, 0, 37_175), "0.7435"),
    "opus-5, 1 h": (tokens("claude-opus-5", 0, 0, 0, 344_139), "3.44139"),
    "sonnet-4-5, 1 h, a sum": (tokens("claude-sonnet-4-5", 0, 0, 0, 2_000_000), "12"),
    "sonnet-4-5, 1 h, below 200k": (tokens("claude-sonnet-4-5", 0, 0, 0, 200_000), "1.2"),
    "opus-4-8, 5 m and 1 h": (tokens("claude-opus-4-8", 0, 0, 600_000, 400_000), "7.75"),
    # T14, T15: fast and geography
    "fast opus-4-8": (tokens("claude-opus-4-8", *OPUS_48, speed="fast"), "0.07253"),
    "opus-4-8 in the US": (tokens("claude-opus-4-8", *OPUS_48, geo="us"), "0.0398915"),
    "opus-4-8": (tokens("claude-opus-4-8", *OPUS_48), "0.036265"),
    "geography without surcharge": (tokens("claude-opus-4-8", *OPUS_48, geo="global"), "0.036265"),
    "no geography": (tokens("claude-opus-4-8", *OPUS_48, geo="not_available"), "0.036265"),
    "fast in the US": (tokens("claude-opus-4-8", *OPUS_48, speed="fast", geo="us"), "0.079783"),
    "too old for a geography": (tokens("claude-opus-4-5", *OPUS_48, geo="us"), "0.036265"),
    "searches in the US": (tokens("claude-opus-4-8", 1000, searches=2, geo="us"), "0.0255"),
    # T16: long context, whole request, threshold exclusive
    "sonnet-4-5 at 200,000": (tokens("claude-sonnet-4-5", 1000, 1000, 0, 0, 199_000), "0.0777"),
    "sonnet-4-5 at 200,001": (tokens("claude-sonnet-4-5", 1001, 1000, 0, 0, 199_000), "0.147906"),
    "sonnet-4-5, beta, 1 h": (tokens("claude-sonnet-4-5", 0, 0, 0, 1_000_000), "12"),
    "sonnet-4 in its beta": (tokens("claude-sonnet-4", 200_001, 1000, on="2025-09-01"), "1.222506"),
    "haiku-5-5 at 100,000": (tokens("claude-haiku-5-5", 100_000, 1000), "0.0105"),
    "haiku-5-5 at 100,001": (tokens("claude-haiku-5-5", 100_001, 1000), "0.0525005"),
    "gpt-5.5 at 272,000": (tokens("gpt-5.5", 264_064, 0, 0, 0, 7_936), "1.324288"),
    "gpt-5.5, no bucket crosses": (tokens("gpt-5.5", 270_540, 0, 0, 0, 7_936), "2.713336"),
    # T17, T18: the tier ended on 2026-03-13
    "opus-4-6 long, before": (tokens("claude-opus-4-6", *LONG, on=BEFORE), "0.4125"),
    "opus-4-6 long, after": (tokens("claude-opus-4-6", *LONG, on=AFTER), "0.2125"),
    "last moment before": (tokens("claude-opus-4-6", *LONG, on="2026-03-12T23:59:59"), "0.4125"),
    "first moment after": (tokens("claude-opus-4-6", *LONG, on="2026-03-13T00:00:00"), "0.2125"),
    # T20: reads at 0.025
    "fable-5-1 reads": (tokens("claude-fable-5-1", 10, 1000, 0, 0, 200_000), "0.1001"),
    # T27, T28: Bedrock
    "bedrock global": (
        tokens("global.anthropic.claude-sonnet-4-5-20250929-v1:0", *OPUS_48),
        "0.021759",
    ),
    "bedrock regional": (
        tokens("us.anthropic.claude-sonnet-4-5-20250929-v1:0", *OPUS_48),
        "0.0239349",
    ),
    "bedrock, before regions cost more": (
        tokens("us.anthropic.claude-sonnet-4-20250514-v1:0", *OPUS_48),
        "0.021759",
    ),
    "vertex by date": (tokens("claude-sonnet-4-5@20250929", *OPUS_48), "0.021759"),
    "vertex regional": (
        tokens(
            "projects/p/locations/us-east5/publishers/anthropic/models/claude-sonnet-4-5@20250929",
            *OPUS_48,
        ),
        "0.0239349",
    ),
    # T50 to T52
    "opus-4-6 served standard": (tokens("claude-opus-4-6", 3, 1000, speed="standard"), "0.025015"),
    "opus-4-6 served fast, once": (
        tokens("claude-opus-4-6", *OPUS_48, speed="fast", on="2026-04-01"),
        "0.21759",
    ),
    "opus-4-6 long and fast, once": (
        tokens("claude-opus-4-6", *LONG, speed="fast", on="2026-02-20"),
        "2.475",
    ),
    "opus-4-6 fast, since withdrawn": (
        tokens("claude-opus-4-6", *OPUS_48, speed="fast"),
        "0.036265",
    ),
    "opus-4-7 served fast, once": (
        tokens("claude-opus-4-7", *OPUS_48, speed="fast", on="2026-07-24"),
        "0.21759",
    ),
    "batch": (tokens("claude-opus-4-8", 3, 1000, tier="batch"), "0.0125075"),
    "batch, earlier": (
        tokens("claude-opus-4-8", 3, 1000, tier="batch", on="2026-08-01"),
        "0.0125075",
    ),
    "batch in the US": (tokens("claude-opus-4-8", 1000, 1000, tier="batch", geo="us"), "0.0165"),
    "batch, long context": (
        tokens("claude-sonnet-4-6", 201_000, tier="batch", on="2026-01-01"),
        "0.603",
    ),
    "batch with searches": (tokens("claude-opus-4-8", 1000, searches=1, tier="batch"), "0.0125"),
    "priority tier": (tokens("claude-opus-4-8", 3, 1000, tier="priority"), "0.025015"),
    # others
    "advisor": (tokens("claude-fable-5", 10_000, 500), "0.125"),
    "synthetic": (tokens("<synthetic>", 5, 5, 5, 5, 5, speed="fast", geo="moon"), "0"),
    "haiku 3 writes, as published": (tokens("claude-3-haiku", 0, 0, 1_000_000), "0.3"),
    "third-party total of nothing": (tokens("claude-opus-4-8"), "0"),
}


@pytest.mark.parametrize("name", VECTORS)
def test_a_request_costs_exactly(name: str) -> None:
    """Worked out by hand, or published."""
    charge, expected = VECTORS[name]
    assert dollars(charge) == expected


def test_a_sum_without_request_boundaries_stays_at_the_base_rate() -> None:
    """Fault B43; no prompt is longer than a million tokens, so a record of more is such a sum."""
    assert context_class(LARGEST_PROMPT) == BOUNDARIES[-1]
    assert context_class(LARGEST_PROMPT + 1) == 0


@pytest.mark.parametrize(
    ("charge", "tokens_left", "reason"),
    [
        (tokens("claude-nimbus-9", 1000, 1000), 2000, "unknown-model"),
        (tokens("", 1, 2), 3, "no-model"),
        (tokens("claude-sonnet-5", 10, 10, speed="fast"), 20, "unknown-variant"),
        (tokens("claude-opus-4-8", 10, 10, speed="warp"), 20, "unknown-variant"),
        (tokens("claude-opus-4-8", 10, tier="sponsored"), 10, "unknown-variant"),
        (tokens("claude-opus-4-8", 10, tier="batch", speed="fast"), 10, "unknown-variant"),
        (tokens("claude-opus-4-8", 10, 10, geo="moon"), 20, "unknown-geo"),
        (tokens("claude-opus-4-7", 10, 10, speed="fast", on="2026-07-25"), 20, "no-period"),
        (tokens("claude-2", 10, 10, 7), 7, "no-rate"),
        (tokens("us.anthropic.claude-3-opus-20240229-v1:0", 10, 10, 0, 0, 7), 7, "no-rate"),
    ],
)
def test_what_has_no_price_is_counted_and_says_why(
    charge: Charge, tokens_left: int, reason: str
) -> None:
    """Never a guess, never a silent zero; what has a price keeps it."""
    result = priced(charge)
    assert (result.unpriced_tokens, result.unpriced_reason) == (tokens_left, reason)
    assert result.total == sum(result.pico)
    assert (result.total > 0) == (charge.tokens > tokens_left)


def test_a_search_without_a_price_is_counted_apart_from_tokens() -> None:
    """They are no tokens."""
    result = priced(tokens("claude-nimbus-9", searches=2))
    assert (result.unpriced_tokens, result.unpriced_searches) == (0, 2)
    assert result.unpriced_reason == "unknown-model"


def test_nothing_to_price_is_not_unpriced() -> None:
    """A model nobody knows that used nothing is no trouble."""
    assert priced(tokens("claude-nimbus-9")).unpriced_reason == ""


def test_an_unknown_time_has_a_price_where_time_does_not_matter() -> None:
    """Where rates changed, it is unknown which held."""
    always = Charge("claude-opus-4-8", 0, 1000)
    assert dollars(always) == "0.005"
    book = with_prices('[models."claude-opus-4-8"]\ninput = 4\nfrom = 2026-05-01')
    result = priced(always, book)
    assert (result.unpriced_tokens, result.unpriced_reason) == (1000, "no-time")
    assert dollars(Charge("claude-opus-4-8", 0, 0, 1000), book) == "0.025"


def test_the_context_class_is_the_boundary_that_was_crossed() -> None:
    """Boundaries are exclusive."""
    assert context_class(0) == 0
    for below, boundary in zip((0, *BOUNDARIES), BOUNDARIES, strict=False):
        assert context_class(boundary) == below
        assert context_class(boundary + 1) == boundary


def test_every_threshold_of_the_book_is_a_boundary() -> None:
    """So that a rollup can be priced exactly."""
    found = {row.tier_above for key in BOOK.models() for row in BOOK.rows(*key)}
    assert found == {0, *BOUNDARIES}


def test_a_price_names_the_rows_it_used() -> None:
    """Only those of buckets that hold something."""
    rows = priced(tokens("claude-opus-4-6", *LONG, on=BEFORE)).rows
    assert [(row.bucket, row.tier_above, row.effective_until) for row in rows] == [
        (bucket, 200_000, AFTER) for bucket in ("input", "output", "cache_write_5m", "cache_read")
    ]
