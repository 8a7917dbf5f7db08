"""The benchmark corpus: what it promises to those who measure with it."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from bench.corpus import CorpusSummary, generate, grow_session, many_files, scale
from bench.decode_floor import measure

MEGABYTES = 12
TOKENS = ("input", "output", "cache_write_5m", "cache_write_1h", "cache_read")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, CorpusSummary]:
    """A small corpus and what its generator says about it."""
    out = tmp_path_factory.mktemp("corpus")
    return out, generate(out, megabytes=MEGABYTES, seed=1)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus with room for rare things."""
    out = tmp_path_factory.mktemp("large")
    generate(out, megabytes=40, seed=2)
    return out


def transcripts(root: Path) -> list[Path]:
    """Return every transcript file under ``root``."""
    return sorted(root.rglob("*.jsonl"))


def records(root: Path) -> list[dict[str, Any]]:
    """Return every record under ``root``, strictly parsed."""
    lines = [line for path in transcripts(root) for line in path.read_bytes().split(b"\n")[:-1]]
    return [json.loads(line.decode()) for line in lines]


def contents(root: Path) -> dict[str, bytes]:
    """Return every file under ``root`` by relative path."""
    files = [path for path in root.rglob("*") if path.is_file()]
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def recount(root: Path) -> Counter[str]:
    """Count tokens naively: the record with the most output speaks for its message id."""
    best: dict[str, dict[str, Any]] = {}
    for record in records(root):
        if record["type"] != "assistant" or record["message"]["model"] == "<synthetic>":
            continue
        usage = record["message"]["usage"]
        kept = best.setdefault(record["message"]["id"], usage)
        if usage["output_tokens"] > kept["output_tokens"]:
            best[record["message"]["id"]] = usage
    totals = Counter(messages=len(best))
    for usage in best.values():
        totals["input"] += usage["input_tokens"]
        totals["output"] += usage["output_tokens"]
        totals["cache_read"] += usage["cache_read_input_tokens"]
        totals["cache_write_5m"] += usage["cache_creation"]["ephemeral_5m_input_tokens"]
        totals["cache_write_1h"] += usage["cache_creation"]["ephemeral_1h_input_tokens"]
    return totals


def expected(summary: CorpusSummary) -> dict[str, int]:
    """Return the totals that a recount must find."""
    return {name: getattr(summary, name) for name in ("messages", *TOKENS)}


def test_the_same_size_and_seed_write_the_same_bytes(tmp_path: Path) -> None:
    """A figure measured on a corpus can be measured again."""
    summaries = [generate(tmp_path / name, megabytes=2, seed=7) for name in ("a", "b")]
    other = generate(tmp_path / "c", megabytes=2, seed=8)
    assert summaries[0] == summaries[1] != other
    assert contents(tmp_path / "a") == contents(tmp_path / "b") != contents(tmp_path / "c")


@pytest.mark.parametrize("megabytes", [2, 5, 30])
def test_size_is_met_within_five_per_cent(tmp_path: Path, megabytes: int) -> None:
    """What is asked for is what is written."""
    summary = generate(tmp_path, megabytes=megabytes, seed=3)
    assert summary.bytes == pytest.approx(megabytes * 1_000_000, rel=0.05)


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    """Two corpora never mix."""
    (tmp_path / "projects" / "x").mkdir(parents=True)
    with pytest.raises(FileExistsError, match="not empty"):
        generate(tmp_path, megabytes=1, seed=1)


def test_the_summary_counts_what_is_on_disk(corpus: tuple[Path, CorpusSummary]) -> None:
    """Files, bytes, lines and messages can be relied on."""
    out, summary = corpus
    files = transcripts(out)
    data = [path.read_bytes() for path in files]
    assert summary.files == len(files)
    assert summary.sidecars == len(list(out.rglob("*.meta.json")))
    assert summary.bytes == sum(map(len, data))
    assert summary.lines == sum(one.count(b"\n") for one in data) == len(records(out))
    assert all(one.endswith(b"\n") for one in data)


def test_totals_match_a_recount_by_message_id(corpus: tuple[Path, CorpusSummary]) -> None:
    """The expected token totals are those a correct reader finds, copies and blocks included."""
    out, summary = corpus
    assert recount(out) == expected(summary)
    assert summary.output_true > summary.output


