"""The user's prices.toml."""

import re
from pathlib import Path

import pytest
from msgspec.structs import fields
from tests.unit.cost.making import BOOK, dollars, priced, tokens, with_prices

from stemma.derive.cost.book import Unpriced
from stemma.derive.cost.check import check
from stemma.derive.cost.user import _Model, _Multiplier, _Row
from stemma.errors import SettingsError

PROFILE = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3"


def test_a_new_model_is_priced_by_what_the_file_states() -> None:
    """Numbers may be written as numbers or text; batch is half, as for every Claude model."""
    book = with_prices(
        '[models."claude-nimbus-9"]\ninput = 5\noutput = "25.5"\nfast_multiplier = 3'
    )
    used = ("claude-nimbus-9", 1_000_000, 1_000_000)
    assert dollars(tokens(*used), book) == "30.5"
    assert dollars(tokens(*used, tier="batch"), book) == "15.25"
    assert dollars(tokens(*used, speed="fast"), book) == "91.5"
    left = priced(tokens(*used, 0, 0, 9), book)
    assert (left.unpriced_tokens, left.unpriced_reason) == (9, "no-rate")


def test_a_single_field_is_overridden_and_the_rest_kept() -> None:
    """Faults B51, B58: also for every other spelling of the model, and without shadowing the fast price."""
    book = with_prices('[models."claude-opus-4-8"]\noutput = 20')
    for model in ("claude-opus-4-8", "claude-opus-4.8[1m]", "anthropic/claude-opus-4-8-20260401"):
        assert dollars(tokens(model, 1_000_000, 1_000_000), book) == "25"
        assert dollars(tokens(model, 1_000_000, 1_000_000, speed="fast"), book) == "60"
    assert dollars(tokens("claude-opus-4-7", 0, 1_000_000), book) == "25"
    assert dollars(tokens("us.anthropic.claude-opus-4-8-v1:0", 0, 1_000_000), book) == "27.5"


def test_a_flat_field_holds_for_every_prompt_size_and_a_row_for_one() -> None:
    """What the file says without a threshold is meant of the model."""
    flat = with_prices('[models."claude-haiku-5-5"]\ninput = 1')
    assert dollars(tokens("claude-haiku-5-5", 200_000), flat) == "0.2"
    tier = with_prices('[[models."claude-haiku-5-5".rows]]\nabove = 100000\ninput = 1')
    assert dollars(tokens("claude-haiku-5-5", 200_000), tier) == "0.2"
    assert dollars(tokens("claude-haiku-5-5", 100_000), tier) == "0.01"


def test_dated_rows_hold_on_their_days_only() -> None:
    """Before and after them the price below holds."""
    book = with_prices(
        """
        [[models."claude-opus-4-8".rows]]
        from = 2026-06-01
        until = 2026-07-01
        input = 1
        variant = "standard"
        """
    )
    prices = {
        day: dollars(tokens("claude-opus-4-8", 1_000_000, on=day), book)
        for day in ("2026-05-31", "2026-06-01", "2026-06-30", "2026-07-01")
    }
    assert prices == {"2026-05-31": "5", "2026-06-01": "1", "2026-06-30": "1", "2026-07-01": "5"}


def test_a_model_that_is_free_costs_nothing_and_is_not_unpriced() -> None:
    """Free is a price, and told from unknown (fault B49)."""
    book = with_prices('[models."qwen3:32b"]\nfree = true')
    for manner in ({}, {"speed": "fast"}, {"tier": "batch"}, {"geo": "attic"}):
        assert dollars(tokens("Qwen3:32B", 10, 10, 10, 10, 10, searches=1, **manner), book) == "0"
    assert priced(tokens("qwen3:33b", 10), book).unpriced_tokens == 10


def test_an_opaque_profile_is_priced_once_it_has_an_alias() -> None:
    """Fault B53."""
    assert priced(tokens(PROFILE, 10)).unpriced_reason == "unknown-model"
    book = with_prices(f'[aliases]\n"{PROFILE.upper()}" = "us.anthropic.claude-opus-4-8-v1:0"')
    assert dollars(tokens(PROFILE, 1_000_000), book) == "5.5"


