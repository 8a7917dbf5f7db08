"""How a session file begins: fresh, after ``/clear``, or as a fork's copied history."""

# the chances of a mix are plain numbers
# ruff: noqa: PLR2004

import re

from bench.corpus_dialects import Level
from bench.corpus_records import Chain
from bench.corpus_text import filler, wire
from bench.corpus_turns import Conversation

UUID = re.compile(r'"uuid":"([-0-9a-f]{36})"')
PROMPT_ID = re.compile(r'"promptId":"[-0-9a-f]{36}"')
REQUEST_ID = re.compile(r',"requestId":"[^"]*"')
LAST_TIMESTAMP = re.compile(r'"timestamp":"[^"]*"(?=[^"]*(?:"isMeta":false)?}$)')
CLEAR_TAGS = "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>"


def start(talk: Conversation) -> None:
    """Write the opening records of a new session, whatever its version has."""
    chain, rng, fill = talk.chain, talk.rng, filler()
    if chain.level == Level.V1_0_128 and rng.random() < 0.8:
        chain.lines.append(
            f'{{"type":"summary","summary":"{fill.phrase(rng)}","leafUuid":"{chain.ids.uuid()}"}}'
        )
    if chain.level == Level.V2_1_20 and rng.random() < 0.6:
        chain.progress(
            '"type":"hook_progress","hookEvent":"SessionStart","command":"prepare.sh"',
            chain.ids.uuid(),
        )
    modes(chain)
    if chain.level >= Level.V2_1_112:
        _list_tools(talk)
    if chain.level >= Level.V2_1_332:
        _announce(talk)


def _list_tools(talk: Conversation) -> None:
    chain, rng, fill = talk.chain, talk.rng, filler()
    names = ",".join(f'"{fill.phrase(rng)}"' for _ in range(30))
    fields = f'"addedNames":[{names}],"addedLines":[{names}],"removedNames":[]'
    chain.attachment(f'"type":"deferred_tools_delta",{fields}')
    skills = fill.prose.take(rng, 6_000)
    chain.attachment(
        f'"type":"skill_listing","content":"{skills}","skillCount":24,"isInitial":true', skills
    )


def _announce(talk: Conversation) -> None:
    chain, rng, fill = talk.chain, talk.rng, filler()
    for kind in (
        "environment",
        "model",
        "agent_listing_delta",
        "auto_mode",
        "session_context",
        "date",
    ):
        text = fill.prose.take(rng, 200 if kind != "agent_listing_delta" else 1_700)
        chain.attachment(f'"type":"{kind}","text":"{fill.phrase(rng)}"', text)
    prompts = ",".join(f'"{fill.prose.take(rng, 1_400)}"' for _ in range(6))
    chain.attachment(
        f'"type":"prompt_snapshot","systemPrompt":[{prompts}],"contextRendering":"announced"'
    )
    chain.note("atis-latch", '"atis":""')
    if rng.random() < 0.6:
        talk.log_shape()


def modes(chain: Chain) -> None:
    """Write the mode records that newer versions repeat again and again."""
    if chain.level >= Level.V2_1_200:
        chain.note("mode", '"mode":"normal"')
    if chain.level >= Level.V2_1_112:
        chain.note("permission-mode", '"permissionMode":"default"')


def clear(chain: Chain) -> None:
    """Write the opening records of a session that follows ``/clear``."""
    chain.user(f'"{wire(CLEAR_TAGS)}"')
    chain.system("local_command", '"content":"<local-command-stdout></local-command-stdout>",')
    modes(chain)


def copy_history(chain: Chain, lines: list[str], session: str) -> None:
    """Write a fork's copy of the chain records among ``lines``, which belong to ``session``."""
    prompt = chain.ids.uuid()
    for line in lines:
        if line.startswith('{"parentUuid"'):
            chain.lines.append(_copied(chain, line.replace(session, chain.place.session), prompt))
            chain.parent = UUID.findall(line)[-1]


def _copied(chain: Chain, line: str, prompt: str) -> str:
    if chain.level == Level.V2_1_332:
        return PROMPT_ID.sub(f'"promptId":"{prompt}"', line, count=1)
    if chain.level > Level.V1_0_128:
        return line
    line = REQUEST_ID.sub("", line, count=1)
    head, mark, _ = line.rpartition(',"toolUseResult":')
    return LAST_TIMESTAMP.sub(f'"timestamp":"{chain.clock.stamp(1)}"', head + "}" if mark else line)
