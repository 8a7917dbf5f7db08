"""The sessions in Ada's checkout: subagents within subagents, a fork, an error, an old client."""

import copy
from datetime import UTC, datetime
from typing import NamedTuple

from tools.sample.clients import HERE, HERE_TOO, OLD, RECENT, Ids, Json, Place, Tokens, Transcript
from tools.sample.scenes import (
    HAIKU,
    OPUS,
    SONNET_4,
    Files,
    agent_files,
    bill,
    child_of,
    hand_back,
    last_prompt,
    main,
    session_file,
    sidecar,
    spawn_arguments,
    subagent,
    surroundings,
    title,
    turn_took,
)

CWD = "/home/ada/checkout"
RETRY = Place("5b8c1f0e-2a47-4c19-9d36-7e0f4a61c2d8", CWD, "retry-payments")
FORK = Place("c4e7a913-6d58-4b02-8f21-9ab35d70e614", CWD, "retry-payments")
OVERLOADED = Place("0f62d8b7-91c3-4e5a-b7d4-3c18e95a2f06", CWD, "main")
LEGACY = Place("7a3d2c91-5e80-46f7-a1b9-d24c60f8e357", CWD, "main")


class Origin(NamedTuple):
    """A session that another one continues from.

    Attributes:
        files: What it wrote.
        shared: The records of its first turn, which a fork copies.
        used: What that turn used.
    """

    files: Files
    shared: list[Json]
    used: list[tuple[str, Tokens]]


def retry_payments() -> Origin:
    """A question, two parallel subagents and a nested one, a compaction, an ending."""
    begins = datetime(2026, 11, 18, 9, 12, 4, 210_000, tzinfo=UTC)
    session = main(RECENT, RETRY, OPUS, begins)
    session.loose("mode", mode="normal", sessionId=RETRY.session)
    session.loose("permission-mode", permissionMode="default", sessionId=RETRY.session)
    _ask_where_payments_are_tried(session)
    shared, used = copy.deepcopy(session.records), list(session.used)

    agents = _add_retries(session)
    title(session, "Retry failed payments")
    spent = session.used + [use for agent in agents for use in agent.used]
    spent.append(_compact(session))
    _write_the_message(session)
    last_prompt(session, "Write the commit message.")
    bill(session, spent + session.used[-1:], begins)

    files = session_file(session)
    for agent in agents:
        files |= agent.files
    return Origin(files, shared, used)


def _ask_where_payments_are_tried(session: Transcript) -> None:
    session.prompt("Where do we call the payment provider, and what happens when the call fails?")
    surroundings(session)
    session.wait(1.2)
    (read,) = session.say(
        "I will look at the payment module first.",
        ("Read", {"file_path": f"{CWD}/shop/payment.py"}),
        fresh=640,
        output=96,
    )
    session.wait(0.2)
    session.result(read, "File does not exist.", error=True)
    (search,) = session.say(
        "",
        ("Bash", {"command": "grep -rn 'def charge' shop", "description": "Find the call"}),
        fresh=180,
        output=88,
    )
    session.wait(0.6)
    session.result(search, "shop/payments/client.py:41:    def charge(self, order, card):")
    session.wait(2.0)
    session.say(
        "`shop/payments/client.py` calls the provider in `charge`. A failure is raised to the view, "
        "which shows the error page: nothing is tried again.",
        fresh=140,
        output=142,
    )
    turn_took(session, 7.4)


class _Agent(NamedTuple):
    """A finished subagent: its files, and what it used."""

    files: Files
    used: list[tuple[str, Tokens]]


