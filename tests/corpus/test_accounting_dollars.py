"""Dollars of the shared cases and of what real clients billed themselves, through our own ingestion."""

from __future__ import annotations

import json
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.builders.reading import Database
from tests.builders.shared import each, need

from stemma.derive.cost.charge import charge_of, rolled_up
from stemma.derive.cost.price import added, grouped, price, total
from stemma.derive.cost.receipt import receipt, recomputed
from stemma.derive.cost.reconcile import Cause, ClientUsage, ModelBill, reconcile
from stemma.derive.cost.shipped import price_book
from stemma.derive.usage import STATE_ANOMALY, CountedRequest
from stemma.model.money import micro_usd, pico_of, usd

BOOK = price_book()
RIG = "2.1.332"
_ROWS = (
    "SELECT u.message_id, u.request, u.part, u.part_kind, s.text, a.text, m.text, u.first_at, u.input, u.output, "
    "u.cache_write_5m, u.cache_write_1h, u.cache_read, u.web_searches, u.largest_input, u.speed, u.tier, u.geo, u.skill, "
    "u.tool_server, u.recorded_nano_usd, u.state, '', u.generation, u.offset, u.records FROM usage u "
    "JOIN names s ON s.id = u.session JOIN names a ON a.id = u.agent JOIN names m ON m.id = u.model"
)


def requests(database: Database) -> list[CountedRequest]:
    """Requests that are billed: without implausible ones."""
    rows = [CountedRequest(*row) for row in database.connection.execute(_ROWS)]
    return [row for row in rows if not row.state & STATE_ANOMALY]


@pytest.mark.parametrize("case", each("cases/accounting/*"))
def test_a_shared_case_has_its_price(tmp_path: Path, case: Path) -> None:
    """To the exact dollar; null stands for a model without a price, or for what is listed and left out."""
    expected = json.loads((case / "expected.json").read_text(), parse_float=Decimal)
    rows = requests(Database(tmp_path / "stemma.db", case / "projects"))
    sums = total(price(charge_of(row), BOOK) for row in rows)
    if case.name.startswith("26_"):
        assert sums.wholly_unpriced
        assert (sums.unpriced_tokens, sums.unpriced_models) == (2000, ("claude-nimbus-9",))
        return
    assert sums.unpriced_tokens == 0
    if case.name.startswith("41_"):
        assert usd(sums.total) == Decimal("0.002515")  # the plausible response alone
        return
    assert usd(sums.total) == expected["usd"]
    assert micro_usd(sums.total) == sums.micro_usd
    recorded = sum(max(row.recorded_nano_usd, 0) for row in rows)
    assert Decimal(recorded).scaleb(-9) == expected.get("recorded_usd", 0)


@pytest.mark.parametrize("case", each("cases/accounting/*"))
def test_every_grouping_and_the_rollup_of_a_case_cost_the_same(tmp_path: Path, case: Path) -> None:
    """By session, agent, model and part; and the receipt recomputes."""
    rows = requests(Database(tmp_path / "stemma.db", case / "projects"))
    prices = [price(charge_of(row), BOOK) for row in rows]
    whole = total(prices)
    assert total(price(one, BOOK) for one in rolled_up(charge_of(row) for row in rows)) == whole
    for field in ("session", "agent", "model", "part_kind", "skill"):
        names = [str(getattr(row, field)) for row in rows]
        assert added(grouped(zip(names, prices, strict=True)).values()) == whole
    bill = receipt(prices, version=BOOK.version, digest=BOOK.digest)
    assert recomputed(bill) == bill.micro_usd == whole.micro_usd


class Session(NamedTuple):
    """A session of a real client and its own bill.

    Attributes:
        scenario: What was run.
        bills: Both bills by model.
        shown: The client's total, dollars.
        ours: Our total, pico-dollars.
    """

    scenario: str
    bills: list[ModelBill]
    shown: Any
    ours: int


def billed(scenario: Path, database: Database) -> list[Session]:
    """Every session with a bill of the client's own; the last one of a session counts."""
    rows: dict[str, list[CountedRequest]] = defaultdict(list)
    for row in requests(database):
        rows[row.session].append(row)
    origins = dict(
        database.connection.execute(
            "SELECT DISTINCT s.text, o.text FROM message_sessions h JOIN names s ON s.id = h.session "
            "JOIN names o ON o.id = h.owner WHERE h.owner <> h.session"
        )
    )
    sessions = []
    for session, state in _cost_states(scenario).items():
        ours = [charge_of(row) for row in rows[session]]
        bills = reconcile(
            ours,
            [_usage(model, usage) for model, usage in state["modelUsage"].items()],
            BOOK,
            [charge_of(row) for row in rows.get(origins.get(session, ""), ())],
            at=(state["startTime"] + state["totalDuration"]) * 1000,
        )
        spent = sum(price(one, BOOK).total for one in ours)
        sessions.append(Session(scenario.name, bills, state["totalCostUSD"], spent))
    return sessions


def _cost_states(scenario: Path) -> dict[str, dict[str, Any]]:
    found = {}
    for path in sorted((scenario / "projects").rglob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            if b'"cost-state"' in line:
                record = json.loads(line)
                if record.get("type") == "cost-state":
                    found[record["sessionId"]] = record
    return found


def _usage(model: str, usage: dict[str, Any]) -> ClientUsage:
    amounts = (
        usage["inputTokens"], usage["outputTokens"], usage["cacheCreationEphemeral5mInputTokens"],
        usage["cacheCreationEphemeral1hInputTokens"], usage["cacheReadInputTokens"], usage["webSearchRequests"],
    )  # fmt: skip
    return ClientUsage(model, amounts, pico_of(usage["costUSD"]))


@pytest.mark.slow
def test_real_sessions_cost_what_their_client_says_or_the_difference_has_a_cause(
    tmp_path: Path,
) -> None:
    """Most agree to the micro-dollar; a compaction's call is in no transcript, and a fork carries its origin along."""
    sessions: list[Session] = []
    for scenario in need(f"rig-data/{RIG}/*"):
        if (scenario / "projects").is_dir():
            database = Database(tmp_path / f"{scenario.name}.db", scenario / "projects")
            sessions.extend(billed(scenario, database))
    assert len(sessions) >= 20
    differing: dict[str, set[Cause]] = defaultdict(set)
    for session in sessions:
        causes = {one.cause for bill in session.bills for one in bill.differences}
        if not causes:
            assert micro_usd(session.ours) == micro_usd(pico_of(session.shown))
        differing[session.scenario] |= causes
    assert all(bill.explained for session in sessions for bill in session.bills)
    assert {name: causes for name, causes in differing.items() if causes} == {
        "compact": {Cause.NOT_RECORDED},
        "resume": {Cause.COPIED_HISTORY},
        "tui": {Cause.NOT_RECORDED},
    }
