"""Event ids: a function of what the record says, and of nothing else."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from stemma.model.ids import event_id, place_of

TEXT = st.text(max_size=8)


def an_id(**changes: object) -> str:
    """An id with some of its ingredients changed."""
    parts: dict[str, object] = {
        "adapter": "claude-code",
        "session": "s",
        "uuid": "u",
        "place": "p",
        "kind": "tool.completed",
        "ordinal": 0,
    }
    parts |= changes
    kind, ordinal = str(parts.pop("kind")), int(str(parts.pop("ordinal")))
    return event_id(*(str(part) for part in parts.values()), kind=kind, ordinal=ordinal)


def test_an_id_never_changes() -> None:
    """Ids that were given out stay valid: this one is written down."""
    assert an_id() == "ev_b94a2b1b33682b39c258"


def test_every_ingredient_counts() -> None:
    """Adapter, session, native id, type and position tell events apart."""
    others = [
        an_id(adapter="codex"),
        an_id(session="t"),
        an_id(uuid="v"),
        an_id(kind="tool.failed"),
        an_id(ordinal=1),
    ]
    assert len({an_id(), *others}) == len(others) + 1


def test_the_place_counts_only_without_a_native_id() -> None:
    """A record that was moved with its uuid is the same record."""
    assert an_id(place="q") == an_id()
    assert an_id(uuid="", place="p") != an_id(uuid="", place="q")


@given(TEXT, TEXT, TEXT, TEXT)
def test_any_text_gives_an_id(session: str, uuid: str, path: str, kind: str) -> None:
    """Whatever a transcript states, the id has its one form."""
    found = event_id("a", session, uuid, place_of(path, 0, 1), kind=kind, ordinal=2)
    assert re.fullmatch(r"ev_[0-9a-f]{20}", found)


def test_a_uuid_and_a_place_are_never_taken_for_each_other() -> None:
    """A record whose uuid reads like a place does not collide with the record at that place."""
    place = place_of("p/s.jsonl", 0, 7)
    assert an_id(uuid=place) != an_id(uuid="", place=place)
