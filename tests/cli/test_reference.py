"""The reference names every command, option and JSON field, and says what the program says."""

from __future__ import annotations

import msgspec
import pytest
from tools.make_reference import ANSWERS, REFERENCE, documented, pages, reachable

from stemma.store.sqlite.neutral import neutral


@pytest.mark.parametrize("name", ["cli.md", "json.md"])
def test_the_reference_is_what_the_program_says(name: str) -> None:
    """Nobody edits it by hand; `python tools/make_reference.py` writes it."""
    assert (REFERENCE / name).read_text("utf-8") == pages()[REFERENCE / name]


@pytest.mark.parametrize("command", ANSWERS)
def test_every_field_is_explained(command: str) -> None:
    """In the docstring of its struct, from where the page takes it; and nothing is explained that is not there."""
    for struct in reachable(ANSWERS[command]):
        fields = {field.name for field in msgspec.structs.fields(struct)}
        assert set(documented(struct)) == fields, struct.__name__


def test_the_fields_of_the_dump_are_explained() -> None:
    """The page has them by hand."""
    page = (REFERENCE / "json.md").read_text("utf-8")
    assert neutral.__doc__
    for field in (
        "session_id",
        "agents",
        "agent_id",
        "parent",
        "type",
        "status",
        "usage",
        "responses",
        "cache_read",
    ):
        assert f"`{field}`" in page.split("## dump")[1], field
