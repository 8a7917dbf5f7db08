"""The sessions in Ada's documentation: a background agent that reports later, and a workflow."""

from datetime import UTC, datetime, timedelta

from tools.sample.clients import (
    MIDDLE,
    RECENT,
    Call,
    Json,
    Place,
    Transcript,
    lines,
    milliseconds,
    stamp,
)
from tools.sample.scenes import (
    HAIKU,
    OPUS,
    SONNET_46,
    Child,
    Files,
    agent_files,
    bill,
    child_of,
    last_prompt,
    launched,
    main,
    notify,
    session_file,
    sidecar,
    spawn_arguments,
    subagent,
    surroundings,
    title,
    turn_took,
)

CWD = "/home/ada/docs-site"
BACKGROUND = Place("2d94b6e0-f173-4a8c-8c55-61e0b7d93af2", CWD, "main")
WORKFLOW = Place("e85f04c2-37ba-4d91-92e6-0fa7c1b8d463", CWD, "link-check")
RUN, TASK, NAME = "wf_4c1d77a0-9e2", "w7k2m9q4t", "link-check"


def a_background_agent() -> Files:
    """The agent is started, the session goes on and comes to rest; then the notification arrives."""
    session = main(
        MIDDLE, BACKGROUND, SONNET_46, datetime(2026, 4, 21, 8, 50, 12, 18_000, tzinfo=UTC)
    )
    prompt = "Collect the screenshots that show the old logo. Meanwhile update the footer."
    session.prompt(prompt)
    session.wait(1.6)
    (start,) = session.say(
        "The search can run in the background.",
        ("Agent", spawn_arguments(
            "Find old screenshots",
            "List the images under static/ that show the old logo.",
            "general-purpose",
            run_in_background=True,
        )),
        fresh=700,
        output=158,
    )  # fmt: skip
    child = child_of(start)
    agent = subagent(session, child, SONNET_46, after=0.3)
    session.wait(0.4)
    launched(session, agent, child)
    agent.wait(1.2)
    (look,) = agent.say(
        "", ("Bash", {"command": "ls static", "description": "List images"}), fresh=330, output=63
    )
    agent.wait(38)
    agent.result(look, "cart.png\nlogin.png\nlogo-2019.png")
    agent.wait(2.4)
    agent.say("Two: cart.png and login.png.", fresh=120, output=39)

    session.wait(1.1)
    (edit,) = session.say(
        "",
        ("Edit", {"file_path": f"{CWD}/footer.html", "old_string": "2025", "new_string": "2026"}),
        fresh=260,
        output=121,
    )
    session.wait(0.2)
    detail = {"filePath": f"{CWD}/footer.html", "oldString": "2025", "newString": "2026"}
    session.result(edit, "The file has been updated successfully.", detail)
    session.wait(1.3)
    session.say("The footer is done. The search is still running.", fresh=140, output=47)
    turn_took(session, 6.9)
    session.now = max(session.now, agent.now) + timedelta(seconds=0.6)
    notify(
        session,
        agent.agent,
        start,
        f'Agent "{child.description}" completed',
        {"result": "Two: cart.png and login.png."},
    )
    session.wait(1.2)
    session.say("Two screenshots show the old logo: cart.png and login.png.", fresh=180, output=54)
    last_prompt(session, prompt)
    return session_file(session) | agent_files(agent, sidecar(agent, child, session))