def test_line_sizes_follow_the_real_distribution(corpus: tuple[Path, CorpusSummary]) -> None:
    """A benchmark over the corpus sees lines as long as those of real sessions."""
    out, _ = corpus
    sizes = sorted(
        len(line) for path in transcripts(out) for line in path.read_bytes().splitlines()
    )
    at = {percent: sizes[len(sizes) * percent // 100] for percent in (50, 90, 99)}
    assert 800 < at[50] < 1_600
    assert 3_000 < at[90] < 8_000
    assert 25_000 < at[99] < 70_000
    assert 2_200 < sum(sizes) / len(sizes) < 3_900


def test_every_version_and_kind_of_record_occurs(large: Path) -> None:
    """No shape a reader must know is missing."""
    found = records(large)
    assert {record["version"] for record in found if "parentUuid" in record} == {
        "1.0.128", "2.0.60", "2.1.20", "2.1.112", "2.1.200", "2.1.332",
    }  # fmt: skip
    assert {record["type"] for record in found} >= {
        "user", "assistant", "system", "summary", "queue-operation", "file-history-snapshot", "progress",
        "attachment", "last-prompt", "ai-title", "mode", "permission-mode", "cost-state", "api-request",
        "api-request-shape", "api-request-blob", "tools-used", "atis-latch",
    }  # fmt: skip


def test_parents_stand_before_their_children(corpus: tuple[Path, CorpusSummary]) -> None:
    """Every chain can be walked within its file."""
    for path in transcripts(corpus[0]):
        seen = {None}
        for line in path.read_bytes().splitlines():
            record = json.loads(line)
            if "parentUuid" in record:
                assert record["parentUuid"] in seen
                seen.add(record["uuid"])


def test_agents_are_found_where_their_calls_point(corpus: tuple[Path, CorpusSummary]) -> None:
    """Each structured result that names an agent has that agent's file."""
    out, summary = corpus
    results = [record.get("toolUseResult") for record in records(out)]
    named = {
        result["agentId"] for result in results if isinstance(result, dict) and "agentId" in result
    }
    files = {
        path.stem.removeprefix("agent-")
        for path in transcripts(out)
        if path.name.startswith("agent-")
    }
    assert named
    assert named <= files
    assert len(files) <= summary.agents + summary.warmups


def test_forks_keep_uuids_and_rewrite_the_session(large: Path) -> None:
    """Copied history can only be told by its uuids, as in life."""
    sessions: dict[str, set[str]] = {}
    for record in records(large):
        if "parentUuid" in record:
            sessions.setdefault(record["uuid"], set()).add(record["sessionId"])
    assert max(map(len, sessions.values())) == 2


def test_a_growing_session_goes_on_with_valid_lines(tmp_path: Path) -> None:
    """Appended lines continue the session that was written."""
    path = tmp_path / "projects" / "-p" / "s.jsonl"
    more = grow_session(path, megabytes=1, seed=1)
    assert path.stat().st_size == pytest.approx(1_000_000, rel=0.1)
    with path.open("ab") as file:
        for _ in range(300):
            line = next(more)
            assert line.endswith(b"\n")
            file.write(line)
    found = [json.loads(line) for line in path.read_bytes().splitlines()]
    uuids = {record["uuid"] for record in found if "uuid" in record} | {None}
    assert {record["sessionId"] for record in found if "sessionId" in record} == {
        found[0]["sessionId"]
    }
    assert all(record["parentUuid"] in uuids for record in found if "parentUuid" in record)


def test_many_files_are_tiny_and_spread(tmp_path: Path) -> None:
    """The idle benchmark gets exactly the files it asks for."""
    summary = many_files(tmp_path, files=120)
    assert (summary.files, summary.sessions, summary.agents) == (120, 120, 0)
    assert len(list((tmp_path / "projects").iterdir())) == 3
    assert summary.bytes / summary.files < 20_000
    assert recount(tmp_path) == expected(summary)


def test_scale_calls_exactly_the_agents_asked_for(tmp_path: Path) -> None:
    """Sessions and agents can be scaled without scaling bytes."""
    summary = scale(tmp_path, sessions=10, agents=205)
    assert (summary.sessions, summary.agents, summary.files) == (10, 205, 215)
    assert recount(tmp_path) == expected(summary)


def test_the_decode_floor_reads_every_line(corpus: tuple[Path, CorpusSummary]) -> None:
    """The reader's struct fits every record."""
    out, summary = corpus
    floor = measure(out, rounds=1)
    assert (floor.files, floor.bytes, floor.lines, floor.errors) == (
        summary.files, summary.bytes, summary.lines, 0,
    )  # fmt: skip
    assert [stage.stage for stage in floor.stages] == ["read", "split", "decode"]