def _add_retries(session: Transcript) -> list[_Agent]:
    prompt = "Add retries with a growing delay. Check what the provider recommends, and cover it by tests."
    session.wait(95)
    session.prompt(prompt)
    session.wait(2.5)
    survey_call, tests_call = session.say(
        "Two things can be done side by side: a survey of the callers, and the tests.",
        ("Agent", spawn_arguments(
            "Survey callers of charge",
            "List every caller of charge and what it does when charge raises.",
            "Explore",
            model="haiku",
            run_in_background=False,
        )),
        ("Agent", spawn_arguments(
            "Write retry tests",
            "Write tests for retries in charge: success after two failures, and giving up.",
            "general-purpose",
            run_in_background=False,
        )),
        fresh=420,
        output=388,
    )  # fmt: skip
    survey, tests = child_of(survey_call), child_of(tests_call)
    reader = subagent(session, survey, HAIKU, after=0.412)
    writer = subagent(session, tests, OPUS, after=0.419)

    _survey(reader)
    nested = _write_tests(writer)
    hand_back(
        session,
        reader,
        survey,
        "Two callers: the order view and the renewal job. Only the view handles the error.",
    )
    hand_back(
        session,
        writer,
        tests,
        "tests/test_retry.py holds three tests. They fail until charge retries.",
    )

    _edit_and_run(session)
    turn_took(session, 28.5)
    return [
        _Agent(agent_files(reader, sidecar(reader, survey, session)), reader.used),
        _Agent(agent_files(writer, sidecar(writer, tests, session)), writer.used),
        nested,
    ]


def _survey(agent: Transcript) -> None:
    agent.wait(0.9)
    (search,) = agent.say(
        "",
        ("Grep", {"pattern": "\\.charge\\(", "path": "shop", "output_mode": "content"}),
        fresh=310,
        output=74,
    )
    agent.wait(0.3)
    agent.result(search, "shop/orders/views.py:88\nshop/renewals/job.py:27")
    agent.wait(1.1)
    agent.say(
        "Two callers: the order view and the renewal job. Only the view handles the error.",
        fresh=96,
        output=61,
    )


def _write_tests(agent: Transcript) -> _Agent:
    agent.wait(1.4)
    (ask,) = agent.say(
        "Before I write tests I want to know which errors the provider calls temporary.",
        ("Agent", spawn_arguments(
            "Find temporary errors",
            "Read docs/provider.md and name the error codes that may be tried again.",
            "Explore",
            model="haiku",
        )),
        fresh=350,
        output=167,
    )  # fmt: skip
    child = child_of(ask)
    nested = subagent(agent, child, HAIKU, after=0.388)
    nested.wait(0.8)
    (read,) = nested.say(
        "", ("Read", {"file_path": f"{CWD}/docs/provider.md"}), fresh=260, output=52
    )
    nested.wait(0.2)
    nested.result(read, "1\tCodes 429 and 503 are temporary.\n2\tAll others are final.")
    nested.wait(0.9)
    report = "429 and 503 may be tried again; all other codes are final."
    nested.say(report, fresh=120, output=44)
    hand_back(agent, nested, child, report)
    (write,) = agent.say(
        "",
        (
            "Write",
            {
                "file_path": f"{CWD}/tests/test_retry.py",
                "content": "def test_two_failures(): ...\n",
            },
        ),
        fresh=180,
        output=512,
    )
    agent.wait(0.2)
    agent.result(write, f"File created successfully at: {CWD}/tests/test_retry.py")
    agent.wait(1.0)
    agent.say(
        "tests/test_retry.py holds three tests. They fail until charge retries.",
        fresh=540,
        output=58,
    )
    return _Agent(agent_files(nested, sidecar(nested, child, agent)), nested.used)


def _edit_and_run(session: Transcript) -> None:
    path = f"{CWD}/shop/payments/client.py"
    before, after = "return self.post(order, card)", "return retry(self.post, order, card)"
    session.wait(1.5)
    (edit,) = session.say(
        "Now the change itself.",
        ("Edit", {"file_path": path, "old_string": before, "new_string": after}),
        fresh=610,
        output=731,
    )
    session.wait(0.2)
    patch = [
        {
            "oldStart": 44,
            "oldLines": 1,
            "newStart": 44,
            "newLines": 1,
            "lines": [f"-{before}", f"+{after}"],
        }
    ]
    detail = {"filePath": path, "oldString": before, "newString": after, "structuredPatch": patch}
    session.result(edit, f"The file {path} has been updated successfully.", detail)
    command = {"command": "pytest -q tests/test_retry.py", "description": "Run the new tests"}
    mend = {
        "command": "sed -i 's/wait = base/wait *= 2/' shop/payments/retry.py && pytest -q",
        "description": "Double the delay and run all tests",
    }
    session.wait(1.0)
    (run,) = session.say("", ("Bash", command), fresh=790, output=69)
    session.wait(3.1)
    session.result(run, "Exit code 1\n1 failed, 2 passed: the delay was not growing", error=True)
    session.wait(2.0)
    (again,) = session.say("The delay must double.", ("Bash", mend), fresh=240, output=203)
    session.wait(2.8)
    session.result(again, "41 passed")
    session.wait(1.6)
    session.say(
        "`charge` now tries again on 429 and 503, at most four times, with a doubling delay. "
        "The renewal job had no error handling at all: it is covered by the same change.",
        fresh=85,
        output=177,
    )


