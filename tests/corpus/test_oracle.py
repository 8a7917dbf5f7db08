"""Against the independent reader: who used how many tokens is what the accounting rules say of the same files."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import TYPE_CHECKING

import msgspec
import pytest
from bench.corpus import CorpusSummary, generate

from stemma.model.usage import BUCKETS
from tests.builders.reading import Database
from tests.builders.shared import each, need
from tests.oracle import naive

if TYPE_CHECKING:
    from pathlib import Path

FIELDS = (*BUCKETS, "responses", "incomplete", "web_searches")
Bill = dict[tuple[str, str, str], dict[str, int]]
