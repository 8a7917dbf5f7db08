"""Turns: what opens one, what belongs to it, what ends it."""

from __future__ import annotations

from stemma.model.entity import MAIN, Status, Turn, TurnStatus
from stemma.model.event import EventType
from stemma.normalize.claude_code.context import Context
from stemma.normalize.claude_code.state import MOST_AGENTS, remember
from stemma.normalize.claude_code.text import digest, short


def open_turn(context: Context, origin: str, prompt: str) -> None:
    """A prompt opens a turn of its agent and closes the one before.

    Args:
        context: The record that carries the prompt.
        origin: ``human``, ``command``, ``system``, ``agent`` or ``unknown``.
        prompt: Its whole text.
    """
    current = context.state.turns.get(context.agent)
    if current is not None and context.uuid and current.uuid == context.uuid:
        return  # the client wrote the record twice
    close_turn(context)
    context.state.left = False
    summary = short(prompt)
    turn = Turn(
        offset=context.offset,
        uuid=context.uuid,
        session=context.session,
        agent=context.agent,
        origin=origin,
        opened_at=context.at,
        last_at=context.at,
        prompt=summary,
    )
    remember(context.state.turns, context.agent, turn, MOST_AGENTS)
    context.out.turns[turn.offset] = turn
    context.emit(EventType.TURN_STARTED, name=origin, summary=summary)
    part = context.part
    if origin in ("human", "command", "agent"):
        part.prompts += origin != "agent"
        if summary and not part.first_prompt and origin != "command":
            part.first_prompt = summary
            part.prompt_digest = digest(prompt)
    if origin == "command" and not part.title:
        part.title = summary
    if context.state.queued and context.agent == MAIN and origin in ("human", "command"):
        part.headless = True
        context.state.queued = False
    context.status(Status.WORKING)


def in_turn(context: Context) -> Turn:
    """The turn that the record at hand belongs to; an implicit one where the opening prompt was never written."""
    turn = context.state.turns.get(context.agent)
    if turn is None:
        open_turn(context, "unknown", "")
        turn = context.state.turns[context.agent]
    else:
        context.out.turns[turn.offset] = turn
    if context.own_time and context.at > turn.last_at:
        turn.last_at = context.at
    return turn


def close_turn(context: Context) -> None:
    """Say that the agent's current turn is over, once."""
    turn = context.state.turns.get(context.agent)
    if turn is None or turn.closed:
        return
    turn.closed = True
    context.out.turns[turn.offset] = turn
    failed = turn.status in (TurnStatus.FAILED, TurnStatus.INTERRUPTED)
    elapsed = turn.duration if turn.duration >= 0 else max(turn.last_at - turn.opened_at, 0)
    kind = EventType.TURN_FAILED if failed else EventType.TURN_COMPLETED
    context.emit(kind, name=turn.status, amount=elapsed, turn=turn.offset)


def responded(
    context: Context, message_id: str, stop_reason: str | None, *, calls_tools: bool
) -> Turn:
    """A record of a response belongs to the current turn; one that calls no tool and has stopped ends it."""
    turn = in_turn(context)
    if message_id and message_id != turn.last_message:
        turn.responses += 1
        context.part.responses += 1
        turn.last_message = message_id
        turn.first_message = turn.first_message or message_id
    if calls_tools or stop_reason == "tool_use":
        turn.status = TurnStatus.OPEN
        context.status(Status.WORKING)
    else:
        # Clients before 2.1.51 leave stop_reason null: a response without a call is then the best sign there is.
        turn.status = TurnStatus.COMPLETED
        context.status(Status.WAITING, "turn-done" if stop_reason else "turn-done?")
    return turn


def interrupted(context: Context) -> None:
    """The user's interrupt marker: the turn and the agent are interrupted."""
    turn = in_turn(context)
    turn.status = TurnStatus.INTERRUPTED
    context.status(Status.ERROR, "interrupted")
    close_turn(context)


def answered_locally(context: Context) -> None:
    """Output of the client itself: a command or shell line that it answered without the model is done."""
    turn = in_turn(context)
    if not turn.responses and turn.origin in ("command", "human"):
        turn.status = TurnStatus.COMPLETED
        if not context.state.left:
            context.status(Status.WAITING, "turn-done")


def left(context: Context) -> None:
    """The user left the session."""
    in_turn(context).status = TurnStatus.COMPLETED
    context.state.left = True
    context.status(Status.COMPLETED, "finished")
    context.emit(EventType.SESSION_ENDED, context.session, "exit")


def failed(context: Context) -> None:
    """A final API failure ends the turn."""
    turn = in_turn(context)
    turn.status = TurnStatus.FAILED
    turn.errors += 1
    context.part.api_errors += 1
    context.status(Status.ERROR, "api-error")
    close_turn(context)


def lasted(context: Context, microseconds: int) -> None:
    """The client states how long the turn took, which it writes when the turn is over."""
    turn = context.state.turns.get(context.agent)
    if turn is None:
        return
    if microseconds >= 0:
        turn.duration = microseconds
    context.out.turns[turn.offset] = turn
    close_turn(context)
