"""Answers of the analyses of cost: delegation, compaction, and our bill beside the client's.

Money is in micro-dollars, each figure rounded once from exact sums.
"""

from __future__ import annotations

from msgspec import Struct

from stemma.store.answers.moment import Time
from stemma.store.answers.receipt import Prices, Tokens


class SavedAgent(Struct, kw_only=True):
    """What one agent's tokens cost, and would have cost on the model of the response that started it.

    Attributes:
        session: Its session.
        agent: Its id.
        label: Its type.
        models: Models that it ran on.
        spawned_by: Model of the response that started it.
        actual_micro_usd: What its tokens cost.
        counterfactual_micro_usd: What they would have cost.
        saving_micro_usd: The difference; a loss when below zero.
    """

    session: str
    agent: str
    label: str | None
    models: list[str]
    spawned_by: str
    actual_micro_usd: int
    counterfactual_micro_usd: int
    saving_micro_usd: int


class SkippedAgent(Struct, kw_only=True):
    """An agent without a saving.

    Attributes:
        session: Its session.
        agent: Its id.
        label: Its type.
        reason: Why.
    """

    session: str
    agent: str
    label: str | None
    reason: str


class SavingsAnswer(Struct, kw_only=True):
    """What ``stemma cost savings`` answers: a counterfactual, never part of any cost.

    Attributes:
        is_estimate: Always true: nobody ran these tokens on the other model.
        rule: How the sums are made, in words.
        session: The session that was asked for.
        actual_micro_usd: What the agents with a saving cost.
        counterfactual_micro_usd: What they would have cost.
        gains_micro_usd: Savings above zero together.
        losses_micro_usd: Savings below zero together, as a positive number.
        net_micro_usd: Gains minus losses.
        agents: Agents with a saving, largest first.
        skipped: Agents without.
        skipped_agent_ids: Their ids.
        prices: The price table.
    """

    is_estimate: bool
    rule: str
    session: str | None
    actual_micro_usd: int
    counterfactual_micro_usd: int
    gains_micro_usd: int
    losses_micro_usd: int
    net_micro_usd: int
    agents: list[SavedAgent]
    skipped: list[SkippedAgent]
    skipped_agent_ids: list[str]
    prices: Prices


class CompactionSegment(Struct, kw_only=True):
    """What one agent was billed between two compactions.

    Attributes:
        responses: Responses.
        tokens: Their tokens.
        micro_usd: What they cost; nothing when nothing of it has a price.
        unpriced_tokens: Tokens without a price.
        first_at: First response.
        last_at: Last response.
    """

    responses: int
    tokens: Tokens
    micro_usd: int | None
    unpriced_tokens: int
    first_at: Time | None
    last_at: Time | None


class CompactionBoundary(Struct, kw_only=True):
    """One compaction.

    Attributes:
        at: When.
        trigger: `auto` or `manual`, as recorded.
        tokens_before: Prompt of the last response before it.
        recorded_before: Prompt before it as the client recorded it.
        tokens_after: Prompt of the first response after it.
        rebuild_tokens: Tokens that this response wrote to a cache.
        rebuild_micro_usd: What writing them cost; nothing when it is unknown.
    """

    at: Time | None
    trigger: str | None
    tokens_before: int | None
    recorded_before: int | None
    tokens_after: int | None
    rebuild_tokens: int | None
    rebuild_micro_usd: int | None


class CompactedAgent(Struct, kw_only=True):
    """An agent whose context was compacted.

    Attributes:
        session: Its session.
        agent: `main` or its id.
        segments: What it was billed between compactions: one more than there are of those.
        compactions: The compactions.
        rebuild_micro_usd: What rebuilding the cache cost where it is known.
        unknown_rebuilds: Compactions for which it is not.
    """

    session: str
    agent: str
    segments: list[CompactionSegment]
    compactions: list[CompactionBoundary]
    rebuild_micro_usd: int
    unknown_rebuilds: int


class CompactionAnswer(Struct, kw_only=True):
    """What ``stemma cost compaction`` answers.

    Attributes:
        rule: What the figures are, in words.
        session: The session that was asked for.
        compactions: Compactions.
        rebuild_micro_usd: What rebuilding caches cost where it is known; part of what the segments cost.
        unknown_rebuilds: Compactions for which it is not.
        agents: Agents whose context was compacted.
        prices: The price table.
    """

    rule: str
    session: str | None
    compactions: int
    rebuild_micro_usd: int
    unknown_rebuilds: int
    agents: list[CompactedAgent]
    prices: Prices


class BillDifference(Struct, kw_only=True):
    """A part of the difference between two bills of one model: the client's minus ours.

    Attributes:
        cause: `not-recorded`, `different-rate`, `unpriced`, `copied-history` or `unknown`.
        tokens: Tokens that it explains.
        micro_usd: Money that it explains.
    """

    cause: str
    tokens: Tokens
    micro_usd: int


class ReconciledModel(Struct, kw_only=True):
    """Two bills of one model.

    Attributes:
        model: The model.
        ours: Our tokens.
        client: The client's tokens.
        ours_micro_usd: Our figure; nothing when nothing of it has a price.
        client_micro_usd: The client's figure.
        differences: What lies between; empty when they agree.
    """

    model: str
    ours: Tokens
    client: Tokens
    ours_micro_usd: int | None
    client_micro_usd: int
    differences: list[BillDifference]


class ReconciledSession(Struct, kw_only=True):
    """A session and the client's last bill of it.

    Attributes:
        session: Its id.
        title: Its title.
        billed_at: Time of the client's bill.
        ours_micro_usd: Ours up to then; nothing when nothing of it has a price.
        client_micro_usd: The client's total.
        agrees: Whether no model differs.
        explained: Whether no difference is unknown.
        later_responses: Responses after the bill, which are not compared.
        models: Both bills by model.
    """

    session: str
    title: str | None
    billed_at: Time | None
    ours_micro_usd: int | None
    client_micro_usd: int
    agrees: bool
    explained: bool
    later_responses: int
    models: list[ReconciledModel]


class ReconcileAnswer(Struct, kw_only=True):
    """What ``stemma cost reconcile`` answers.

    Attributes:
        sessions: Sessions with a bill of the client's, newest first.
        agreeing: How many of them agree in every model.
        unexplained: How many have a difference without a known cause.
        without_bill: Sessions without: older clients write none, and a client that is killed neither.
        unreadable_bills: Bills that could not be read.
        ours_micro_usd: Ours, of the sessions listed.
        client_micro_usd: The client's, of the same sessions; those of forks contain their origins' once more.
        causes_micro_usd: Differences by cause.
        prices: The price table.
    """

    sessions: list[ReconciledSession]
    agreeing: int
    unexplained: int
    without_bill: int
    unreadable_bills: int
    ours_micro_usd: int
    client_micro_usd: int
    causes_micro_usd: dict[str, int]
    prices: Prices
