"""Structs to rows and back, in the order of the tables' columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stemma.model.entity import Participation, ToolExecution, Turn

Name = Callable[[str], int]


def turn_row(key: tuple[int, int], turn: Turn, name: Name) -> tuple[object, ...]:
    """A row of ``turns``."""
    return (
        *key, turn.offset, turn.uuid, name(turn.session), name(turn.agent), turn.origin, turn.opened_at, turn.last_at,
        turn.status, turn.duration, turn.prompt, turn.first_message, turn.responses, turn.tools, turn.errors,
    )  # fmt: skip


def tool_row(key: tuple[int, int], tool: ToolExecution, name: Name) -> tuple[object, ...]:
    """A row of ``tool_executions``."""
    return (
        *key, tool.offset, tool.ordinal, tool.tool_use, name(tool.session), name(tool.agent), tool.turn,
        name(tool.name), tool.action, tool.target, tool.message, tool.started_at, tool.ended_at, tool.status,
        tool.reason, tool.exit_code, tool.result_bytes, tool.result_offset,
    )  # fmt: skip


PARTICIPATION_COLUMNS = (
    "first_at, last_at, first_offset, last_offset, records, conversation, prompts, responses, tools, api_errors, "
    "compactions, cwd, branch, version, entrypoint, model, type, title, title_rank, first_prompt, prompt_digest, "
    "root_session, status, status_reason, status_at, process_ended_at, headless"
)
"""Columns of ``participations`` behind its key, in the order of the struct's fields."""

_NAMED = (11, 12, 13, 14, 15, 16, 21)


def participation_row(
    numbers: tuple[int, int], key: tuple[int, int], part: Participation, name: Name
) -> tuple[object, ...]:
    """A row of ``participations``."""
    return (
        *numbers, *key, part.first_at, part.last_at, part.first_offset, part.last_offset, part.records,
        part.conversation, part.prompts, part.responses, part.tools, part.api_errors, part.compactions, name(part.cwd),
        name(part.branch), name(part.version), name(part.entrypoint), name(part.model), name(part.type), part.title,
        part.title_rank, part.first_prompt, part.prompt_digest, name(part.root_session), part.status,
        part.status_reason, part.status_at, part.process_ended_at, int(part.headless),
    )  # fmt: skip


def participation_of(
    session: str, agent: str, columns: tuple[Any, ...], text: Callable[[int], str]
) -> Participation:
    """The struct of a row, given its ``PARTICIPATION_COLUMNS``."""
    values = list(columns)
    for index in _NAMED:
        values[index] = text(values[index])
    values[-1] = bool(values[-1])
    return Participation(session, agent, *values)
