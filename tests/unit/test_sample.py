"""The bundled sample is what its generator writes, small, and free of anybody's real data."""

import json
import re
from pathlib import Path

from tools.make_sample import SAMPLE, differences
from tools.sample.story import story

LIMIT = 150_000


def test_the_committed_sample_is_what_the_generator_writes() -> None:
    """Nobody edits the sample by hand; `python tools/make_sample.py` writes it."""
    assert differences(SAMPLE) == []


def test_the_generator_gives_the_same_bytes_every_time() -> None:
    """No clock and no chance is involved."""
    assert story() == story()


def test_the_sample_is_small() -> None:
    """It travels in every wheel."""
    assert sum(map(len, story().values())) < LIMIT


def test_every_transcript_line_is_an_object_of_its_session() -> None:
    """Lines are complete JSON objects, and name the session whose folder they lie in."""
    for name, content in story().items():
        if not name.endswith(".jsonl"):
            continue
        assert content.endswith(b"\n")
        for line in content.splitlines():
            record = json.loads(line)
            assert isinstance(record["type"], str)
            assert record.get("sessionId", "") in name


def test_parents_stand_before_their_children() -> None:
    """Every parent that a record names was written before it, in the same file."""
    for name, content in story().items():
        if not name.endswith(".jsonl"):
            continue
        seen: set[str | None] = {None}
        for line in content.splitlines():
            record = json.loads(line)
            assert record.get("parentUuid") in seen
            seen.add(record.get("uuid"))


def test_all_paths_are_those_of_the_invented_user() -> None:
    """No path of a real machine is in the sample."""
    homes = {
        match.decode() for text in story().values() for match in re.findall(rb"/home/\w+", text)
    }
    assert homes == {"/home/ada"}
    assert {Path(name).parts[1] for name in story()} == {
        "-home-ada-checkout",
        "-home-ada-docs-site",
    }
