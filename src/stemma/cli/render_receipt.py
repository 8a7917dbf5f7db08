"""A receipt for people: every line with the price row that it rests on."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from stemma.cli.money import exact
from stemma.cli.render import Column, clean, console, counted, joined, number, table
from stemma.store.answers.receipt import ReceiptAnswer, ReceiptLine

_COLUMNS = (
    Column("MODEL", least=12),
    Column("BUCKET"),
    Column("AMOUNT", right=True),
    Column("x PICO-USD", right=True),
    Column("= PICO-USD", right=True),
    Column("PRICE ROW", least=16, style="dim"),
)


def show(answer: ReceiptAnswer) -> None:
    """Print a receipt."""
    out = console()
    out.print(Text(f"receipt for {answer.scope} {clean(answer.key)}{_of(answer)}", style="bold"))
    for line in joined(_read(answer), out.width):
        out.print(Text(line))
    if answer.lines:
        out.print()
        rows = [
            [
                clean(one.model),
                one.bucket,
                number(one.amount),
                number(one.rate_pico_usd),
                number(one.pico_usd),
                _row(one),
            ]
            for one in answer.lines
        ]
        for text in table(_COLUMNS, rows, out.width):
            out.print(text)
    for unpriced in answer.unpriced:
        told = f"{clean(unpriced.model)} {unpriced.bucket}: {unpriced.amount:,} without a price ({unpriced.reason})"
        out.print(Text(told, style="yellow"))
    out.print()
    for text in _sums(answer):
        out.print(text)
    out.print(Text(f"{answer.grade}: {answer.basis}", style="dim"))
    for one in answer.excluded:
        count = f"{one.count:,} " if one.count is not None else ""
        out.print(Text(f"not in it or uncertain: {count}{one.what}: {one.why}", style="dim"))
    out.print(Text(f"prices {answer.prices.version} · {answer.prices.digest}", style="dim"))


def _of(answer: ReceiptAnswer) -> str:
    if answer.scope == "agent":
        return f" of session {clean(answer.session)}"
    return f" ({clean(answer.timezone)})" if answer.scope == "day" else ""


def _read(answer: ReceiptAnswer) -> list[str]:
    found = answer.evidence
    parts = [
        f"{counted(found.lines_read, 'line')} read in {counted(found.sources, 'file')}",
        counted(found.unique_responses, "unique response"),
        f"{found.priced_responses:,} priced",
        f"{found.unpriced_responses:,} unpriced",
    ]
    if found.extra_passes:
        parts.append(counted(found.extra_passes, "extra pass", "extra passes"))
    return parts


def _row(one: ReceiptLine) -> str:
    """A price row in a few words: provider, model, period, source, and what its price is multiplied by."""
    since = f"from {one.effective_from}" if one.effective_from else "undated"
    until = f" until {one.effective_until}" if one.effective_until else ""
    parts = [f"{one.price_provider} {one.price_model}", since + until, one.provenance]
    if one.variant not in ("standard", "*"):
        parts.insert(1, one.variant)
    if one.prompts_above:
        parts.insert(1, f"prompts above {one.prompts_above:,}")
    parts += [f"{one.row_pico_usd:,} x {by.factor} for {by.what}" for by in one.multipliers]
    return clean(", ".join(parts))


def _sums(answer: ReceiptAnswer) -> Iterator[Text]:
    if answer.lines:
        yield Text(f"sum {answer.pico_usd:,} pico-USD, {answer.rounding_pico_usd:+,} by rounding")
    same = answer.micro_usd in (None, answer.recomputed_micro_usd)
    check = (
        "recomputed from the lines: the same"
        if same
        else f"RECOMPUTED: {exact(answer.recomputed_micro_usd)}"
    )
    total = exact(answer.micro_usd)
    if answer.unpriced and answer.micro_usd is not None:
        total += f" + ? for {answer.evidence.unpriced_tokens:,} unpriced tokens"
    yield Text(f"{total}  API-equivalent, {check}", style="bold")
    if answer.recorded_micro_usd is not None:
        recorded = f"the client recorded {exact(answer.recorded_micro_usd)}"
        yield Text(f"{recorded} for {counted(answer.recorded_responses, 'response')}")
