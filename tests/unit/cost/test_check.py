"""What must hold in a price table (fault B54), tried on tables that real catalogs got wrong."""

import pytest
from msgspec.structs import replace

from stemma.derive.cost.check import Finding, findings
from stemma.derive.cost.layer import Allowed, DerivedRates, Layer, ModelEntry, Rates

SOUND = Rates(
    input=3_000_000, output=15_000_000, cache_write_5m=3_750_000, cache_write_1h=6_000_000, cache_read=300_000
)  # fmt: skip


def found(*rates: Rates, **more: object) -> list[tuple[str, str]]:
    """Invariants and buckets of the findings over one Claude model."""
    entry = ModelEntry(provider="anthropic", name="claude-x-9", rates=rates)
    layer = replace(Layer(source="test", models=(entry,)), **more)
    return [(one.invariant, one.bucket) for one in findings([layer])]


def test_a_sound_model_has_no_findings() -> None:
    """With a tier, a fast and a batch price that fit."""
    half = Rates(variant="batch").stating({bucket: pico // 2 for bucket, pico in SOUND.stated()})
    double = {bucket: pico * 2 for bucket, pico in SOUND.stated()}
    twice = Rates(variant="fast").stating(double)
    tier = Rates(above=200_000).stating(double)
    assert found(SOUND, half, twice, tier) == []


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        # litellm#38079: the one-hour price 12 times too high, and five times too low
        (replace(SOUND, cache_write_1h=72_000_000), ("cache-ratio", "cache_write_1h")),
        (replace(SOUND, cache_write_1h=1_200_000), ("cache-ratio", "cache_write_1h")),
        # a catalog's claude-3-sonnet: cache writes at the price of reads
        (replace(SOUND, cache_write_5m=300_000), ("cache-ratio", "cache_write_5m")),
        (replace(SOUND, cache_read=600_000), ("cache-ratio", "cache_read")),
        (replace(SOUND, output=None), ("missing-rate", "output")),
    ],
)
def test_a_rate_that_does_not_fit_the_others_is_found(
    rates: Rates, expected: tuple[str, str]
) -> None:
    """Once, and by bucket."""
    assert found(rates) == [expected]


def test_a_variant_that_does_not_fit_is_found() -> None:
    """Six times the price, left in a table after fast mode was withdrawn (fault B42)."""
    assert found(SOUND, Rates(variant="fast", input=18_000_000)) == [("variant-ratio", "input")]


def test_a_tier_must_cover_every_bucket() -> None:
    """Else a long request would be billed by two tiers at once."""
    tier = Rates(above=200_000, input=6_000_000)
    assert set(found(SOUND, tier)) == {
        ("missing-tier", bucket) for bucket, _ in SOUND.stated() if bucket != "input"
    }


def test_a_threshold_that_rollups_cannot_tell_is_found() -> None:
    """``above`` must be a boundary."""
    tier = replace(SOUND, above=123_456)
    assert set(found(SOUND, tier)) == {("boundary", bucket) for bucket, _ in SOUND.stated()}


def test_a_period_that_ends_before_it_begins_and_a_factor_that_is_none_are_found() -> None:
    """They would silently price nothing."""
    backwards = replace(SOUND, since="2026-02-01", until="2026-01-01")
    assert ("malformed", "") in found(backwards)
    rule = DerivedRates(models=("other",), factor="half")
    assert found(SOUND, derived=(rule,)) == [("malformed", "")]


def test_the_allow_list_is_exact() -> None:
    """An entry excuses its model, invariant and bucket, and nothing else."""
    entry = Allowed(
        provider="*", model="claude-x-9", invariant="cache-ratio", bucket="cache_read", reason="published"
    )  # fmt: skip
    wrong = replace(SOUND, cache_read=600_000, cache_write_5m=1)
    assert found(wrong, allowed=(entry,)) == [("cache-ratio", "cache_write_5m")]


def test_a_finding_reads_as_a_sentence() -> None:
    """For the command that prints it."""
    one = Finding("cache-ratio", "anthropic", "claude-x-9", "cache_read", "0.2 x input")
    assert str(one) == "anthropic claude-x-9 cache_read: cache-ratio: 0.2 x input"
