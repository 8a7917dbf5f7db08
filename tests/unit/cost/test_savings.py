"""Delegation savings are a counterfactual, and say so."""

from tests.unit.cost.making import BOOK, tokens

from stemma.derive.cost.savings import Delegated, Skipped, savings

HAIKU = tokens("claude-haiku-4-5", 1_000_000, 100_000)  # 1.50 dollars; on Opus 5: 7.50
OPUS = tokens("claude-opus-5", 1_000_000)  # 5 dollars; on Haiku 4.5: 1
DOLLAR = 10**12


def test_gains_and_losses_are_summed_apart() -> None:
    """A delegation to a dearer model is a loss that no gain hides."""
    result = savings(
        [
            Delegated("gain", (HAIKU,), "claude-opus-5"),
            Delegated("loss", (OPUS,), "claude-haiku-4-5"),
            Delegated("even", (OPUS,), "claude-opus-5[1m]"),
        ],
        BOOK,
    )
    assert {one.agent_id: one.saving for one in result.agents} == {
        "gain": 6 * DOLLAR,
        "loss": -4 * DOLLAR,
        "even": 0,
    }
    assert (result.gains, result.losses, result.net) == (6 * DOLLAR, 4 * DOLLAR, 2 * DOLLAR)
    assert result.counterfactual - result.actual == result.net
    assert result.is_estimate is True
    assert result.skipped_agent_ids == {}


def test_what_cannot_be_compared_is_skipped_with_its_reason() -> None:
    """And is in neither sum."""
    unknown = tokens("claude-nimbus-9", 10)
    fast = tokens("claude-opus-5", 10, speed="fast")
    result = savings(
        [
            Delegated("orphan", (HAIKU,), None),
            Delegated("nameless", (HAIKU,), ""),
            Delegated("made-up", (HAIKU,), "<synthetic>"),
            Delegated("idle", (), "claude-opus-5"),
            Delegated("unpriced", (HAIKU, unknown), "claude-opus-5"),
            Delegated("no such price", (fast,), "claude-haiku-4-5"),
        ],
        BOOK,
    )
    assert result.skipped_agent_ids == {
        "orphan": Skipped.NO_SPAWNING_RESPONSE,
        "nameless": Skipped.NO_SPAWNING_MODEL,
        "made-up": Skipped.NO_SPAWNING_MODEL,
        "idle": Skipped.NO_USAGE,
        "unpriced": Skipped.UNPRICED_ACTUAL,
        "no such price": Skipped.UNPRICED_COUNTERFACTUAL,
    }
    assert (result.actual, result.counterfactual, result.net) == (0, 0, 0)


def test_synthetic_tokens_keep_their_own_zero_rate() -> None:
    """They would have cost nothing on any model."""
    made_up = tokens("<synthetic>", 1_000_000, 1_000_000)
    with_it = savings([Delegated("a", (HAIKU, made_up), "claude-opus-5")], BOOK)
    without = savings([Delegated("a", (HAIKU,), "claude-opus-5")], BOOK)
    assert with_it == without


def test_only_the_model_is_exchanged() -> None:
    """Prompt size, time and manner stay: a long request is long on the other model too."""
    long = tokens("claude-haiku-4-5", 200_001)
    (one,) = savings([Delegated("a", (long,), "claude-sonnet-4-5")], BOOK).agents
    assert one.counterfactual == 200_001 * 6_000_000
