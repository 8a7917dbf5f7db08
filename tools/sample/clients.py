"""The shapes of three Claude Code versions: which keys a record has, and in which order.

A `Transcript` is one file being written. It keeps the thread of parents, the clock and the size of
the context, so that the story in `story.py` says only who said what. Everything is deterministic:
ids are digests of a seed and a counter.
"""

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

Json = dict[str, object]

HERE: Json = {"uuid": "", "timestamp": ""}
"""Marks the place of a record's id and time among its keys."""

HERE_TOO: Json = {"timestamp": "", "uuid": ""}
"""The same, in the order of system records."""


class Client(NamedTuple):
    """One version, and how it differs from the others.

    Attributes:
        version: As it stands in each record.
        spawn: The name of the tool that starts a subagent.
        inline: Subagents stand in the session's own file and have no id.
        recent: Writes the many fields of late 2026.
    """

    version: str
    spawn: str
    inline: bool = False
    recent: bool = False


OLD = Client("1.0.128", "Task", inline=True)
MIDDLE = Client("2.1.112", "Agent")
RECENT = Client("2.1.332", "Agent", recent=True)


class Place(NamedTuple):
    """Where a session runs."""

    session: str
    cwd: str
    branch: str

    @property
    def slug(self) -> str:
        """The name of the project's folder: everything but letters and digits becomes a dash."""
        return "".join(c if c.isascii() and c.isalnum() else "-" for c in self.cwd)


class Tokens(NamedTuple):
    """What one response used."""

    fresh: int
    read: int
    write_5m: int
    write_1h: int
    output: int
    thinking: int = 0

    @property
    def total(self) -> int:
        """All of it: what the client calls the tokens of a request."""
        return self.fresh + self.read + self.write_5m + self.write_1h + self.output


class Call(NamedTuple):
    """A tool call within a response."""

    tool: str
    arguments: Mapping[str, object]
    id: str
    record: str
    """The uuid of the record that holds it."""


