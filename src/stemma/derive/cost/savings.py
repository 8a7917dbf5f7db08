"""Delegation savings: what a subagent's tokens would have cost on the model of the response that spawned it (DESIGN 3).

A counterfactual, never mixed with what was paid. Rule of the aggregate: each agent's saving is its counterfactual minus
its cost; gains and losses are summed apart and nothing is clamped; an agent without a complete price on either side is
left out of both, and listed with its reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from stemma.derive.cost.book import PriceBook
from stemma.derive.cost.charge import Charge
from stemma.derive.cost.price import price
from stemma.model.usage import SYNTHETIC_MODEL


class Skipped(StrEnum):
    """Why an agent has no saving; closed set."""

    NO_SPAWNING_RESPONSE = "no-spawning-response"
    NO_SPAWNING_MODEL = (
        "no-spawning-model"  # the response names none, or is the client's own message
    )
    NO_USAGE = "no-usage"
    UNPRICED_ACTUAL = "unpriced-actual"
    UNPRICED_COUNTERFACTUAL = "unpriced-counterfactual"


class Delegated(Struct, frozen=True):
    """A subagent's own tokens, without those of its own subagents.

    Attributes:
        agent_id: The agent.
        charges: Its requests, or rollup rows.
        spawned_by: Model of the response that spawned it; None when there is no such response.
    """

    agent_id: str
    charges: tuple[Charge, ...]
    spawned_by: str | None


class AgentSaving(Struct, frozen=True):
    """One agent's saving; pico-dollars.

    Attributes:
        agent_id: The agent.
        spawned_by: The model compared with.
        actual: What its tokens cost.
        counterfactual: What they would have cost.
        saving: ``counterfactual`` minus ``actual``; below zero is a loss.
    """

    agent_id: str
    spawned_by: str
    actual: int
    counterfactual: int
    saving: int


class Savings(Struct, frozen=True):
    """Savings of some agents; pico-dollars.

    Attributes:
        agents: Agents with a saving, by id.
        skipped_agent_ids: Agents without, and why.
        actual: What the agents with a saving cost.
        counterfactual: What they would have cost.
        gains: Sum of the savings above zero.
        losses: Sum of those below zero, as a positive number.
        net: ``gains`` minus ``losses``.
        is_estimate: Always true: nobody ran the tokens on the other model.
    """

    agents: tuple[AgentSaving, ...]
    skipped_agent_ids: dict[str, Skipped]
    actual: int
    counterfactual: int
    gains: int
    losses: int
    net: int
    is_estimate: bool = True


def savings(agents: Iterable[Delegated], book: PriceBook) -> Savings:
    """Compare each agent's cost with that of its spawner's model.

    Only the model is exchanged: time, prompt size, speed, tier and geography stay those of the agent's own requests.
    ``<synthetic>`` tokens keep their own zero rate.
    """
    found: list[AgentSaving] = []
    skipped: dict[str, Skipped] = {}
    for agent in sorted(agents, key=lambda one: one.agent_id):
        result = _of_agent(agent, book)
        if isinstance(result, Skipped):
            skipped[agent.agent_id] = result
        else:
            found.append(result)
    gains = sum(one.saving for one in found if one.saving > 0)
    losses = -sum(one.saving for one in found if one.saving < 0)
    return Savings(
        tuple(found), skipped, sum(one.actual for one in found), sum(one.counterfactual for one in found),
        gains, losses, gains - losses,
    )  # fmt: skip


def _of_agent(agent: Delegated, book: PriceBook) -> AgentSaving | Skipped:
    model = agent.spawned_by
    if model is None:
        return Skipped.NO_SPAWNING_RESPONSE
    if model in ("", SYNTHETIC_MODEL):
        return Skipped.NO_SPAWNING_MODEL
    if not any(charge.tokens for charge in agent.charges):
        return Skipped.NO_USAGE
    actual = [price(charge, book) for charge in agent.charges]
    if any(one.unpriced_reason for one in actual):
        return Skipped.UNPRICED_ACTUAL
    other = [
        one
        if one.charge.model == SYNTHETIC_MODEL
        else price(replace(one.charge, model=model), book)
        for one in actual
    ]
    if any(one.unpriced_reason for one in other):
        return Skipped.UNPRICED_COUNTERFACTUAL
    paid, would = sum(one.total for one in actual), sum(one.total for one in other)
    return AgentSaving(agent.agent_id, model, paid, would, would - paid)
