"""What several sessions of the story have in common: openings, subagents, endings."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from tools.sample.clients import (
    HERE,
    HERE_TOO,
    Call,
    Client,
    Ids,
    Json,
    Place,
    Tokens,
    Transcript,
    lines,
    milliseconds,
    stamp,
)

OPUS, HAIKU = "claude-opus-5-5", "claude-haiku-5-5"
SONNET_46, SONNET_4 = "claude-sonnet-4-6", "claude-sonnet-4-20250514"

Files = dict[str, bytes]

_MARKETING = {OPUS: "Opus 5.5", HAIKU: "Haiku 5.5"}

# US dollars per million tokens, as the recent client's own bill implies them:
# input, output, 5-minute write, 1-hour write, read.
_RATES = {OPUS: (4.0, 20.0, 5.0, 8.0, 0.20), HAIKU: (0.10, 0.50, 0.125, 0.20, 0.01)}


class Child(NamedTuple):
    """A subagent to be: what its parent knows when it starts it."""

    call: Call
    kind: str
    description: str
    prompt: str


def main(client: Client, place: Place, model: str, begins: datetime) -> Transcript:
    """A session's main file."""
    ids = Ids(place.session)
    return Transcript(client=client, place=place, ids=ids, now=begins, model=model, cached=11_800)


def surroundings(session: Transcript) -> None:
    """The attachments with which a recent client opens, shortened to what says something."""
    scene = {
        "workingDirectory": session.place.cwd,
        "isWorktree": False,
        "isGitRepo": True,
        "additionalWorkingDirectories": [],
        "platform": "linux",
        "shell": "bash",
    }
    identity = {"modelId": session.model, "marketingName": _MARKETING[session.model]}
    for attachment in (
        {"type": "environment", "snapshot": scene},
        {"type": "model", "identity": identity},
        {"type": "date", "date": session.now.date().isoformat()},
    ):
        session.thread({"attachment": attachment, "type": "attachment"} | HERE)


def title(session: Transcript, text: str) -> None:
    """The title that a small model gave."""
    session.loose("ai-title", aiTitle=text, sessionId=session.place.session)


def last_prompt(session: Transcript, text: str) -> None:
    """The prompt by which the session is listed."""
    leaf = {"leafUuid": session.leaf} if session.client.recent else {}
    session.loose("last-prompt", lastPrompt=text, **leaf, sessionId=session.place.session)


def turn_took(session: Transcript, seconds: float) -> None:
    """The note at the end of an interactive turn."""
    session.wait(0.1)
    body = {"type": "system", "subtype": "turn_duration", "durationMs": int(seconds * 1000)}
    session.thread(body | {"messageCount": len(session.records)} | HERE_TOO | {"isMeta": False})


def spawn_arguments(description: str, prompt: str, kind: str, **more: object) -> Json:
    """The input of an Agent or Task call."""
    return {"description": description, "prompt": prompt, "subagent_type": kind} | more


def child_of(call: Call) -> Child:
    """The subagent that a call asks for."""
    a = call.arguments
    return Child(call, str(a["subagent_type"]), str(a["description"]), str(a["prompt"]))


def subagent(parent: Transcript, child: Child, model: str, *, after: float) -> Transcript:
    """A subagent's own file, opened by the prompt its parent wrote."""
    opened = Transcript(
        client=parent.client,
        place=parent.place,
        ids=parent.ids,
        now=parent.now + timedelta(seconds=after),
        model=model,
        agent=parent.ids.agent(),
        agent_type=child.kind,
        prompt_id=parent.prompt_id,
        sidechain=True,
        cached=3_900,
    )
    opened.prompt(child.prompt)
    return opened


def sidecar(agent: Transcript, child: Child, parent: Transcript, **more: object) -> Json:
    """The `.meta.json` beside a subagent's file."""
    if not agent.client.recent:
        return {"agentType": child.kind, "description": child.description}
    nested = bool(parent.agent)
    meta: Json = {"agentType": child.kind, "isBuiltIn": True, "description": child.description}
    meta |= {"toolUseId": child.call.id} | ({"parentAgentId": parent.agent} if nested else {})
    meta |= {"spawnDepth": 2 if nested else 1, "requestShape": "foreground", "model": agent.model}
    return meta | {"finished": True} | more


