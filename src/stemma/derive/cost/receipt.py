"""A figure taken apart: every line is tokens times one price row, and the lines add up to what was shown."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from stemma.derive.cost.book import AppliedFactor
from stemma.derive.cost.price import Priced
from stemma.model.money import BILLED, WEB_SEARCH, PriceRow, divide, micro_usd, usd


class Line(Struct, frozen=True):
    """Everything that was billed by one price row.

    Attributes:
        model: Model as recorded.
        bucket: One of ``BILLED``.
        amount: Tokens, or searches.
        row: The price row.
        factors: Multipliers on the row.
        rate: Pico-dollars per unit with the factors, rounded half up to a whole one.
        pico: ``amount`` times ``rate``.
    """

    model: str
    bucket: str
    amount: int
    row: PriceRow
    factors: tuple[AppliedFactor, ...]
    rate: int
    pico: int

    @property
    def formula(self) -> str:
        """The line as a person would write it; all numbers are exact."""
        unit = "search" if self.bucket == WEB_SEARCH else "token"
        shown = "".join(f" x {one.factor}" for one in self.factors)
        base = f"{self.row.pico_usd:,}{shown} = {self.rate:,}" if self.factors else f"{self.rate:,}"
        return f"{self.amount:,} x {base} pico-USD per {unit} = {self.pico:,} pico-USD"


class UnpricedLine(Struct, frozen=True):
    """Tokens that have no price, which the total leaves out.

    Attributes:
        model: Model as recorded.
        bucket: One of ``BILLED``.
        amount: Tokens, or searches.
        reason: One of ``Unpriced``.
    """

    model: str
    bucket: str
    amount: int
    reason: str


class Evidence(Struct, frozen=True, kw_only=True):
    """Where the tokens come from. Records are lines of transcripts, requests what they count as.

    Attributes:
        records: Records read.
        requests: Unique requests among them.
        anomalies: Requests left out because a counter was implausible.
        incomplete: Requests whose output is a lower bound.
        inherited: Requests copied from another session, and billed there.
        skipped_lines: Lines that could not be read.
    """

    records: int = 0
    requests: int = 0
    anomalies: int = 0
    incomplete: int = 0
    inherited: int = 0
    skipped_lines: int = 0


class Receipt(Struct, frozen=True):
    """A figure with everything that leads to it.

    Attributes:
        lines: What was billed, by model, bucket and row.
        unpriced: What was not.
        pico: Sum of the lines.
        micro_usd: The figure shown: ``pico`` rounded half up, once.
        rounding: Pico-dollars that the rounding added or, below zero, took away.
        priced_requests: Requests with a price for everything.
        unpriced_requests: Requests with anything unpriced.
        evidence: Where the tokens come from.
        version: Price sources.
        digest: Digest of the price book.
    """

    lines: tuple[Line, ...]
    unpriced: tuple[UnpricedLine, ...]
    pico: int
    micro_usd: int
    rounding: int
    priced_requests: int
    unpriced_requests: int
    evidence: Evidence
    version: str
    digest: str

    @property
    def text(self) -> tuple[str, ...]:
        """The receipt's arithmetic, line by line."""
        lines = []
        for line in self.lines:
            row = line.row
            since = f"from {row.effective_from}" if row.effective_from else "undated"
            until = f" until {row.effective_until}" if row.effective_until else ""
            tier = f", prompts above {row.tier_above:,}" if row.tier_above else ""
            variant = f", {row.variant}" if row.variant else ""
            factors = "".join(f"; {one.factor} for {one.what}" for one in line.factors)
            lines.append(
                f"{line.model} {line.bucket}: {line.formula}  "
                f"[{row.provider} {row.model}{variant}{tier}, {since}{until}, {row.provenance}{factors}]"
            )
        lines.extend(
            f"{u.model} {u.bucket}: {u.amount:,} unpriced ({u.reason})" for u in self.unpriced
        )
        lines.append(f"sum {self.pico:,} pico-USD = {usd(self.pico):f} USD")
        lines.append(
            f"rounded half up to {self.micro_usd:,} micro-USD ({self.rounding:+,} pico-USD)"
        )
        return tuple(lines)


def receipt(
    prices: Iterable[Priced], *, version: str, digest: str, evidence: Evidence | None = None
) -> Receipt:
    """The receipt of some prices.

    Args:
        prices: What is billed together; requests or rollup rows.
        version: The price book's version.
        digest: The price book's digest.
        evidence: Where the tokens come from; requests alone are counted when it is left out.
    """
    amounts: dict[tuple[str, int, PriceRow, tuple[AppliedFactor, ...], int], int] = {}
    unpriced: dict[tuple[str, int, str], int] = {}
    priced_requests = unpriced_requests = 0
    for one in prices:
        card = one.card
        if one.unpriced_reason:
            unpriced_requests += one.charge.requests
        else:
            priced_requests += one.charge.requests
        for place, amount in enumerate(one.charge.amounts):
            row, rate = card.rows[place], card.pico[place]
            if not amount:
                continue
            if row is None or rate is None:
                key = (one.charge.model, place, one.unpriced_reason)
                unpriced[key] = unpriced.get(key, 0) + amount
                continue
            factors = () if row.bucket == WEB_SEARCH else card.factors
            line = (one.charge.model, place, row, factors, rate)
            amounts[line] = amounts.get(line, 0) + amount
    lines = tuple(
        Line(model, BILLED[place], amount, row, factors, rate, amount * rate)
        for (model, place, row, factors, rate), amount in sorted(amounts.items())
    )
    pico = sum(line.pico for line in lines)
    shown = micro_usd(pico)
    return Receipt(
        lines,
        tuple(UnpricedLine(m, BILLED[place], n, why) for (m, place, why), n in sorted(unpriced.items())),
        pico, shown, shown * 1_000_000 - pico, priced_requests, unpriced_requests,
        evidence or Evidence(requests=priced_requests + unpriced_requests), version, digest,
    )  # fmt: skip


def recomputed(one: Receipt) -> int:
    """Micro-dollars from the inputs of a receipt alone: amounts, price rows and factors, as a sceptic would do it."""
    total = 0
    for line in one.lines:
        numerator, denominator = line.row.pico_usd, 1
        for applied in line.factors:
            numerator *= applied.factor.numerator
            denominator *= applied.factor.denominator
        total += line.amount * divide(numerator, denominator)
    return micro_usd(total)
