"""Paths name sources as every client version lays them out; the default places are found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stemma.model.source import (
    Placement,
    SkipReason,
    SourceKind,
    escape_path,
    storable,
    unescape_path,
)
from stemma.normalize.claude_code.locate import config_roots, place

S = "5b8c1f0e-2a47-4c19-9d36-7e0f4a61c2d8"
MAIN, AGENT, SIDECAR = SourceKind.MAIN, SourceKind.AGENT, SourceKind.SIDECAR
WORKFLOW, JOURNAL = SourceKind.WORKFLOW, SourceKind.JOURNAL

PLACED = [
    (f"-p/{S}.jsonl", MAIN, S, "", ""),
    (f"-p/{S.upper()}.jsonl", MAIN, S.upper(), "", ""),
    ("-p/agent-1f3b9c2e.jsonl", AGENT, "", "1f3b9c2e", ""),
    ("-p/agent-1f3b9c2e.meta.json", SIDECAR, "", "1f3b9c2e", ""),
    (f"-p/{S}/subagents/agent-a5bdbc1.jsonl", AGENT, S, "a5bdbc1", ""),
    (f"-p/{S}/subagents/agent-a5bdbc1.meta.json", SIDECAR, S, "a5bdbc1", ""),
    (f"-p/{S}/subagents/agent-acompact-1f3b9c.jsonl", AGENT, S, "acompact-1f3b9c", ""),
    (f"-p/{S}/subagents/agent-aprompt_suggestion-1f3b9c.jsonl", AGENT, S, "aprompt_suggestion-1f3b9c", ""),
    (f"-p/{S}/subagents/agent-alint-0123456789abcdef.jsonl", AGENT, S, "alint-0123456789abcdef", ""),
    (f"-p/{S}/subagents/agent-builder@team.jsonl", AGENT, S, "builder@team", ""),
    (f"-p/{S}/subagents/workflows/wf_1-b/agent-a1.jsonl", AGENT, S, "a1", "wf_1-b"),
    (f"-p/{S}/subagents/workflows/wf_1-b/agent-a1.meta.json", SIDECAR, S, "a1", "wf_1-b"),
    (f"-p/{S}/subagents/workflows/wf_1-b/journal.jsonl", JOURNAL, S, "", "wf_1-b"),
    (f"-p/{S}/subagents/agent-a1/subagents/agent-a2.jsonl", AGENT, S, "a2", ""),
    (f"-p/{S}/subagents/a/b/workflows/wf_2/agent-a3.jsonl", AGENT, S, "a3", "wf_2"),
    (f"-p/{S}/workflows/wf_1-b.json", WORKFLOW, S, "", "wf_1-b"),
]  # fmt: skip

NOT_ARTIFACTS = [
    "stray.jsonl",
    "-p/sessions-index.json",
    "-p/.DS_Store",
    f"-p/._{S}.jsonl",
    "-p/.jsonl",
    "-p/agent-.jsonl",
    f"-p/{S}.jsonl.bak",
    f"-p/{S}/tool-results/toolu_1.txt",
    f"-p/{S}/agent-a1.jsonl",
    f"-p/{S}/subagents/notes.jsonl",
    f"-p/{S}/subagents/.agent-a1.jsonl",
    f"-p/{S}/workflows/scripts/flow-wf_1-b.js",
    f"-p/{S}/workflows/scripts/flow.json",
    f"-p/{S}/file-history/1f3b@v1",
    "-p/memory/MEMORY.md",
    "-p/subagents/agent-a1.jsonl",
]


@pytest.mark.parametrize(("path", "kind", "session", "agent", "run"), PLACED)
def test_a_path_names_kind_session_agent_and_run(
    path: str, kind: SourceKind, session: str, agent: str, run: str
) -> None:
    """Every layout of FORMATS section b, and ids of any form."""
    assert place(tuple(path.split("/"))) == Placement(kind, "-p", session, agent, run, path)


@pytest.mark.parametrize("path", NOT_ARTIFACTS)
def test_everything_else_is_no_artifact(path: str) -> None:
    """What a client keeps beside its transcripts is left alone."""
    assert place(tuple(path.split("/"))) is SkipReason.NON_ARTIFACT


def test_six_folders_below_a_project_are_the_limit() -> None:
    """One more is too deep, whatever the file's name."""
    deep = ("-p", S, "subagents", "3", "4", "5", "6")
    assert isinstance(place((*deep, "agent-a1.jsonl")), Placement)
    assert place((*deep, "7", "agent-a1.jsonl")) is SkipReason.TOO_DEEP
    assert place((*deep, "7", "notes.txt")) is SkipReason.TOO_DEEP


def test_odd_names_become_text_that_can_be_stored() -> None:
    """Bytes that are not UTF-8 and control characters stay distinguishable."""
    found = place(("-p\udcff", "a\nb\\c.jsonl"))
    assert isinstance(found, Placement)
    assert found.project_slug == "-p\\xff"
    assert found.session_hint == "a\nb\\c"
    assert found.relpath_key == "-p\\xff/a\\x0ab\\\\c.jsonl"


@given(st.binary(max_size=40))
def test_escaping_a_path_can_be_undone(name: bytes) -> None:
    """The printable form stands for exactly one path, and encodes."""
    path = name.decode("utf-8", "surrogateescape")
    text = escape_path(path)
    assert unescape_path(text) == path
    assert text.encode().decode() == text
    storable(path).encode()


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, ["/home/u/.config/claude", "/home/u/.claude"]),
        ({"XDG_CONFIG_HOME": "/x"}, ["/x/claude", "/home/u/.claude"]),
        ({"XDG_CONFIG_HOME": "relative"}, ["/home/u/.config/claude", "/home/u/.claude"]),
        ({"CLAUDE_CONFIG_DIR": ""}, ["/home/u/.config/claude", "/home/u/.claude"]),
        ({"CLAUDE_CONFIG_DIR": "/a"}, ["/a"]),
        ({"CLAUDE_CONFIG_DIR": "/a, ~/b/,,/a/"}, ["/a", "/home/u/b"]),
        ({"CLAUDE_CONFIG_DIR": "/a/projects", "XDG_CONFIG_HOME": "/x"}, ["/a/projects"]),
    ],
)
def test_default_places(env: dict[str, str], expected: list[str]) -> None:
    """The client's own variable replaces its two default folders."""
    assert config_roots(env, "/home/u") == expected
