"""Savings, compactions and reconciled bills for people."""

from __future__ import annotations

from datetime import tzinfo

from rich.console import Console
from rich.text import Text

from stemma.cli.money import dollars
from stemma.cli.render import (
    UNKNOWN,
    Cell,
    Column,
    clean,
    console,
    counted,
    joined,
    model,
    moment,
    number,
    table,
)
from stemma.store.answers.analyses import (
    BillDifference,
    CompactedAgent,
    CompactionAnswer,
    ReconcileAnswer,
    SavingsAnswer,
)
from stemma.store.answers.receipt import Tokens

_SHORT = 8


def show_savings(answer: SavingsAnswer) -> None:
    """Print savings by agent, and their sums."""
    out = console()
    columns = (
        Column("SESSION"),
        Column("AGENT", least=12),
        Column("RAN ON", least=8),
        Column("STARTED BY", least=8),
        Column("COST", right=True),
        Column("WOULD HAVE", right=True),
        Column("SAVED", right=True),
    )
    rows: list[list[Cell]] = [
        [
            clean(one.session)[:_SHORT],
            f"{clean(one.agent)} {clean(one.label) if one.label else ''}".rstrip(),
            ", ".join(model(name) for name in one.models) or UNKNOWN,
            model(one.spawned_by),
            dollars(one.actual_micro_usd),
            dollars(one.counterfactual_micro_usd),
            dollars(one.saving_micro_usd),
        ]
        for one in answer.agents
    ]
    if rows:
        _print(out, table(columns, rows, out.width))
    parts = [
        f"estimate: net {dollars(answer.net_micro_usd)}",
        f"gains {dollars(answer.gains_micro_usd)}",
        f"losses {dollars(answer.losses_micro_usd)}",
        f"{counted(len(answer.agents), 'agent')} cost {dollars(answer.actual_micro_usd)}",
    ]
    for line in joined(parts, out.width):
        out.print(Text(line, style="bold"))
    for reason in sorted({one.reason for one in answer.skipped}):
        count = sum(one.reason == reason for one in answer.skipped)
        out.print(Text(f"{counted(count, 'agent')} in no sum: {reason}", style="yellow"))
    out.print(Text(answer.rule, style="dim"))


def show_compaction(answer: CompactionAnswer, zone: tzinfo | None) -> None:
    """Print each agent's segments and what lies between them."""
    out = console()
    for one in answer.agents:
        out.print(Text(f"{clean(one.session)[:_SHORT]} {clean(one.agent)}", style="bold"))
        columns = (
            Column("FROM"),
            Column("WHAT", least=10),
            Column("RESPONSES", right=True),
            Column("TOKENS", right=True),
            Column("COST", right=True),
        )
        _print(out, table(columns, _segments(one, zone), out.width))
    parts = [
        counted(answer.compactions, "compaction"),
        f"rebuilding caches cost {dollars(answer.rebuild_micro_usd, unpriced=answer.unknown_rebuilds > 0)}",
    ]
    if answer.unknown_rebuilds:
        parts.append(f"unknown for {answer.unknown_rebuilds:,}")
    for line in joined(parts, out.width):
        out.print(Text(line, style="bold"))
    out.print(Text(answer.rule, style="dim"))


def _segments(one: CompactedAgent, zone: tzinfo | None) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for place, segment in enumerate(one.segments):
        if place:
            boundary = one.compactions[place - 1]
            before, after = number(boundary.tokens_before), number(boundary.tokens_after)
            what = f"{clean(boundary.trigger)} compaction, prompt {before} to {after}"
            rows.append(
                [
                    Text(moment(boundary.at, zone), style="cyan"),
                    Text(what, style="cyan"),
                    "",
                    Text(number(boundary.rebuild_tokens), style="cyan"),
                    Text(dollars(boundary.rebuild_micro_usd), style="cyan"),
                ]
            )
        rows.append(
            [
                moment(segment.first_at, zone),
                "segment",
                number(segment.responses),
                number(_sum(segment.tokens)),
                dollars(segment.micro_usd, unpriced=segment.unpriced_tokens > 0),
            ]
        )
    return rows


def show_reconcile(answer: ReconcileAnswer, zone: tzinfo | None) -> None:
    """Print both bills of each session and model, and what lies between."""
    out = console()
    columns = (
        Column("SESSION"),
        Column("BILLED"),
        Column("MODEL", least=8),
        Column("OURS", right=True),
        Column("CLIENT", right=True),
        Column("DIFFERENCE", least=16),
    )
    rows: list[list[Cell]] = []
    for one in answer.sessions:
        if not one.models:
            billed = moment(one.billed_at, zone)
            rows.append([clean(one.session)[:_SHORT], billed, UNKNOWN, "$0.00", "$0.00", "none"])
        for place, bill in enumerate(one.models):
            first = place == 0
            told = "; ".join(map(_difference, bill.differences)) or "none"
            is_unknown = any(part.cause == "unknown" for part in bill.differences)
            rows.append(
                [
                    clean(one.session)[:_SHORT] if first else "",
                    moment(one.billed_at, zone) if first else "",
                    model(bill.model),
                    dollars(bill.ours_micro_usd),
                    dollars(bill.client_micro_usd),
                    Text(told, style="red" if is_unknown else ""),
                ]
            )
    if rows:
        _print(out, table(columns, rows, out.width))
    parts = [
        f"{counted(len(answer.sessions), 'session')} with a bill of the client's",
        f"{answer.agreeing:,} agree",
        f"{answer.unexplained:,} unexplained",
        f"{counted(answer.without_bill, 'session')} without a bill",
    ]
    if answer.unreadable_bills:
        parts.append(f"{counted(answer.unreadable_bills, 'bill')} unreadable")
    parts += [f"{cause} {dollars(micro)}" for cause, micro in answer.causes_micro_usd.items()]
    for line in joined(parts, out.width):
        out.print(Text(line, style="dim"))


def _difference(one: BillDifference) -> str:
    tokens = _sum(one.tokens)
    amount = f"{tokens:,} tokens, " if tokens else ""
    return f"{one.cause}: {amount}{dollars(one.micro_usd)}"


def _sum(tokens: Tokens) -> int:
    return (
        tokens.input
        + tokens.output
        + tokens.cache_write_5m
        + tokens.cache_write_1h
        + tokens.cache_read
    )


def _print(out: Console, lines: list[Text]) -> None:
    for line in lines:
        out.print(line)