def a_workflow() -> Files:
    """A script runs two agents; their files lie in the folder of the run."""
    begins = datetime(2026, 11, 20, 14, 31, 7, 330_000, tzinfo=UTC)
    session = main(RECENT, WORKFLOW, OPUS, begins)
    prompt = "Check the links of the guide and of the reference, each on its own."
    session.prompt(prompt)
    surroundings(session)
    session.wait(2.2)
    script = (
        "export const meta = { name: 'link-check', description: 'Links of two chapters' }\n"
        "return await pipeline(['guide', 'reference'], c => agent('Dead links in ' + c, { label: c }))\n"
    )
    (start,) = session.say(
        "A small workflow does both.",
        ("Workflow", {"script": script, "description": "Check links"}),
        fresh=810,
        output=246,
    )
    folder = f"/home/ada/.claude/projects/{WORKFLOW.slug}/{WORKFLOW.session}"
    scripted = f"workflows/scripts/{NAME}-{RUN}.js"
    detail: Json = {"status": "async_launched", "taskId": TASK, "taskType": "local_workflow"}
    detail |= {"workflowName": NAME, "runId": RUN, "summary": "Links of two chapters"}
    detail |= {"transcriptDir": f"{folder}/subagents/workflows/{RUN}"}
    session.wait(0.4)
    session.result(
        start,
        f"The workflow runs in the background. Task ID: {TASK}",
        detail | {"scriptPath": f"{folder}/{scripted}"},
    )
    agents = {
        "guide": _checker(session, start, "guide", "No dead links.", after=0.210),
        "reference": _checker(session, start, "reference", "One: /api/v1/tokens.", after=0.214),
    }
    session.wait(1.0)
    session.say("I will report when both are done.", fresh=130, output=31)
    turn_took(session, 4.8)
    session.now = max(agent.now for agent in agents.values()) + timedelta(seconds=0.5)
    results = {"guide": "No dead links.", "reference": "One: /api/v1/tokens."}
    notify(
        session,
        TASK,
        start,
        'Workflow "Links of two chapters" completed',
        {"result": " ".join(results.values())},
    )
    session.wait(1.5)
    session.say(
        "The guide is fine. The reference has one dead link: /api/v1/tokens.", fresh=190, output=66
    )
    title(session, "Check links of two chapters")
    last_prompt(session, prompt)
    bill(session, session.used + [use for agent in agents.values() for use in agent.used], begins)

    below = f"projects/{WORKFLOW.slug}/{WORKFLOW.session}"
    files = session_file(session) | {f"{below}/{scripted}": script.encode()}
    files[f"{below}/subagents/workflows/{RUN}/journal.jsonl"] = _journal(session, agents, results)
    files[f"{below}/workflows/{RUN}.json"] = lines([_account(session, start, agents, results)])
    for label, agent in agents.items():
        meta: Json = {"agentType": agent.agent_type, "isBuiltIn": True, "description": label}
        meta |= {"spawnDepth": 1, "requestShape": "foreground", "model": agent.model}
        files |= agent_files(agent, meta | {"inWorkflowRun": True}, f"subagents/workflows/{RUN}")
    return files


def _checker(
    session: Transcript, start: Call, label: str, report: str, *, after: float
) -> Transcript:
    child = Child(start, "workflow-subagent", label, f"Dead links in {label}")
    agent = subagent(session, child, HAIKU, after=after)
    agent.wait(1.1)
    command = {"command": f"linkcheck {label}/", "description": "Check links"}
    (run,) = agent.say("", ("Bash", command), fresh=280, output=57)
    agent.wait(4.5 if label == "guide" else 6.1)
    agent.result(run, report)
    agent.wait(0.9)
    agent.say(report, fresh=90, output=33)
    return agent


def _journal(session: Transcript, agents: dict[str, Transcript], results: dict[str, str]) -> bytes:
    keys = {label: f"v2:{session.ids.hash()}" for label in agents}
    records: list[Json] = [{"type": "launched"}]
    for label, agent in agents.items():
        records.append(
            {"type": "started", "key": keys[label], "agentId": agent.agent, "label": label}
        )
    for label, agent in agents.items():
        record: Json = {"type": "result", "key": keys[label], "agentId": agent.agent}
        record |= {"result": results[label], "toolsUsed": ["Bash"], "sessionId": WORKFLOW.session}
        records.append(record)
    return lines(records)


def _account(
    session: Transcript, start: Call, agents: dict[str, Transcript], results: dict[str, str]
) -> Json:
    """The run as the client sums it up when it ends."""
    progress: list[Json] = []
    for index, (label, agent) in enumerate(agents.items(), start=1):
        began = datetime.fromisoformat(str(agent.records[0]["timestamp"]))
        step: Json = {"type": "workflow_agent", "index": index, "label": label}
        step |= {"agentId": agent.agent, "model": agent.model, "state": "done"}
        step |= {
            "startedAt": milliseconds(began),
            "tokens": agent.used[-1][1].total,
            "toolCalls": 1,
        }
        step |= {"durationMs": milliseconds(agent.now) - milliseconds(began)}
        progress.append(step | {"resultPreview": results[label]})
    account: Json = {"runId": RUN, "timestamp": stamp(session.now), "taskId": TASK}
    account |= {"script": start.arguments["script"], "result": list(results.values())}
    account |= {"agentCount": len(agents), "summary": "Links of two chapters"}
    account |= {"workflowName": NAME, "status": "completed", "defaultModel": session.model}
    return account | {"workflowProgress": progress}
