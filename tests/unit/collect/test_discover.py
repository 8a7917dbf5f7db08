"""A complete pass finds every source, says why it skips what it skips, and always in the same order."""

import pytest
from tests.unit.collect.tree import OTHER, SESSION, Tree

from stemma.collect import listing
from stemma.model.source import Skip, SkipReason, SourceKind


def test_every_layout_is_found_in_order(tree: Tree) -> None:
    """Sessions, flat and nested agents, workflows, and the folders of sessions without a transcript."""
    paths = [
        f"-a/{SESSION}.jsonl",
        f"-a/{SESSION}/subagents/agent-a1.jsonl",
        f"-a/{SESSION}/subagents/agent-a1.meta.json",
        f"-a/{SESSION}/subagents/workflows/wf_1/agent-a2.jsonl",
        f"-a/{SESSION}/subagents/workflows/wf_1/journal.jsonl",
        f"-a/{SESSION}/workflows/wf_1.json",
        "-a/agent-1f3b9c2e.jsonl",
        f"-b/{OTHER}/subagents/agent-acompact-1f3b9c.jsonl",
        f"-b/{SESSION.upper()}.jsonl",
    ]
    for path in reversed(paths):
        tree.write(path)
    found = tree.discover()
    assert [file.relpath for file in found.files] == sorted(paths)
    assert found.skips == []
    assert found.directories == sorted(found.directories, key=lambda stamp: stamp.relpath)
    assert found.directories[0].relpath == ""
    assert {file.root for file in found.files} == {str(tree.path)}


def test_every_skip_has_its_reason(tree: Tree) -> None:
    """The closed set, as far as a plain tree can show it."""
    tree.write(f"-a/{SESSION}.jsonl", b"")
    tree.write(f"-a/{SESSION}/subagents/agent-a1.jsonl", b"")
    tree.write(f"-a/{SESSION}/subagents/agent-a1.meta.json", b" " * (1 << 20) + b" ")
    tree.write(f"-a/{SESSION}/subagents/agent-a2.meta.json", b" " * (1 << 20))
    tree.write(f"-a/{SESSION}/tool-results/toolu_1.txt")
    tree.write("-a/sessions-index.json")
    tree.folder(f"-a/{SESSION}/2/3/4/5/6/7")
    assert tree.found() == [f"-a/{SESSION}/subagents/agent-a2.meta.json"]
    assert tree.skipped() == {
        f"-a/{SESSION}.jsonl": "empty-main",
        f"-a/{SESSION}/subagents/agent-a1.jsonl": "empty-agent",
        f"-a/{SESSION}/subagents/agent-a1.meta.json": "oversize",
        f"-a/{SESSION}/tool-results/toolu_1.txt": "non-artifact",
        "-a/sessions-index.json": "non-artifact",
        f"-a/{SESSION}/2/3/4/5/6/7": "too-deep",
    }
    assert [file.relpath for file in tree.discover().held] == [
        f"-a/{SESSION}.jsonl",
        f"-a/{SESSION}/subagents/agent-a1.jsonl",
        f"-a/{SESSION}/subagents/agent-a1.meta.json",
    ]


def test_the_sixth_folder_below_a_project_is_read(tree: Tree) -> None:
    """The seventh is not entered."""
    deepest = f"-a/{SESSION}/subagents/3/4/5/6"
    tree.write(f"{deepest}/agent-a1.jsonl")
    tree.write(f"{deepest}/7/agent-a2.jsonl")
    assert tree.found() == [f"{deepest}/agent-a1.jsonl"]
    assert tree.skipped() == {f"{deepest}/7": "too-deep"}


def test_a_session_in_two_projects_is_reported_and_read(tree: Tree) -> None:
    """The smallest-sorting project names it; every other one is told, on its transcript or its first file."""
    tree.write(f"-a/{SESSION}/subagents/agent-a1.jsonl")
    tree.write(f"-b/{SESSION}.jsonl")
    tree.write(f"-b/{SESSION}/subagents/agent-a1.jsonl")
    tree.write(f"-c/{SESSION}/subagents/agent-a2.jsonl")
    tree.write(f"-c/{OTHER}.jsonl")
    found = tree.discover()
    assert len(found.files) == 5
    reason, detail = SkipReason.DUPLICATE_SESSION, "its session belongs to project -a"
    assert found.skips == [
        Skip(f"-b/{SESSION}.jsonl", reason, detail),
        Skip(f"-c/{SESSION}/subagents/agent-a2.jsonl", reason, detail),
    ]


def test_workflow_summaries_may_be_larger_than_sidecars(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are bounded like a line, which is far more."""
    tree.write(f"-a/{SESSION}/workflows/wf_1.json", b" " * ((1 << 20) + 1))
    assert tree.discover().skips == []
    monkeypatch.setitem(listing._LIMITS, SourceKind.WORKFLOW, 1 << 20)
    assert [skip.reason for skip in tree.discover().skips] == [SkipReason.OVERSIZE]
