"""Write ``docs/reference/cli.md`` and ``json.md`` from the program itself; ``tests/cli/test_reference.py`` keeps them true.

Run: ``.venv/bin/python tools/make_reference.py``
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import typer

from stemma.cli.app import app
from stemma.operate.once import IngestAnswer
from stemma.store.answers.analyses import CompactionAnswer, ReconcileAnswer, SavingsAnswer
from stemma.store.answers.events import EventsAnswer, Shown
from stemma.store.answers.health import Health
from stemma.store.answers.receipt import ReceiptAnswer
from stemma.store.answers.sessions import SessionsAnswer, Tree
from stemma.store.answers.usage import UsageAnswer

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"

ANSWERS: dict[str, type[msgspec.Struct]] = {
    "ingest": IngestAnswer,
    "sessions": SessionsAnswer,
    "tree": Tree,
    "usage": UsageAnswer,
    "events": EventsAnswer,
    "show": Shown,
    "doctor": Health,
    "cost receipt": ReceiptAnswer,
    "cost savings": SavingsAnswer,
    "cost compaction": CompactionAnswer,
    "cost reconcile": ReconcileAnswer,
}

_NOTE = "Written by `tools/make_reference.py`; change the program, not this page."

_CLI_HEAD = f"""# Commands

{_NOTE}

Every option stands after the command.
`stemma` without a command prints help, as `--help` or `-h` does everywhere; `stemma --version` prints the version.
A session or event is named by its id or by enough of its start to be unique.
Lists are cut to fit a terminal; when the output is no terminal, `COLUMNS` says how wide it is, 200 by default.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | an error, told in one line on standard error; of `ingest`, something of a root was not read; of `doctor`, the database is damaged |
| 2 | the command line was not understood |
| 130 | interrupted: what was committed stays, and the next run goes on from there |
"""

_JSON_HEAD = f"""# JSON

{_NOTE}

Every command prints JSON with `--json`; field names are stable.
A time is RFC 3339 text in UTC with microseconds, such as `2026-11-30T14:02:33.120000Z`.
A duration is a whole number of microseconds, in fields that end in `_us`.
Counts are integers.
What is not known is `null`, never 0.
A grade is `observed`, `derived`, `inferred` or `experimental`.
"""

_DUMP = """
## dump

`stemma dump` prints the sessions in a neutral, sorted shape, whatever tool it is compared with:

| field | type | meaning |
|---|---|---|
| `sessions` | list | one object for each session, by id |
| `session_id` | text | its id |
| `agents` | list | its subagents, without those that the client starts for itself |
| `agent_id` | text | id of the agent |
| `parent` | text or null | `main` or an agent id; null when no record proves it |
| `type` | text or null | agent type |
| `status` | text | `completed`, `error`, `interrupted`, `running` or `unknown` |
| `usage` | object | by model: the sums below |
| `input`, `output`, `cache_write_5m`, `cache_write_1h`, `cache_read` | integer | tokens |
| `responses` | integer | responses |

`stemma dump --all` prints every evidence table, sorted: one object a line, with `table` and that table's columns.
Numbers that are internal to one database are replaced by what they stand for, so that equal evidence gives equal dumps.
"""


def cli() -> str:
    """The page of commands."""
    group: Any = typer.main.get_command(app)
    parts = [_CLI_HEAD]
    for name, command in _commands(group):
        parts.append(f"\n## stemma {name}\n\n{_prose(command.help)}\n")
        rows = [_parameter(one) for one in command.params]
        parts.append("\n".join(["| parameter | meaning |", "|---|---|", *rows]) + "\n")
    return "\n".join(part.strip("\n") + "\n" for part in parts)


def _commands(group: Any, above: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - see below
    """Commands by name; a group is one itself when it does something by itself."""
    for name, command in group.commands.items():
        if not hasattr(command, "commands"):
            yield above + name, command
            continue
        if command.invoke_without_command:
            yield above + name, command
        yield from _commands(command, f"{above}{name} ")


def _parameter(one: Any) -> str:  # noqa: ANN401 - the types of typer's own click are private
    if one.param_type_name == "argument":
        name = one.metavar
    elif one.is_flag:
        name = one.opts[0]
    else:
        name = f"{one.opts[0]} {one.metavar}"
    name = name.replace("|", "\\|")
    return f"| `{name}` | {_prose(one.help)} |"


def _prose(text: str | None) -> str:
    return " ".join((text or "").split())


def json_page() -> str:
    """The page of JSON fields."""
    parts = [_JSON_HEAD]
    seen: dict[type, str] = {}
    for name, answer in ANSWERS.items():
        parts.append(f"\n## {name}\n")
        for struct in reachable(answer):
            if struct in seen:
                continue
            seen[struct] = name
            parts.append(f"\n### {struct.__name__}\n\n{_first(struct)}\n\n{_fields(struct)}")
    parts.append(_DUMP)
    return "\n".join(part.strip("\n") + "\n" for part in parts)


def reachable(struct: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    """A struct and all structs inside it, each once."""
    waiting, seen = [struct], {struct}
    while waiting:
        one = waiting.pop(0)
        yield one
        for field in msgspec.structs.fields(one):
            for inner in _structs(field.type):
                if inner not in seen:
                    seen.add(inner)
                    waiting.append(inner)


def _structs(kind: object) -> Iterator[type[msgspec.Struct]]:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield kind
    for inner in typing.get_args(kind):
        yield from _structs(inner)


def _first(struct: type[msgspec.Struct]) -> str:
    return _prose((struct.__doc__ or "").partition("\n\n")[0]).replace("``", "`")


def _fields(struct: type[msgspec.Struct]) -> str:
    meanings = documented(struct)
    rows = [
        f"| `{field.name}` | {_kind(field.type)} | {meanings[field.name]} |"
        for field in msgspec.structs.fields(struct)
    ]
    return "\n".join(["| field | type | meaning |", "|---|---|---|", *rows]) + "\n"


def documented(struct: type[msgspec.Struct]) -> dict[str, str]:
    """What the docstrings of a struct and its bases say of each field."""
    found: dict[str, str] = {}
    for base in reversed(struct.__mro__):
        _, _, text = (base.__doc__ or "").partition("Attributes:\n")
        for match in re.finditer(r"^ {8}(\w+): (.+(?:\n {12}.+)*)", text, re.MULTILINE):
            found[match[1]] = _prose(match[2]).replace("``", "`")
    return found


def _kind(kind: object) -> str:
    args = typing.get_args(kind)
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        return " or ".join(_kind(one) for one in args)
    if typing.get_origin(kind) is list:
        return f"list of {_kind(args[0])}"
    if typing.get_origin(kind) is dict:
        return f"object of {_kind(args[1])}"
    if isinstance(kind, type):
        return _type(kind)
    return "any JSON"


def _type(kind: type) -> str:
    if issubclass(kind, msgspec.Struct):
        return f"[{kind.__name__}](#{kind.__name__.lower()})"
    if issubclass(kind, str):
        return "text"
    return {int: "integer", float: "number", bool: "true or false"}.get(kind, "null")


def pages() -> dict[Path, str]:
    """Both pages by their files."""
    return {REFERENCE / "cli.md": cli(), REFERENCE / "json.md": json_page()}


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path)
