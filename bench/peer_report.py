"""What ``bench.peer`` found, and how it is told."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec

from bench.corpus import CorpusSummary

RATIO_GOAL = 5.0
STATUS_LINE_LIMIT_MS = 100.0


class Timing(msgspec.Struct, frozen=True):
    """Wall time of one command line.

    Attributes:
        name: What was run.
        median_ms: Median.
        least_ms: Fastest.
        most_ms: Slowest.
        cpu_ms: Least CPU time, which says more on a machine that does other things as well.
        rounds: How often.
    """

    name: str
    median_ms: float
    least_ms: float
    most_ms: float
    cpu_ms: float
    rounds: int


class Sums(msgspec.Struct, frozen=True):
    """What a reader counted, in the peer's terms: both kinds of cache write together.

    Attributes:
        input: Uncached input tokens.
        output: Output tokens.
        cache_write: Tokens written to a cache.
        cache_read: Tokens read from one.
        micro_usd: What it says they cost; nothing when it says nothing.
        unpriced_models: Models without a price.
    """

    input: int
    output: int
    cache_write: int
    cache_read: int
    micro_usd: int | None
    unpriced_models: list[str]


class Comparison(msgspec.Struct, frozen=True):
    """Everything that was measured.

    Attributes:
        peer: Name and version of the peer; nothing when it could not be installed.
        report: The command of ours that was timed.
        corpus: What the corpus holds, as its generator knows it.
        timings: Wall times.
        ratio: The peer's median over ours; nothing without a peer.
        sums: What each counted, by name.
        differences: Each difference between the sums, explained.
    """

    peer: str | None
    report: str
    corpus: CorpusSummary
    timings: list[Timing]
    ratio: float | None
    sums: dict[str, Sums]
    differences: list[str]


class _Tokens(msgspec.Struct):
    input: int
    output: int
    cache_write_5m: int
    cache_write_1h: int
    cache_read: int


class _Money(msgspec.Struct):
    micro_usd: int | None = None
    unpriced_models: list[str] = []


class _TokenAnswer(msgspec.Struct):
    totals: _Tokens


class _MoneyAnswer(msgspec.Struct):
    totals: _Money


def ours(tokens: bytes, report: bytes) -> Sums:
    """Our answers in the peer's terms: tokens from the one report, money from the other where that has any."""
    found = msgspec.json.decode(tokens, type=_TokenAnswer).totals
    money = msgspec.json.decode(report, type=_MoneyAnswer).totals
    return Sums(
        found.input, found.output, found.cache_write_5m + found.cache_write_1h, found.cache_read,
        money.micro_usd, money.unpriced_models,
    )  # fmt: skip


class _Peer(msgspec.Struct, rename="camel"):
    input_tokens: int
    output_tokens: int
    cache_creation_tokens: int
    cache_read_tokens: int
    total_cost: float
    unpriced_models: list[str] = []


class _PeerAnswer(msgspec.Struct):
    totals: _Peer


def theirs(report: bytes) -> Sums:
    """The peer's answer."""
    found = msgspec.json.decode(report, type=_PeerAnswer).totals
    return Sums(
        found.input_tokens, found.output_tokens, found.cache_creation_tokens, found.cache_read_tokens,
        round(found.total_cost * 1_000_000), found.unpriced_models,
    )  # fmt: skip


def generated(summary: CorpusSummary) -> Sums:
    """What is right."""
    return Sums(
        summary.input, summary.output, summary.cache_write_5m + summary.cache_write_1h, summary.cache_read, None, [],
    )  # fmt: skip


class _Message(msgspec.Struct):
    id: str = ""
    usage: dict[str, Any] = {}


class _Line(msgspec.Struct):
    type: str = ""
    requestId: str | None = None  # noqa: N815 - the client's name
    message: _Message | None = None


def copies_without_request(corpus: Path) -> Sums:
    """What the copies come to that old clients made of a forked session's history, line by line: they lack the request id.

    A reader that takes message and request id together for the identity of a response counts each of their lines.
    """
    whole: set[str] = set()
    copies: list[_Message] = []
    for path in corpus.rglob("*.jsonl"):
        with path.open("rb") as lines:
            for text in lines:
                if b'"usage"' not in text:
                    continue
                line = msgspec.json.decode(text, type=_Line)
                if line.type != "assistant" or line.message is None:
                    continue
                if line.requestId:
                    whole.add(line.message.id)
                else:
                    copies.append(line.message)

    def total(counter: str) -> int:
        return sum(one.usage[counter] for one in copies if one.id in whole)

    return Sums(
        total("input_tokens"), total("output_tokens"), total("cache_creation_input_tokens"),
        total("cache_read_input_tokens"), None, [],
    )  # fmt: skip


def explained(sums: dict[str, Sums], copies: Sums) -> list[str]:
    """Where readers differ from the generator, who knows what is right, and from each other in money.

    Args:
        sums: What each counted.
        copies: See ``copies_without_request``.
    """
    found = []
    truth = sums["generator"]
    for name, one in sums.items():
        for bucket in ("input", "output", "cache_write", "cache_read"):
            between = getattr(one, bucket) - getattr(truth, bucket)
            copied = getattr(copies, bucket)
            if between:
                found.append(
                    f"{name} counts {between:+,} {bucket} tokens against the generator; "
                    f"forks of old clients copied {copied:,} in lines without a request id"
                )
    for name, one in sums.items():
        if one.unpriced_models:
            found.append(
                f"{name} has no price for {', '.join(one.unpriced_models)}, and leaves them out"
            )
    return found


def show(found: Comparison) -> None:
    """Print the comparison for people."""
    out = sys.stdout.write
    out(
        f"corpus {found.corpus.bytes / 1e6:,.1f} MB, {found.corpus.files:,} files, {found.corpus.messages:,} responses\n\n"
    )
    out(f"{'':38} {'median':>9} {'least':>9} {'most':>9} {'CPU':>9}   ms\n")
    for one in found.timings:
        out(
            f"{one.name:38} {one.median_ms:9,.1f} {one.least_ms:9,.1f} {one.most_ms:9,.1f} {one.cpu_ms:9,.1f}   of {one.rounds}\n"
        )
    if found.ratio is None:
        out("\nccusage could not be installed: nothing to compare with\n")
    else:
        verdict = "met" if found.ratio >= RATIO_GOAL else "MISSED"
        out(
            f"\n{found.peer} / {found.report}: {found.ratio:.1f} x, goal {RATIO_GOAL:.0f} x: {verdict}\n"
        )
    status = next(one for one in found.timings if one.name == "stemma statusline")
    verdict = "met" if status.median_ms <= STATUS_LINE_LIMIT_MS else "MISSED"
    out(
        f"status line {status.median_ms:.0f} ms, limit {STATUS_LINE_LIMIT_MS:.0f} ms: {verdict}\n\n"
    )
    out(
        f"{'':12} {'input':>12} {'output':>12} {'cache write':>14} {'cache read':>16} {'USD':>12}\n"
    )
    for name, sums in found.sums.items():
        usd = "?" if sums.micro_usd is None else f"{sums.micro_usd / 1e6:,.2f}"
        out(
            f"{name:12} {sums.input:12,} {sums.output:12,} {sums.cache_write:14,} {sums.cache_read:16,} {usd:>12}\n"
        )
    for line in found.differences:
        out(f"{line}\n")
