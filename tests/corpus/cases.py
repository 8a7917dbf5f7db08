"""What an accounting case is: a small tree of transcripts and the figures that a person worked out for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tests.builders.records import Record

Tree = Mapping[str, Sequence[Record | bytes] | Record]


class Bill(NamedTuple):
    """Expected totals of a tree."""

    input: int = 0
    output: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    cache_read: int = 0
    responses: int = 0
    incomplete: int = 0
    web_searches: int = 0


class Case(NamedTuple):
    """A tree and what must come out of it.

    Attributes:
        tree: Transcripts and sidecars by path.
        bill: Totals.
        sessions: Output tokens by the session that owns them; empty when it does not matter.
        agents: Output tokens by agent; empty when it does not matter.
        anomalies: How many implausible requests are listed.
        faults: How many line faults are stored.
        naive: Whether the independent reader must agree; where it need not, the case says why.
    """

    tree: Tree
    bill: Bill
    sessions: Mapping[str, int] = {}
    agents: Mapping[str, int] = {}
    anomalies: int = 0
    faults: int = 0
    naive: bool = True


Maker = Callable[[], Case]
S1, S2 = "p/s1.jsonl", "p/s2.jsonl"