def test_multipliers_stack_on_token_rates_and_leave_searches_alone() -> None:
    """A discount on a cloud, one on a model, and a geography."""
    book = with_prices(
        """
        [models."claude-opus-4-8"]
        multiplier = 0.5
        [geo]
        eu = 1.2
        [[multipliers]]
        factor = 0.9
        [[multipliers]]
        provider = "aws"
        model = "global.anthropic.claude-opus-5"
        factor = 0.5
        """
    )
    assert dollars(tokens("claude-opus-4-8", 1_000_000, searches=1, geo="eu"), book) == "2.71"
    assert dollars(tokens("global.anthropic.claude-opus-5", 1_000_000), book) == "2.25"
    assert dollars(tokens("us.anthropic.claude-opus-5", 1_000_000), book) == "4.95"


def test_another_provider_s_model_is_another_model() -> None:
    """A gateway that bills its own prices."""
    book = with_prices(
        '[models."acme/claude-opus-4-8"]\nprovider = "acme"\ninput = 7\naliases = ["acme-opus"]'
    )
    assert dollars(tokens("acme/claude-opus-4-8", 1_000_000), book) == "7"
    assert dollars(tokens("ACME-opus", 1_000_000), book) == "7"
    assert dollars(tokens("claude-opus-4-8", 1_000_000), book) == "5"


def test_the_digest_follows_what_the_file_says_and_not_how() -> None:
    """White space and comments change no price."""
    one = with_prices("[models.x]\ninput = 1")
    assert with_prices("# mine\n[models.x]\ninput  =  1.0").digest == one.digest
    assert with_prices("[models.x]\ninput = 2").digest != one.digest
    assert with_prices("").version.endswith(", prices.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[modls]", "modls is not known; did you mean models?"),
        ("[models.x]\ninpt = 1", "models.x.inpt is not known; did you mean input?"),
        (
            "[models.x]\nrows = [{abov = 5}]",
            "models.x.rows.0.abov is not known; did you mean above?",
        ),
        ("[models.x.fast]\nspeed = 1", "models.x.fast.speed is not known; known: cache_read"),
        ("[[multipliers]]\nfactr = 2", "multipliers.0.factr is not known; did you mean factor?"),
        ("[models.x]\ninput = -1", "models.x.input: -1 is below zero"),
        ("[models.x]\ninput = 0.0000001", "is finer than a pico-dollar"),
        ("[models.x]\ninput = nan", "is not a price"),
        ("[models.x]\ninput = [1]", "$.models"),
        ("[models.x]\nrows = [{above = 150000, input = 1}]", "150000 is none of 100000, 128000"),
        ("[models.x]\nfrom = 2026-02-01\nuntil = 2026-01-01\ninput = 1", "ends on 2026-01-01"),
        ("[models.x]\nmultiplier = 0", "the factor 0 is not above zero"),
        ("[geo]\neu = -1", "geo.eu: the factor -1 is not above zero"),
        ('[models."claude-opus-4-8-fast"]\ninput = 1', "state the fast price under `fast`"),
        ("models", "is not TOML"),
    ],
)
def test_a_mistake_is_an_error_that_names_it(text: str, message: str) -> None:
    """A silent typo would be a price not set."""
    with pytest.raises(SettingsError) as caught:
        with_prices(text)
    assert message in str(caught.value)
    assert str(caught.value).startswith("prices.toml")


def test_every_mistake_is_named_at_once() -> None:
    """Nobody likes to run it again for each."""
    with pytest.raises(SettingsError) as caught:
        with_prices("[models.x]\ninput = -1\noutput = -2\nmultiplier = 0")
    assert len(str(caught.value).splitlines()) == 3


def test_check_finds_what_the_file_made_doubtful() -> None:
    """An alias that leads nowhere; a cache price that does not fit the input."""
    book = with_prices('[models."claude-opus-5"]\ncache_read = 5\n[aliases]\nx = "claude-opus-99"')
    found = {(one.invariant, one.model) for one in check(book)}
    assert {("cache-ratio", "claude-opus-5"), ("dangling-alias", "x")} <= found
    assert check(BOOK) == []


def test_the_manual_s_example_is_a_file_that_works(repository: Path) -> None:
    """And it shows every key; reasons and invariants are explained as well."""
    manual = (repository / "docs/reference/prices.md").read_text("utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", manual, re.DOTALL)
    book = with_prices(example)
    assert dollars(tokens("claude-opus-4-8", 0, 1_000_000), book) == "18"
    assert dollars(tokens("claude-nimbus-9", 200_001, speed="fast"), book) == "4.00002"
    assert dollars(tokens("qwen3", 10), book) == "0"
    keys = {field.encode_name for kind in (_Model, _Row, _Multiplier) for field in fields(kind)}
    assert {key for key in keys if key not in manual} == set()
    assert {reason for reason in Unpriced if f"`{reason}`" not in manual} == set()
