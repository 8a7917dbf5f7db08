"""A receipt can be checked line by line. That it recomputes for any input is in test_properties."""

from inline_snapshot import snapshot
from tests.unit.cost.making import BOOK, priced, tokens

from stemma.derive.cost.receipt import Evidence, receipt, recomputed


def test_a_receipt_reads_as_arithmetic() -> None:
    """Formula, price row, date and provenance for each line; what has no price stands beside."""
    bill = receipt(
        [
            priced(tokens("claude-opus-4-6", 1000, 1000, 10_000, 0, 240_000, on="2026-03-12")),
            priced(tokens("claude-opus-4-8", 3, 7, searches=2, geo="us")),
            priced(tokens("claude-opus-4-8", 4, 7, geo="us")),
            priced(tokens("claude-nimbus-9", 5)),
        ],
        version=BOOK.version,
        digest="d",
        evidence=Evidence(records=12, requests=4),
    )
    assert bill.text == snapshot(
        (
            "claude-opus-4-6 input: 1,000 x 10,000,000 pico-USD per token = 10,000,000,000 pico-USD  [anthropic claude-opus-4-6, prompts above 200,000, undated until 2026-03-13, genai-prices 0.2.3]",
            "claude-opus-4-6 output: 1,000 x 37,500,000 pico-USD per token = 37,500,000,000 pico-USD  [anthropic claude-opus-4-6, prompts above 200,000, undated until 2026-03-13, genai-prices 0.2.3]",
            "claude-opus-4-6 cache_write_5m: 10,000 x 12,500,000 pico-USD per token = 125,000,000,000 pico-USD  [anthropic claude-opus-4-6, prompts above 200,000, undated until 2026-03-13, genai-prices 0.2.3]",
            "claude-opus-4-6 cache_read: 240,000 x 1,000,000 pico-USD per token = 240,000,000,000 pico-USD  [anthropic claude-opus-4-6, prompts above 200,000, undated until 2026-03-13, genai-prices 0.2.3]",
            "claude-opus-4-8 input: 7 x 5,000,000 x 1.1 = 5,500,000 pico-USD per token = 38,500,000 pico-USD  [anthropic claude-opus-4-8, undated, genai-prices 0.2.3; 1.1 for inference_geo us (stemma-overlay 2026-12-01)]",
            "claude-opus-4-8 output: 14 x 25,000,000 x 1.1 = 27,500,000 pico-USD per token = 385,000,000 pico-USD  [anthropic claude-opus-4-8, undated, genai-prices 0.2.3; 1.1 for inference_geo us (stemma-overlay 2026-12-01)]",
            "claude-opus-4-8 web_search: 2 x 10,000,000,000 pico-USD per search = 20,000,000,000 pico-USD  [anthropic claude-opus-4-8, undated, genai-prices 0.2.3]",
            "claude-nimbus-9 input: 5 unpriced (unknown-model)",
            "sum 432,923,500,000 pico-USD = 0.432923500000 USD",
            "rounded half up to 432,924 micro-USD (+500,000 pico-USD)",
        )
    )
    assert recomputed(bill) == bill.micro_usd
    assert (bill.priced_requests, bill.unpriced_requests) == (3, 1)
    assert bill.evidence.records == 12


def test_a_receipt_of_nothing_is_zero() -> None:
    """And says so."""
    bill = receipt([], version="v", digest="d")
    assert (bill.pico, bill.micro_usd, bill.lines, bill.unpriced) == (0, 0, (), ())
