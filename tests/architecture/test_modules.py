"""Modules are small, well named and explained."""

import ast
import statistics
from collections.abc import Iterator

from tests.architecture.source import PACKAGE, PYTHON_FOLDERS, REPOSITORY, Module, modules

LIMIT = 600
MEDIAN = 150
LONGER: dict[str, str] = {}
"""Modules that may be longer than the limit, each with its reason."""

FORBIDDEN = {"common", "data", "helpers", "manager", "service", "utils"}


def test_no_module_is_longer_than_the_limit() -> None:
    """A module is one room; a longer one is split, or listed above with a reason."""
    found = {m.name: m.lines for m in modules(*PYTHON_FOLDERS) if m.lines > LIMIT}
    assert set(found) == set(LONGER), found


def test_the_median_module_is_short() -> None:
    """Most of the package can be read one screen or two at a time."""
    lengths = [m.lines for m in modules("src") if m.lines]
    assert statistics.median(lengths) <= MEDIAN, sorted(lengths)


def test_no_folder_or_module_has_a_name_that_says_nothing() -> None:
    """A name says what belongs inside."""
    paths = [path for folder in PYTHON_FOLDERS for path in (REPOSITORY / folder).rglob("*")]
    bad = [str(p.relative_to(REPOSITORY)) for p in paths if p.stem.lstrip("_") in FORBIDDEN]
    assert bad == []


def test_everything_public_says_what_it_is_for() -> None:
    """Every public module, class and function of the package has a docstring."""
    silent = [
        f"{module.name}: {name}" for module in modules("src") for name in _undocumented(module)
    ]
    assert silent == []


def test_every_folder_of_the_package_is_a_package() -> None:
    """Code outside a package would escape the import contracts; the sample holds no code."""
    homeless = {
        path.parent.relative_to(REPOSITORY).as_posix()
        for path in PACKAGE.rglob("*.py")
        if not (path.parent / "__init__.py").exists()
    }
    assert homeless == set()


def _undocumented(module: Module) -> Iterator[str]:
    tree = module.tree
    if not ast.get_docstring(tree):
        yield "module"
    yield from _undocumented_in(tree, "")


def _undocumented_in(node: ast.Module | ast.ClassDef, prefix: str) -> Iterator[str]:
    for child in node.body:
        if not isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if child.name.startswith("_"):
            continue
        if not ast.get_docstring(child):
            yield prefix + child.name
        if isinstance(child, ast.ClassDef):
            yield from _undocumented_in(child, f"{prefix}{child.name}.")
