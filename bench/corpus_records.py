"""Builders of single records: key sets and key order of each client version.

A ``Chain`` is one ``parentUuid`` chain (the main thread or an agent). It knows
the envelope; callers give it content. Records outside chains are functions of
``Chain`` too, since they share its session id and clock.
"""

import random
from typing import NamedTuple

from bench.corpus_dialects import Dialect, Level, Usage, usage_json
from bench.corpus_text import Clock, Ids
from bench.corpus_tools import Call

BLOCK_EXTRAS = {  # by the first letters of a block's type; from 2.1.332 on
    "text": "",
    "thin": '"thinkingDurationMs":812,"thinkingDisplay":"updates",',
    "tool": '"toolInputStreamMs":13,',
}


class Lines:
    """Lines of one file, in wire text without line ends."""

    def __init__(self) -> None:
        """Start empty."""
        self.pending: list[str] = []
        self.size = 0
        self.count = 0

    def append(self, line: str) -> None:
        """Add one line."""
        self.pending.append(line)
        self.size += len(line) + 1
        self.count += 1

    def drain(self) -> bytes:
        """Return the pending lines as bytes and forget them."""
        if not self.pending:
            return b""
        text = "\n".join(self.pending)
        self.pending.clear()
        return text.encode("latin-1") + b"\n"


class Place(NamedTuple):
    """Where and with which version a session runs.

    Attributes:
        process: Session id that the process started with; differs after ``/clear``.
    """

    dialect: Dialect
    cwd: str
    branch: str
    session: str
    process: str
    slug: str


class Message(NamedTuple):
    """One API response: what all its records share.

    Attributes:
        ref: Id of its api-request record, where the version writes one.
    """

    id: str
    request: str
    ref: str
    model: str
    usage: Usage
    stop: str


