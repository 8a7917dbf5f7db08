"""Delegation savings of the record, one session at a time: see ``derive.cost.savings`` for the rule."""

from __future__ import annotations

from collections import defaultdict

from stemma.derive.cost.book import PriceBook
from stemma.derive.cost.savings import Delegated, Savings, savings
from stemma.derive.usage import STATE_ANOMALY, CountedRequest
from stemma.model.money import micro_usd
from stemma.model.usage import SYNTHETIC_MODEL
from stemma.operate.receipts import charge
from stemma.store.answers.analyses import SavedAgent, SavingsAnswer, SkippedAgent
from stemma.store.answers.receipt import Prices
from stemma.store.sqlite.read import Connection, Named
from stemma.store.sqlite.read_analyses import Spawned, spawned
from stemma.store.sqlite.read_requests import Scope, requests

RULE = (
    "a saving is what an agent's own tokens would have cost on the model of the response that started it, minus what they "
    "did cost; gains and losses are summed apart and nothing is clamped; an agent without a complete price on either side "
    "is in no sum, and listed"
)


def savings_answer(
    connection: Connection, book: PriceBook, session: Named | None = None
) -> SavingsAnswer:
    """What delegation saved, by estimate.

    Args:
        connection: A reading connection.
        book: Prices.
        session: The session; nothing for all.
    """
    sessions = [session.number] if session else None
    own: dict[tuple[str, str], list[CountedRequest]] = defaultdict(list)
    for request in requests(connection, Scope(sessions, subagents=True)):
        if not request.state & STATE_ANOMALY:
            own[request.session, request.agent].append(request)
    agents: dict[str, list[Spawned]] = defaultdict(list)
    for agent in spawned(connection, sessions):
        agents[agent.session].append(agent)
    found = {
        name: savings(
            [
                Delegated(a.agent, tuple(map(charge, own[name, a.agent])), a.spawned_by)
                for a in members
            ],
            book,
        )
        for name, members in agents.items()
    }
    saved = [
        one
        for name, members in agents.items()
        for one in _saved(found[name], {a.agent: a for a in members}, own)
    ]
    skipped = [
        SkippedAgent(session=name, agent=a.agent, label=a.label, reason=reason)
        for name, members in agents.items()
        for a in members
        if (reason := found[name].skipped_agent_ids.get(a.agent)) is not None
    ]
    saved.sort(key=lambda one: (-one.saving_micro_usd, one.session, one.agent))
    return SavingsAnswer(
        is_estimate=True,
        rule=RULE,
        session=session.session_id if session else None,
        actual_micro_usd=micro_usd(sum(one.actual for one in found.values())),
        counterfactual_micro_usd=micro_usd(sum(one.counterfactual for one in found.values())),
        gains_micro_usd=micro_usd(sum(one.gains for one in found.values())),
        losses_micro_usd=micro_usd(sum(one.losses for one in found.values())),
        net_micro_usd=micro_usd(sum(one.net for one in found.values())),
        agents=saved,
        skipped=skipped,
        skipped_agent_ids=[one.agent for one in skipped],
        prices=Prices(version=book.version, digest=book.digest),
    )


def _saved(
    found: Savings,
    about: dict[str, Spawned],
    own: dict[tuple[str, str], list[CountedRequest]],
) -> list[SavedAgent]:
    return [
        SavedAgent(
            session=about[one.agent_id].session,
            agent=one.agent_id,
            label=about[one.agent_id].label,
            models=sorted(
                {r.model for r in own[about[one.agent_id].session, one.agent_id]}
                - {SYNTHETIC_MODEL, ""}
            ),
            spawned_by=one.spawned_by,
            actual_micro_usd=micro_usd(one.actual),
            counterfactual_micro_usd=micro_usd(one.counterfactual),
            saving_micro_usd=micro_usd(one.saving),
        )
        for one in found.agents
    ]
