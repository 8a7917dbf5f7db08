"""What the import contracts cannot see: SQL in text, and calls that read clock, chance or files."""

import ast
import re
from collections.abc import Iterator

from tests.architecture.source import Module, modules

PURE = {"model", "normalize", "relate", "derive"}
IMPURE_METHODS = {"now", "today", "utcnow"}
IMPURE_CALLS = {"hash", "id", "input", "open", "print"}
"""`hash` of text differs from run to run, `id` is an address."""

SQL = re.compile(
    r"\A\s*(SELECT|INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP|ALTER|PRAGMA|ATTACH|WITH|BEGIN)\b\s"
    r"|\bSELECT\b.+\bFROM\b|\b(INSERT|REPLACE)( OR \w+)? INTO\b|\bDELETE FROM\b",
    re.DOTALL,
)


def test_sql_lives_in_the_store_and_nowhere_else() -> None:
    """No text of another folder is a statement; comments and docstrings may speak of them."""
    found = [
        f"{module.name}:{line}: {text[:60]!r}"
        for module in modules("src")
        if module.folder != "store"
        for line, text in _texts(module)
        if SQL.search(text)
    ]
    assert found == []


def test_the_pattern_knows_a_statement_from_prose() -> None:
    """The test above would notice SQL, and does not mistake words for it."""
    statements = [
        "SELECT 1",
        "\n  INSERT INTO t VALUES (?)",
        "x; DELETE FROM t",
        "PRAGMA user_version",
    ]
    prose = ["select a session", "Selected from the list", "UPDATED", "insert", "with care"]
    assert all(SQL.search(text) for text in statements)
    assert not any(SQL.search(text) for text in prose)


def test_pure_stages_read_no_clock_no_chance_and_no_file() -> None:
    """What they return depends on what they are given, and on nothing else."""
    found = [
        f"{module.name}:{line}: {name}()"
        for module in modules("src")
        if module.folder in PURE
        for line, name in _impure(module)
    ]
    assert found == []


def _texts(module: Module) -> Iterator[tuple[int, str]]:
    tree = module.tree
    documents = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in documents:
                yield node.lineno, text


def _impure(module: Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Attribute(attr=name) if name in IMPURE_METHODS:
                yield node.lineno, name
            case ast.Name(id=name) if name in IMPURE_CALLS:
                yield node.lineno, name