def _compact(session: Transcript) -> tuple[str, Tokens]:
    """The context is rewritten; the request that does it stands in no transcript, only on the bill."""
    hidden = Tokens(3, session.cached, 0, 410, 684, 120)
    kept = session.leaf
    session.wait(610)
    session.slug, session.leaf = "patient-copper-lantern", None
    before, after = session.cached + 2_650, 4_120
    metadata = {"trigger": "manual", "preTokens": before, "postTokens": after, "durationMs": 9_400}
    metadata |= {"cumulativeDroppedTokens": before - after}
    body: Json = {"logicalParentUuid": kept, "type": "system", "subtype": "compact_boundary"}
    body |= {"content": "Conversation compacted", "isMeta": False} | HERE_TOO
    session.thread(body | {"level": "info", "compactMetadata": metadata})
    session.cached = after
    session.prompt_id = session.ids.uuid()
    summary = (
        "Summary so far: charge retries temporary errors with a doubling delay; three tests pass."
    )
    record: Json = {"type": "user", "message": {"role": "user", "content": summary}}
    record |= {"isVisibleInTranscriptOnly": True, "isCompactSummary": True} | HERE
    session.thread(record, user=True)
    for text in (
        "<command-name>/compact</command-name>\n<command-message>compact</command-message>",
        "<local-command-stdout>Compacted</local-command-stdout>",
    ):
        record = {"type": "user", "message": {"role": "user", "content": text}} | HERE
        session.thread(record | {"rowSource": "local"}, user=True)
    return session.model, hidden


def _write_the_message(session: Transcript) -> None:
    session.wait(20)
    session.prompt("Write the commit message.")
    session.wait(1.8)
    session.say(
        "payments: try temporary failures again\n\nThe provider asks for it on 429 and 503.",
        fresh=96,
        output=64,
    )
    turn_took(session, 2.9)


def a_fork_tries_another_way(origin: Origin) -> Files:
    """The first turn is copied into a new session, which goes on by itself."""
    begins = datetime(2026, 11, 18, 10, 40, 31, 77_000, tzinfo=UTC)
    session = main(RECENT, FORK, OPUS, begins)
    session.loose("mode", mode="normal", sessionId=FORK.session)
    rewritten = session.ids.uuid()
    for record in origin.shared:
        if "uuid" not in record:
            continue
        copied = record | {"sessionId": FORK.session}
        if "promptId" in record:
            copied["promptId"] = rewritten
        if record["type"] == "assistant":
            copied["requestSessionId"] = RETRY.session
        session.records.append(copied)
        session.leaf = str(record["uuid"])
    session.turn = 1
    session.cached = 12_760
    session.prompt("What would it take to put failed payments into a queue instead?")
    session.wait(3.0)
    session.say(
        "A table for pending charges, a worker, and a second state for orders. Retries are the "
        "smaller step, and the queue can follow later.",
        fresh=210,
        output=233,
    )
    turn_took(session, 3.2)
    title(session, "Queue for failed payments")
    bill(session, origin.used + session.used, begins)
    return session_file(session)


