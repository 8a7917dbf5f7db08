"""A root may be named in every way in which a person would name it."""

from pathlib import Path

import pytest
from tests.unit.collect.tree import SESSION, Tree

from stemma.collect.discover import discover
from stemma.collect.roots import Roots, resolve_root, resolve_roots
from stemma.model.source import RootSpec
from stemma.normalize.claude_code.locate import place

MAIN = f"-p/{SESSION}.jsonl"
ORPHAN = f"-p/{SESSION}/subagents/agent-a1.jsonl"


@pytest.mark.parametrize("path", [MAIN, ORPHAN])
def test_configuration_folder_projects_and_project_mean_the_same(tmp_path: Path, path: str) -> None:
    """Also when the only session has no transcript of its own."""
    tree = Tree(tmp_path / "claude" / "projects")
    tree.write(path)
    assert resolve_root(tmp_path / "claude") == tree.spec
    assert resolve_root(tree.path) == tree.spec
    assert resolve_root(tree.path / "-p") == RootSpec(str(tree.path), "-p")


@pytest.mark.parametrize("path", [MAIN, ORPHAN])
def test_a_folder_laid_out_like_projects_may_have_any_name(tmp_path: Path, path: str) -> None:
    """A copy or a backup is as good, also with a stray transcript in it."""
    tree = Tree(tmp_path / "backup")
    tree.write(path)
    assert resolve_root(tree.path) == tree.spec
    assert resolve_root(tree.path / "-p") == RootSpec(str(tree.path), "-p")


def test_a_stray_transcript_does_not_hide_projects(tmp_path: Path) -> None:
    """Where both readings are possible the wider one is taken."""
    tree = Tree(tmp_path / "backup")
    tree.write(MAIN)
    tree.write("stray.jsonl")
    assert resolve_root(tree.path) == tree.spec


def test_a_project_named_projects_is_a_project(tmp_path: Path) -> None:
    """The name alone does not make it the projects folder."""
    tree = Tree(tmp_path / "backup")
    tree.write(f"projects/{SESSION}.jsonl")
    assert resolve_root(tree.path) == tree.spec


def test_an_empty_projects_folder_is_a_root(tmp_path: Path) -> None:
    """Its first session will come."""
    tree = Tree(tmp_path / "claude" / "projects")
    assert resolve_root(tmp_path / "claude") == resolve_root(tree.path) == tree.spec


def test_a_configuration_folder_without_projects_is_no_root(tmp_path: Path) -> None:
    """Its prompt history and file history are not transcripts."""
    tree = Tree(tmp_path / ".claude")
    tree.write("history.jsonl")
    tree.write("file-history/1/agent.jsonl")
    assert resolve_root(tree.path) is None


def test_other_folders_and_files_are_no_roots(tmp_path: Path) -> None:
    """Nothing is guessed."""
    tree = Tree(tmp_path / "music")
    file = tree.write("a/b/c.txt")
    missing = tmp_path / "missing"
    assert [resolve_root(path) for path in (tree.path, file, missing)] == [None] * 3


def test_links_to_roots_are_followed_once(tmp_path: Path) -> None:
    """A configuration folder, or its projects, may lie elsewhere; both names are one root."""
    tree = Tree(tmp_path / "disk" / "projects")
    tree.write(MAIN)
    (tmp_path / "linked").symlink_to(tmp_path / "disk")
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "projects").symlink_to(tree.path)
    named = [tmp_path / "linked", tmp_path / "config", tree.path, tree.path / "-p"]
    missing = tmp_path / "none"
    assert resolve_roots([*named, missing]) == Roots((tree.spec,), (str(missing),))


def test_one_project_of_a_root_is_read_alone(tree: Tree) -> None:
    """Neither its neighbours nor their oddities show."""
    tree.write(MAIN)
    tree.write(f"-q/{SESSION}.jsonl")
    tree.write("notes.txt")
    found = discover(RootSpec(str(tree.path), "-p"), place)
    assert [file.relpath for file in found.files] == [MAIN]
    assert found.skips == []
