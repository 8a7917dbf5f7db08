"""Against real clients' runs of which the truth is known: every agent with its parent, type and end, every token."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.builders.commands import Commands
from tests.builders.reading import Database
from tests.builders.shared import SHARED, each, need

from stemma.model.evidence import Grade

TRUTHS = each("rig-data/[0-9]*/*/truth.json")
REAL = ("task", "fork", "workflow")
OBSERVED, DERIVED, INFERRED = Grade.OBSERVED, Grade.DERIVED, Grade.INFERRED
GRADES = {
    "sidecar_parent": {OBSERVED},
    "tool_use": {
        OBSERVED,
        DERIVED,
        INFERRED,
    },  # an id; the same prompt inline; the same prompt elsewhere
    "directory": {DERIVED},
    "task_notification": {DERIVED},
    "queue_operation": {DERIVED},
    "legacy_explore": {INFERRED},
}
_EDGES = (
    "SELECT s.text, c.text, p.text, e.path, e.grade FROM edges e JOIN names s ON s.id = e.session "
    "JOIN names c ON c.id = e.child JOIN names p ON p.id = e.parent"
)
Session = dict[str, Any]


def truth_of(path: Path) -> dict[str, Any]:
    """A truth.json."""
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def check(
    folder: Path, shape: dict[str, Any], truth: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Run the shared check on a neutral shape; it must find no difference."""
    spec = importlib.util.spec_from_file_location("check_truth", SHARED / "rig" / "check_truth.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    result = folder / "result.json"
    result.write_text(json.dumps(shape))
    arguments = sys.argv
    try:
        sys.argv = ["check_truth.py", str(result), str(truth)]
        with pytest.raises(SystemExit) as ended:
            module.main()
    finally:
        sys.argv = arguments
    assert ended.value.code == 0, capsys.readouterr().out


@pytest.mark.parametrize("truth", TRUTHS)
def test_no_difference_is_found(
    tmp_path: Path, truth: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the rig's own comparison of what ``stemma dump`` prints: sessions, agents, usage and totals."""
    run = Commands(tmp_path)
    run.json("ingest", truth.parent / "projects")
    shape = run.json("dump")
    assert shape == Database(run.database).neutral()
    check(tmp_path, shape, truth, capsys)


@pytest.mark.parametrize("truth", TRUTHS)
def test_every_agent_has_its_true_parent_type_and_end(tmp_path: Path, truth: Path) -> None:
    """By our own comparison: none missing, none extra, none without a parent.

    Clients without agent ids are compared by parent and type; what the truth does not know is not asked.
    """
    database = Database(tmp_path / "stemma.db", truth.parent / "projects")
    ours = {one["session_id"]: one["agents"] for one in database.neutral()["sessions"]}
    for session in truth_of(truth)["sessions"]:
        known = [one for one in session["agents"] if one["kind"] in REAL]
        found = ours.get(session["session_id"], [])
        named = {one["agent_id"]: one for one in found}
        assert len(named) == len(found)
        helpers = {one["agent_id"] for one in session["agents"] if one["kind"] not in REAL}
        if all(one["agent_id"] for one in known):
            assert set(named) - helpers == {one["agent_id"] for one in known}
            for one in known:
                compared(one, named[one["agent_id"]])
        else:
            assert sorted(map(placed, found)) == sorted(map(placed, known))


def compared(true: Session, found: Session) -> None:
    """Assert what the truth knows of one agent."""
    assert found["parent"] == true["parent"]
    if true["type"]:
        assert found["type"] == true["type"]
    if true["terminal"] != "unknown":
        assert found["status"] == true["terminal"]


def placed(agent: Session) -> tuple[str, str]:
    """Parent and type of an agent without an id."""
    return str(agent["parent"]), str(agent["type"])


@pytest.mark.parametrize("truth", TRUTHS)
def test_every_edge_has_a_proof_of_its_grade(tmp_path: Path, truth: Path) -> None:
    """DESIGN section 4: recent clients' agents are observed by their call or sidecar, a workflow's derived by folder."""
    database = Database(tmp_path / "stemma.db", truth.parent / "projects")
    edges = {
        (s, child): (parent, path, grade)
        for s, child, parent, path, grade in database.connection.execute(_EDGES)
    }
    for parent, path, grade in edges.values():
        assert Grade(grade) in GRADES[path]
        assert parent
    recent = not truth.parts[-3].startswith("1.")
    for session in truth_of(truth)["sessions"]:
        for agent in session["agents"]:
            if agent["kind"] not in REAL or not agent["agent_id"]:
                continue
            parent, path, grade = edges[session["session_id"], agent["agent_id"]]
            assert parent == agent["parent"]
            if agent["kind"] == "workflow":
                assert (path, grade) == ("directory", DERIVED)
            elif recent and agent["terminal"] != "interrupted":
                assert (path, grade) in {("tool_use", OBSERVED), ("sidecar_parent", OBSERVED)}
            if path == "sidecar_parent":
                assert parent != "main", "only nested agents' sidecars name a parent"


def test_all_runs_in_one_tree_are_what_each_is_alone(tmp_path: Path) -> None:
    """All versions and scenarios under one root: sessions, agents and usage do not disturb each other."""
    united = tmp_path / "projects"
    alone: dict[str, Session] = {}
    for number, truth in enumerate(need("rig-data/[0-9]*/*/truth.json")):
        projects = truth.parent / "projects"
        for one in Database(tmp_path / f"{number}.db", projects).neutral()["sessions"]:
            assert one["session_id"] not in alone, "ids are unique across runs"
            alone[one["session_id"]] = one
        shutil.copytree(projects, united, dirs_exist_ok=True)
    together = Database(tmp_path / "all.db", united).neutral()["sessions"]
    assert {one["session_id"]: one for one in together} == alone
