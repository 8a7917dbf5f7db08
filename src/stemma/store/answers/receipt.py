"""Answers that take one figure apart.

Money is in micro-dollars, rounded once; where a figure is built up, exact pico-dollars stand beside it.
"""

from __future__ import annotations

from msgspec import Struct


class Tokens(Struct, kw_only=True):
    """Tokens by bucket, and searches.

    Attributes:
        input: Uncached input tokens.
        output: Output tokens.
        cache_write_5m: Tokens written to the five-minute cache.
        cache_write_1h: Tokens written to the one-hour cache.
        cache_read: Tokens read from a cache.
        web_searches: Web searches.
    """

    input: int
    output: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int
    web_searches: int


class Prices(Struct, kw_only=True):
    """The price table that was used.

    Attributes:
        version: Its sources and their versions.
        digest: Digest of everything it states.
    """

    version: str
    digest: str


class AppliedMultiplier(Struct, kw_only=True):
    """A multiplier on a price.

    Attributes:
        what: What it is for.
        factor: The number, exact: `11/10`, or a whole number.
    """

    what: str
    factor: str


class ReceiptLine(Struct, kw_only=True):
    """Everything that one price row billed: `amount` times `rate_pico_usd` is `pico_usd`.

    Attributes:
        model: Model as recorded.
        bucket: Token bucket, or `web_search`.
        amount: Tokens, or searches.
        rate_pico_usd: Pico-dollars for each, multipliers included.
        pico_usd: What the line comes to.
        formula: The same as a person would write it.
        price_provider: Who bills at this price.
        price_model: Model that the price row is for.
        variant: How the requests were served: `standard`, `fast`, `batch`.
        prompts_above: The row holds for prompts of more tokens than this.
        effective_from: First UTC day of the row, nothing when it always held.
        effective_until: First UTC day on which it no longer holds, nothing when it still does.
        row_pico_usd: Pico-dollars for each that the row states.
        multipliers: What the row's price is multiplied by.
        provenance: Where the row is from.
    """

    model: str
    bucket: str
    amount: int
    rate_pico_usd: int
    pico_usd: int
    formula: str
    price_provider: str
    price_model: str
    variant: str
    prompts_above: int
    effective_from: str | None
    effective_until: str | None
    row_pico_usd: int
    multipliers: list[AppliedMultiplier]
    provenance: str


class ReceiptUnpriced(Struct, kw_only=True):
    """Tokens without a price, which the total leaves out.

    Attributes:
        model: Model as recorded.
        bucket: Token bucket, or `web_search`.
        amount: Tokens, or searches.
        reason: Why there is no price.
    """

    model: str
    bucket: str
    amount: int
    reason: str


class ReceiptEvidence(Struct, kw_only=True):
    """From lines of transcripts to what was priced.

    Attributes:
        lines_read: Lines that state usage, copies and partial ones included.
        unique_responses: Responses among them.
        priced_responses: Those with a price for everything.
        unpriced_responses: Those with anything unpriced.
        extra_passes: Billed passes inside responses that their own counters do not include, such as an advisor's.
        unpriced_tokens: Tokens without a price.
        sources: Files that the winning lines stand in.
    """

    lines_read: int
    unique_responses: int
    priced_responses: int
    unpriced_responses: int
    extra_passes: int
    unpriced_tokens: int
    sources: int


class Exclusion(Struct, kw_only=True):
    """Something that the figure leaves out, or cannot contain.

    Attributes:
        what: One of `anomalies`, `inherited`, `synthetic`, `incomplete`, `skipped-lines`, `compaction-calls`,
            `helper-calls`.
        count: How many there are; nothing where no record tells.
        why: The reason, in words.
    """

    what: str
    count: int | None
    why: str


class ReceiptAnswer(Struct, kw_only=True):
    """What ``stemma cost receipt`` answers.

    Attributes:
        scope: `session`, `agent`, `message` or `day`.
        key: Id or day.
        session: The session, of a session or an agent.
        agent: The agent, of an agent.
        timezone: Zone in which a day is counted.
        micro_usd: The figure; nothing when nothing of it has a price.
        pico_usd: The sum of the lines, exact.
        rounding_pico_usd: What rounding added, or took away when below zero.
        recomputed_micro_usd: The figure computed once more from the lines' inputs alone.
        formula: How the figure is computed, in words.
        lines: What was billed.
        unpriced: What has no price.
        evidence: Where the tokens come from.
        excluded: What is not in the figure.
        grade: How sure the figure is.
        basis: What the grade rests on, in words.
        recorded_micro_usd: What the client recorded as the cost of these responses; nothing when it recorded none.
        recorded_responses: Responses for which it did.
        prices: The price table.
    """

    scope: str
    key: str
    session: str | None
    agent: str | None
    timezone: str
    micro_usd: int | None
    pico_usd: int
    rounding_pico_usd: int
    recomputed_micro_usd: int
    formula: str
    lines: list[ReceiptLine]
    unpriced: list[ReceiptUnpriced]
    evidence: ReceiptEvidence
    excluded: list[Exclusion]
    grade: str
    basis: str
    recorded_micro_usd: int | None
    recorded_responses: int
    prices: Prices