def hand_back(parent: Transcript, agent: Transcript, child: Child, report: str) -> None:
    """The result of a finished foreground subagent."""
    _, last = agent.used[-1]
    tools = sum(1 for record in agent.records if _calls_a_tool(record))
    took = milliseconds(agent.now) - milliseconds(_begin(agent))
    note = (
        f"agentId: {agent.agent}\n<usage>subagent_tokens: {last.total}\n"
        f"tool_uses: {tools}\nduration_ms: {took}</usage>"
    )
    detail: Json = {"status": "completed", "prompt": child.prompt, "agentId": agent.agent}
    detail |= {"agentType": child.kind, "content": [{"type": "text", "text": report}]}
    detail |= {"resolvedModel": agent.model, "totalDurationMs": took, "totalTokens": last.total}
    detail |= {"totalToolUseCount": tools, "usage": agent.usage(last)}
    parent.now = max(parent.now, agent.now) + timedelta(seconds=0.3)
    texts: list[Json] = [{"type": "text", "text": report}, {"type": "text", "text": note}]
    parent.result(child.call, texts, detail)


def launched(parent: Transcript, agent: Transcript, child: Child) -> None:
    """The result of a background subagent: it only says that the agent runs."""
    output = f"/tmp/claude/{parent.place.slug}/tasks/{agent.agent}.output"  # noqa: S108
    detail: Json = {"isAsync": True, "status": "async_launched", "agentId": agent.agent}
    detail |= {"description": child.description, "prompt": child.prompt, "outputFile": output}
    text = f"The agent works in the background.\nagentId: {agent.agent}\noutput_file: {output}"
    parent.result(child.call, [{"type": "text", "text": text}], detail)


def notify(
    session: Transcript, task: str, call: Call, summary: str, tags: Mapping[str, str]
) -> None:
    """A background task ended: the notification is queued, taken out, and opens a turn."""
    inner = {"task-id": task, "tool-use-id": call.id, "status": "completed", "summary": summary}
    body = "\n".join(f"<{tag}>{text}</{tag}>" for tag, text in (inner | dict(tags)).items())
    text = f"<task-notification>\n{body}\n</task-notification>"
    name = session.place.session
    operation = {"timestamp": stamp(session.now), "sessionId": name}
    session.loose("queue-operation", operation="enqueue", **operation, content=text)
    session.loose("queue-operation", operation="dequeue", **operation)
    session.prompt_id = session.ids.uuid()
    session.turn += 1
    record: Json = {"type": "user", "message": {"role": "user", "content": text}} | HERE
    record |= {"permissionMode": "default", "origin": {"kind": "task-notification"}}
    if session.client.recent:
        position = {"promptIndex": session.turn - 1, "turnIndex": session.turn}
        record |= {"promptSource": "system", "turnOrigin": "task_notification"}
        record |= {"turnPosition": position}
    session.thread(record, user=True)


def bill(session: Transcript, used: Sequence[tuple[str, Tokens]], since: datetime) -> None:
    """The recent client's own account of the process: everything it used, agents included."""
    models: dict[str, Json] = {}
    cost = 0.0
    for model in sorted({name for name, _ in used}):
        sums = [sum(column) for column in zip(*(t for m, t in used if m == model), strict=True)]
        fresh, read, write_5m, write_1h, output, thinking = sums
        rates = zip((fresh, output, write_5m, write_1h, read), _RATES[model], strict=True)
        dollars = round(sum(count * rate for count, rate in rates) / 1e6, 6)
        cost += dollars
        models[model] = {
            "inputTokens": fresh,
            "outputTokens": output,
            "thinkingTokens": thinking,
            "cacheReadInputTokens": read,
            "cacheCreationInputTokens": write_5m + write_1h,
            "cacheCreationEphemeral5mInputTokens": write_5m,
            "cacheCreationEphemeral1hInputTokens": write_1h,
            "webSearchRequests": 0,
            "costUSD": dollars,
        }
    session.loose(
        "cost-state",
        sessionId=session.place.session,
        totalCostUSD=round(cost, 6),
        totalDuration=milliseconds(session.now) - milliseconds(since),
        startTime=milliseconds(since),
        modelUsage=models,
        hasUnknownModelCost=False,
    )


def session_file(session: Transcript) -> Files:
    """A session's main file under its project."""
    place = session.place
    return {f"projects/{place.slug}/{place.session}.jsonl": lines(session.records)}


def agent_files(agent: Transcript, meta: Json, folder: str = "subagents") -> Files:
    """A subagent's transcript and its sidecar."""
    place = agent.place
    stem = f"projects/{place.slug}/{place.session}/{folder}/agent-{agent.agent}"
    return {
        f"{stem}.jsonl": lines(agent.records),
        f"{stem}.meta.json": lines([meta]).rstrip(b"\n"),
    }


def _begin(agent: Transcript) -> datetime:
    return datetime.fromisoformat(str(agent.records[0]["timestamp"]))


def _calls_a_tool(record: Json) -> bool:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    blocks: Sequence[object] = content if isinstance(content, list) else ()
    return any(isinstance(block, dict) and block.get("type") == "tool_use" for block in blocks)
