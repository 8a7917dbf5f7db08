"""The documents that code and people refer to exist and have their parts."""

import re

from tests.architecture.source import PYTHON_FOLDERS, REPOSITORY, modules

RECORDS = sorted((REPOSITORY / "docs" / "adr").glob("*.md"))
PARTS = ["Context", "Decision", "Consequences", "Rejected"]


def test_decision_records_are_numbered_without_gaps() -> None:
    """Code cites the numbers, so they never move."""
    names = [path.name for path in RECORDS]
    assert [int(name[:4]) for name in names] == list(range(1, len(names) + 1))
    assert all(re.fullmatch(r"\d{4}-[a-z0-9]+(-[a-z0-9]+)*\.md", name) for name in names)


def test_decision_records_have_their_four_parts() -> None:
    """Context, decision, consequences, and what was rejected."""
    for path in RECORDS:
        assert re.findall(r"^## (\w+)", path.read_text("utf-8"), re.MULTILINE) == PARTS, path.name


def test_decision_records_that_code_cites_exist() -> None:
    """A comment that says ADR 4 can be followed."""
    cited = {
        int(number)
        for module in modules(*PYTHON_FOLDERS)
        for number in re.findall(r"\bADR[ -]?0*(\d+)\b", module.text)
    }
    assert cited <= {int(path.name[:4]) for path in RECORDS}


def test_every_command_of_the_menu_is_explained() -> None:
    """`./dev` prints each command that it knows."""
    script = (REPOSITORY / "dev").read_text("utf-8")
    known = re.findall(r"^    ([a-z]+)\) ?", script.split("case $command in")[1], re.MULTILINE)
    explained = re.findall(r"^  ([a-z]+) ", script.split("usage() {")[1], re.MULTILINE)
    assert set(known) == set(explained)