def an_overloaded_service() -> Files:
    """The service refuses twice, the turn fails; asked again it answers."""
    begins = datetime(2026, 11, 19, 16, 3, 50, 640_000, tzinfo=UTC)
    session = main(RECENT, OVERLOADED, OPUS, begins)
    prompt = "Which settings does the renewal job read?"
    session.prompt(prompt)
    surroundings(session)
    session.wait(0.8)
    for attempt in (1, 2):
        request = session.ids.api("req_011")
        failure = {"message": "Overloaded", "status": 529, "requestId": request}
        body: Json = {"type": "system", "subtype": "api_error", "level": "error", "error": failure}
        body |= {"retryInMs": 600 * attempt, "retryAttempt": attempt, "maxRetries": 2}
        session.thread(body | {"source": "request_retry"} | HERE_TOO)
        session.wait(0.6 * attempt)
    _give_up(session)
    session.wait(300)
    session.prompt("Try again.")
    session.wait(1.4)
    session.say(
        "Three: the batch size, the hour of the run and the address of the operator.",
        fresh=530,
        output=71,
    )
    turn_took(session, 2.2)
    title(session, "Settings of the renewal job")
    last_prompt(session, "Try again.")
    bill(session, session.used, begins)
    return session_file(session)


def _give_up(session: Transcript) -> None:
    none: Json = {"input_tokens": 0, "output_tokens": 0}
    none |= {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    none |= {"service_tier": None, "inference_geo": None, "iterations": None, "speed": None}
    message: Json = {"id": session.ids.uuid(), "model": "<synthetic>", "role": "assistant"}
    message |= {"stop_reason": "stop_sequence", "stop_sequence": "", "type": "message"}
    message |= {"usage": none, "content": [{"type": "text", "text": "API Error: 529 Overloaded."}]}
    body: Json = {"type": "assistant"} | HERE | {"message": message}
    body |= {"requestId": session.ids.api("req_011"), "error": "server_error"}
    body |= {"isApiErrorMessage": True, "apiErrorStatus": 529, "apiErrorType": "overloaded_error"}
    session.thread(body | {"madeBy": "model"})


def an_old_client() -> Files:
    """A client of 2025 writes its subagent into the session's own file, without an id."""
    session = main(OLD, LEGACY, SONNET_4, datetime(2025, 10, 2, 13, 27, 9, 905_000, tzinfo=UTC))
    session.prompt("Is the shipping cost rounded the same way everywhere?")
    session.wait(2.1)
    (task,) = session.say(
        "I will have that checked.",
        ("Task", spawn_arguments(
            "Check rounding of shipping",
            "Compare how shop/cart.py and shop/invoice.py round the shipping cost.",
            "general-purpose",
        )),
        fresh=900,
        output=133,
    )  # fmt: skip
    child = child_of(task)
    begins = session.now
    inline = Transcript(
        client=OLD, place=LEGACY, ids=Ids(f"{LEGACY.session}/inline"), now=session.now,
        model=SONNET_4, sidechain=True, cached=3_100, records=session.records,
    )  # fmt: skip
    inline.wait(0.7)
    inline.prompt(child.prompt)
    inline.wait(1.9)
    (look,) = inline.say(
        "",
        ("Bash", {"command": "grep -n round shop/cart.py shop/invoice.py", "description": "Look"}),
        fresh=420,
        output=91,
    )
    inline.wait(0.5)
    inline.result(look, "shop/cart.py:19: round(cost, 2)\nshop/invoice.py:54: cost.quantize(CENT)")
    inline.wait(1.7)
    report = "They differ: the cart rounds floats, the invoice quantizes decimals."
    inline.say(report, fresh=150, output=66)

    session.now = inline.now
    session.wait(0.4)
    _, last = inline.used[-1]
    texts: list[Json] = [{"type": "text", "text": report}]
    took = round((inline.now - begins).total_seconds() * 1000)
    detail: Json = {"content": texts, "totalDurationMs": took, "totalTokens": last.total}
    session.result(task, texts, detail | {"totalToolUseCount": 1, "usage": inline.usage(last)})
    session.wait(2.2)
    session.say(
        "No. The cart rounds floats, the invoice rounds decimals, half a cent apart.",
        fresh=130,
        output=78,
    )
    session.loose("summary", summary="Rounding of shipping costs", leafUuid=session.leaf)
    return session_file(session)