class Ids:
    """An endless, repeatable supply of ids."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._count = 0

    def _digest(self) -> str:
        self._count += 1
        return hashlib.sha256(f"{self._seed}/{self._count}".encode()).hexdigest()

    def uuid(self) -> str:
        """Shaped like a random UUID."""
        return str(uuid.UUID(self._digest()[:32], version=4))

    def api(self, prefix: str) -> str:
        """Shaped like an id of the API: `msg_01…`, `toolu_01…`, `req_011C…`."""
        return f"{prefix}{self._digest()[:22]}"

    def agent(self) -> str:
        """Seventeen characters, the first of them `a`."""
        return "a" + self._digest()[:16]

    def hash(self) -> str:
        """A whole digest."""
        return self._digest()


def stamp(when: datetime) -> str:
    """A time as all clients write it."""
    return when.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def milliseconds(when: datetime) -> int:
    """A time as some records carry it."""
    return int(when.timestamp() * 1000)


def lines(records: Sequence[Mapping[str, object]]) -> bytes:
    """Records as a transcript holds them."""
    text = "".join(json.dumps(r, ensure_ascii=False, separators=(",", ":")) + "\n" for r in records)
    return text.encode()


@dataclass
class Transcript:
    """One file of one client, record after record.

    Attributes:
        client: The version that writes.
        place: Session, folder and branch.
        ids: The session's supply of ids.
        now: Time of the last record.
        model: The model that answers.
        agent: The agent whose file this is; none in a session's main file.
        agent_type: Its type, which recent clients name in each answer.
        prompt_id: The prompt that caused what follows.
        leaf: The last record of the thread.
        sidechain: Whether records belong to a subagent.
        slug: The nickname that records carry once the session was compacted.
        cached: Tokens of the context that a cache holds.
        used: What was used, by model; a subagent's file has its own.
        records: What was written.
    """

    client: Client
    place: Place
    ids: Ids
    now: datetime
    model: str
    agent: str = ""
    agent_type: str = ""
    prompt_id: str = ""
    leaf: str | None = None
    sidechain: bool = False
    slug: str = ""
    cached: int = 0
    turn: int = 0
    used: list[tuple[str, Tokens]] = field(default_factory=list)
    records: list[Json] = field(default_factory=list)

    # ------------------------------------------------------------------ what every record shares

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)

    def _scene(self) -> Json:
        scene: Json = {"userType": "external"}
        if not self.client.inline:
            scene["entrypoint"] = "cli"
        scene |= {
            "cwd": self.place.cwd,
            "sessionId": self.place.session,
            "version": self.client.version,
            "gitBranch": self.place.branch,
        }
        return scene | ({"slug": self.slug} if self.slug else {})

    def _process(self) -> Json:
        """Recent interactive clients repeat the first id of their process on some records."""
        return {"session_id": self.place.session} if self.client.recent else {}

    def _owner(self) -> Json:
        return {"agentId": self.agent} if self.agent else {}

    def thread(self, body: Mapping[str, object], *, unique: str = "", user: bool = False) -> str:
        """Append a record of the parent chain and return its uuid.

        `HERE` in `body` marks where uuid and time stand; what is None is not written.
        """
        unique = unique or self.ids.uuid()
        named = {key: value for key, value in body.items() if value is not None}
        named |= {"uuid": unique, "timestamp": stamp(self.now)}
        record: Json = {"parentUuid": self.leaf}
        if "logicalParentUuid" in named:
            record["logicalParentUuid"] = named.pop("logicalParentUuid")
        record["isSidechain"] = self.sidechain
        if self.client.inline:
            record |= self._scene() | named
        else:
            prompt: Json = {"promptId": self.prompt_id} if user else {}
            record |= prompt | self._owner() | named | self._scene()
        self.records.append(record)
        self.leaf = unique
        return unique

    def loose(self, kind: str, **content: object) -> None:
        """Append a record outside the chain: no uuid, and a time only where given."""
        self.records.append({"type": kind} | content)

    # ------------------------------------------------------------------------- people and tools

    def prompt(self, text: str) -> str:
        """Somebody typed a prompt, or, in an agent's file, the parent wrote it."""
        self.prompt_id = self.prompt_id if self.agent else self.ids.uuid()
        self.turn += 1
        unique = self.ids.uuid()
        main = not self.sidechain
        recent = self.client.recent
        if recent and main:
            snapshot = {"messageId": unique, "trackedFileBackups": {}, "timestamp": stamp(self.now)}
            self.loose(
                "file-history-snapshot", messageId=unique, snapshot=snapshot, isSnapshotUpdate=False
            )
        body: Json = {"type": "user", "message": {"role": "user", "content": text}}
        if recent and not main:
            body["rowSource"] = "recorded"
        body |= HERE
        if main and not self.client.inline:
            body["permissionMode"] = "default"
        if recent and main:
            body |= {"origin": {"kind": "human"}, "promptSource": "typed", "turnOrigin": "human"}
            body["turnPosition"] = {"promptIndex": self.turn, "turnIndex": self.turn}
        return self.thread(body, unique=unique, user=True)

    def result(
        self,
        call: Call,
        output: str | Sequence[Json],
        detail: object = None,
        *,
        error: bool = False,
    ) -> str:
        """A tool answered. Agents' files of later clients keep the detail of errors only."""
        block: Json = {"tool_use_id": call.id, "type": "tool_result", "content": output}
        if error:
            block = {
                "type": "tool_result",
                "content": output,
                "is_error": True,
                "tool_use_id": call.id,
            }
            detail = f"Error: {output}"
        elif call.tool == "Bash":
            block["is_error"] = False
            detail = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
            detail |= {} if self.client.inline else {"noOutputExpected": False}
        kept = detail if error or not self.agent else None
        recent = self.client.recent
        decision = {"decision": "accept", "source": "config", "reasonType": "mode"}
        return self.thread(
            {
                "type": "user",
                "message": {"role": "user", "content": [block]},
            }
            | HERE
            | {
                "toolUseResult": kept,
                "sandboxed": False if recent and call.tool == "Bash" else None,
                "sourceToolAssistantUUID": None if self.client.inline else call.record,
                "permissionDecision": decision if recent else None,
            }
            | self._process(),
            user=True,
        )

    # ---------------------------------------------------------------------------------- the model

    def say(
        self, text: str, *calls: tuple[str, Mapping[str, object]], fresh: int, output: int
    ) -> list[Call]:
        """The model answers: one record for each block, all with the same usage.

        Args:
            text: What it says; empty for nothing but calls.
            calls: Tools with their arguments.
            fresh: Tokens that the context grew by since the last answer.
            output: Tokens of the answer.
        """
        tokens = self._use(fresh, output)
        message, request, reference = (
            self.ids.api("msg_01"),
            self.ids.api("req_011"),
            self.ids.uuid(),
        )
        blocks: list[Json] = [{"type": "text", "text": text}] if text else []
        blocks += [
            {"type": "tool_use", "id": self.ids.api("toolu_01"), "name": tool, "input": arguments}
            for tool, arguments in calls
        ]
        if self.client.recent and not self.agent:
            self._request(reference)
        stop = "tool_use" if calls else "end_turn"
        made: list[Call] = []
        for index, block in enumerate(blocks):
            self.wait(0.4 + 0.3 * index)
            early = self.client.inline and index < len(blocks) - 1
            body: Json = {
                "message": {
                    "id": message,
                    "type": "message",
                    "role": "assistant",
                    "model": self.model,
                    "content": [block],
                    "stop_reason": None if early else stop,
                    "stop_sequence": None,
                    "usage": self.usage(tokens),
                }
                | ({"stop_details": None} if self.client.recent else {})
            }
            if self.client.recent:
                body |= {"toolInputStreamMs": 40 + 11 * index} if "name" in block else {}
                body |= {
                    "apiBlockIndex": index,
                    "requestId": request,
                    "requestRef": reference,
                    "requestedModel": self.model,
                    "promptCacheRequested": "5m" if self.agent else "1h",
                }
                body |= {"attributionAgent": self.agent_type} if self.agent else {}
                body |= {"type": "assistant"} | HERE | {"effort": "medium"}
                body |= {"perTurnEffort": "medium", "madeBy": "model"} | self._process()
            else:
                body |= {"requestId": request, "type": "assistant"} | HERE
            unique = self.thread(body)
            if "name" in block:
                tool, arguments = calls[len(made)]
                made.append(Call(tool, arguments, str(block["id"]), unique))
        return made

    def _use(self, fresh: int, output: int) -> Tokens:
        long_lived = self.client.recent and not self.agent
        tokens = Tokens(
            fresh=4 + len(self.used) % 5,
            read=self.cached,
            write_5m=0 if long_lived else fresh,
            write_1h=fresh if long_lived else 0,
            output=output,
            thinking=output // 4 if self.client.recent else 0,
        )
        self.cached += fresh
        self.used.append((self.model, tokens))
        return tokens

    def usage(self, tokens: Tokens) -> Json:
        """The usage object of this version."""
        written: Json = {
            "cache_creation_input_tokens": tokens.write_5m + tokens.write_1h,
            "cache_read_input_tokens": tokens.read,
        }
        if self.client.inline:
            return (
                {"input_tokens": tokens.fresh}
                | written
                | {
                    "cache_creation": {
                        "ephemeral_5m_input_tokens": tokens.write_5m,
                        "ephemeral_1h_input_tokens": tokens.write_1h,
                    },
                    "output_tokens": tokens.output,
                    "service_tier": "standard",
                }
            )
        usage: Json = {"input_tokens": tokens.fresh} | written | {"output_tokens": tokens.output}
        if self.client.recent:
            usage["output_tokens_details"] = {"thinking_tokens": tokens.thinking}
        usage |= {
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "service_tier": "standard",
            "cache_creation": {
                "ephemeral_1h_input_tokens": tokens.write_1h,
                "ephemeral_5m_input_tokens": tokens.write_5m,
            },
            "inference_geo": "not_available" if self.client.recent else "",
            "iterations": [],
            "speed": "standard",
        }
        return usage | ({"fallback_credit": None} if self.client.recent else {})

    def _request(self, reference: str) -> None:
        """The record of the request itself, shortened: without the list of betas and cache marks."""
        self.loose(
            "api-request",
            sessionId=self.place.session,
            id=reference,
            timestamp=stamp(self.now),
            version=self.client.version,
            querySource="repl_main_thread",
            params={
                "model": self.model,
                "max_tokens": 128000,
                "output_config": {"effort": "medium"},
            },
            keep=2 * len(self.used) - 2,
        )