class Chain:
    """Writes the records of one chain and keeps its last uuid."""

    def __init__(
        self, place: Place, rng: random.Random, lines: Lines, clock: Clock, *, agent: str = ""
    ) -> None:
        """Open a chain with no record.

        Args:
            place: Version to imitate and session facts for the envelope.
            rng: Source of ids and times.
            lines: File to write to; inline agents share the session's.
            clock: Time; shared by chains that run in step.
            agent: Agent id, empty for the main thread.
        """
        self.dialect = place.dialect
        self.level = place.dialect.level
        self.place = place
        self.lines = lines
        self.clock = clock
        self.agent = agent
        self.ids = Ids(rng)
        self.parent = ""
        self.prompt_id = ""
        self.agent_type = ""
        self.spoken = ""
        self._random = rng.random
        self._envelope()

    def _envelope(self) -> None:
        place, side = self.place, "true" if self.agent else "false"
        agent = f'"agentId":"{self.agent}",' if self.agent and self.level > Level.V1_0_128 else ""
        where = (
            f'"cwd":"{place.cwd}","sessionId":"{place.session}","version":"{self.dialect.version}",'
            f'"gitBranch":"{place.branch}"'
        )
        slug = f'"slug":"{place.slug}"' if place.slug else ""
        if self.level < Level.V2_1_112:
            slug = slug and slug + ","
            self._head = f'"isSidechain":{side},"userType":"external",{where},{agent}{slug}'
            self._agent = self._tail = ""
            return
        process = (
            f',"session_id":"{place.process}"'
            if self.level >= Level.V2_1_332 and not self.agent
            else ""
        )
        self._head = f'"isSidechain":{side},'
        self._agent = agent
        self._tail = f'{process},"userType":"external","entrypoint":"cli",{where}' + (
            slug and "," + slug
        )

    def move(self, place: Place) -> None:
        """Go on in another session or branch."""
        self.place = place
        self._envelope()

    def now(self) -> str:
        """Move the clock on by up to four seconds and return the time."""
        return self.clock.stamp(20 + int(self._random() * 4000))

    def link(self, body: str, uuid: str, *, user: bool = False) -> None:
        """Write a record of the chain; it becomes the parent of the next."""
        parent = f'"{self.parent}"' if self.parent else "null"
        prompt = f'"promptId":"{self.prompt_id}",' if user and self._tail else ""
        self.lines.append(
            f'{{"parentUuid":{parent},{self._head}{prompt}{self._agent}{body}{self._tail}}}'
        )
        self.parent = uuid

    def user(self, content: str, extra: str = "", meta: str = "") -> str:
        """Write a user record whose ``content`` is a JSON text; return its uuid."""
        uuid = self.ids.uuid()
        source = ""
        if self.level >= Level.V2_1_332 and not meta:
            if content.startswith('[{"type":"text"'):
                source = '"rowSource":"harness",'
            elif self.agent and content.startswith('"'):
                source = '"rowSource":"recorded",'
        self.link(
            f'"type":"user","message":{{"role":"user","content":{content}}},{meta}{source}"uuid":"{uuid}",'
            f'"timestamp":"{self.now()}"{extra}',
            uuid,
            user=True,
        )
        return uuid

    def block(self, message: Message, content: str, *, output: int, index: int) -> str:
        """Write one content block of a response as a record of its own; return its uuid."""
        level, uuid = self.level, self.ids.uuid()
        modern = level >= Level.V2_1_112
        stop = f'"{message.stop}"' if modern and message.stop else "null"
        details = ',"stop_details":null' if level >= Level.V2_1_332 else ""
        before = after = late = ""
        if level >= Level.V2_1_332:
            agent = f'"attributionAgent":"{self.agent_type}",' if self.agent else ""
            before = BLOCK_EXTRAS[content[9:13]] + f'"apiBlockIndex":{index},'
            after = (
                f'"requestRef":"{message.ref}","requestedModel":"{message.model}","promptCacheRequested":'
                f'"{"1h" if message.usage.write_1h else "5m"}",{agent}'
            )
            late = ',"effort":"medium","perTurnEffort":"medium","madeBy":"model"'
        self.spoken = (
            f'{{"model":"{message.model}","id":"{message.id}","type":"message","role":"assistant",'
            f'"content":[{content}],"stop_reason":{stop},"stop_sequence":null,'
            f'"usage":{usage_json(level, message.usage, output)}{details}}}'
        )
        self.link(
            f'"message":{self.spoken},{before}"requestId":"{message.request}",{after}"type":"assistant",'
            f'"uuid":"{uuid}","timestamp":"{self.now()}"{late}',
            uuid,
        )
        return uuid

    def result(self, call: Call, tool: str, source: str) -> None:
        """Write the result of the call ``tool`` that the record ``source`` made."""
        level = self.level
        if level >= Level.V2_1_112:
            self.parent = source
        kept = call.error or not self.agent or level < Level.V2_1_20
        extra = f',"toolUseResult":{call.result}' if kept else ""
        if level >= Level.V2_1_20:
            extra += f',"sourceToolAssistantUUID":"{source}"'
        if level >= Level.V2_1_332:
            extra += (
                ',"permissionDecision":{"decision":"accept","source":"config","reasonType":"mode"}'
            )
        if call.error:
            block = f'{{"type":"tool_result","content":{call.content},"is_error":true,"tool_use_id":"{tool}"}}'
        else:
            flag = ',"is_error":false' if call.name == "Bash" else ""
            block = (
                f'{{"tool_use_id":"{tool}","type":"tool_result","content":{call.content}{flag}}}'
            )
        self.user(f"[{block}]", extra)

    def system(self, subtype: str, fields: str, level: str = "info") -> None:
        """Write a system record with ``fields`` (JSON members with a trailing comma)."""
        uuid = self.ids.uuid()
        self.link(
            f'"type":"system","subtype":"{subtype}",{fields}"level":"{level}","timestamp":"{self.now()}",'
            f'"uuid":"{uuid}","isMeta":false',
            uuid,
        )

    def attachment(self, fields: str, rendered: str = "") -> None:
        """Write an attachment record; ``rendered`` is its text as sent, from 2.1.332 on."""
        uuid = self.ids.uuid()
        shown = (
            f',"rendered":[{{"content":"{rendered}"}}],"renderedRole":"system"' if rendered else ""
        )
        if self.level < Level.V2_1_332:
            shown = ""
        self.link(
            f'"attachment":{{{fields}}},"type":"attachment","uuid":"{uuid}","timestamp":"{self.now()}"{shown}',
            uuid,
        )

    def progress(self, data: str, tool: str) -> None:
        """Write a progress record about the call ``tool``."""
        uuid = self.ids.uuid()
        self.link(
            f'"type":"progress","data":{{{data}}},"toolUseID":"{tool}","parentToolUseID":"{tool}","uuid":"{uuid}",'
            f'"timestamp":"{self.now()}"',
            uuid,
        )

    def synthetic(self, text: str, *, failed: bool) -> None:
        """Write the client's own assistant record: an API failure or an answer nobody asked for."""
        uuid = self.ids.uuid()
        zeros = '"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,'
        error = '"error":"server_error",' if failed and self.level >= Level.V2_1_112 else ""
        self.link(
            f'"type":"assistant","uuid":"{uuid}","timestamp":"{self.now()}","message":{{"id":"{self.ids.uuid()}",'
            '"container":null,"model":"<synthetic>","role":"assistant","stop_reason":"stop_sequence",'
            f'"stop_sequence":"","type":"message","usage":{{{zeros}"server_tool_use":{{"web_search_requests":0}},'
            '"service_tier":null,"cache_creation":{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":0}},'
            f'"content":[{{"type":"text","text":"{text}"}}]}},{error}"isApiErrorMessage":{str(failed).lower()}',
            uuid,
        )

    def compact(self, summary: str, tokens: int) -> None:
        """Write a compaction: a new root, then the summary."""
        last, self.parent = self.parent, ""
        uuid = self.ids.uuid()
        post = (
            f',"postTokens":{tokens // 9},"durationMs":48211'
            if self.level >= Level.V2_1_112
            else ""
        )
        parent = f'"logicalParentUuid":"{last}",'
        self.lines.append(
            f'{{"parentUuid":null,{parent}{self._head}"type":"system","subtype":"compact_boundary",'
            f'"content":"Conversation compacted","isMeta":false,"timestamp":"{self.now()}","uuid":"{uuid}",'
            f'"level":"info","compactMetadata":{{"trigger":"auto","preTokens":{tokens}{post}}}{self._tail}}}'
        )
        self.parent = uuid
        self.user(f'"{summary}"', meta='"isVisibleInTranscriptOnly":true,"isCompactSummary":true,')

    def note(self, kind: str, fields: str) -> None:
        """Write a record outside the chain: type, ``fields``, session id."""
        self.lines.append(f'{{"type":"{kind}",{fields},"sessionId":"{self.place.session}"}}')

    def queue(self, operation: str, content: str = "") -> None:
        """Write a queue-operation record."""
        text = f',"content":"{content}"' if content else ""
        self.lines.append(
            f'{{"type":"queue-operation","operation":"{operation}","timestamp":"{self.now()}",'
            f'"sessionId":"{self.place.session}"{text}}}'
        )

    def snapshot(self, message: str, path: str) -> None:
        """Write a file-history-snapshot record; it has neither time nor session of its own."""
        time = self.clock.stamp(1)
        backup = (
            f'"{path}":{{"backupFileName":"{message[:8]}@v1","version":1,"backupTime":"{time}"}}'
            if path
            else ""
        )
        self.lines.append(
            f'{{"type":"file-history-snapshot","messageId":"{message}","snapshot":{{"messageId":"{message}",'
            f'"trackedFileBackups":{{{backup}}},"timestamp":"{time}"}},"isSnapshotUpdate":false}}'
        )
