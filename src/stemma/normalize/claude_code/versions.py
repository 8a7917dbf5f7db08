"""What each client version can and cannot tell: the adapter's capability declaration."""

from __future__ import annotations

from stemma.normalize.port import Capability

CAPABILITIES = (
    Capability(
        "token usage per response",
        "1.0.17",
        measured=True,
        note="output is a lower bound before 2.1.51",
    ),
    Capability(
        "cache writes by time to live",
        "1.0.111",
        measured=True,
        note="older records count as five-minute writes",
    ),
    Capability("service speed", "2.1.41", measured=True, note=""),
    Capability("inference geography", "2.1.17", measured=True, note=""),
    Capability(
        "agent transcripts of their own",
        "2.0.60",
        measured=True,
        note="older agents are inline sidechains",
    ),
    Capability(
        "agent parent by sidecar",
        "2.1.200",
        measured=True,
        note="parentAgentId of nested agents from 2.1.332",
    ),
    Capability(
        "agent parent by result record",
        "2.0.60",
        measured=True,
        note="written when the call returns",
    ),
    Capability(
        "background agent's end",
        "2.1.30",
        measured=True,
        note="as a task notification; lost when the process dies",
    ),
    Capability("skill attribution of responses", "2.1.123", measured=True, note=""),
    Capability(
        "denial kind",
        "2.1.210",
        measured=True,
        note="earlier, a refusal and an interrupt look alike",
    ),
    Capability("turn duration", "2.1.1", measured=True, note="interactive sessions only"),
    Capability(
        "client's own running totals",
        "2.1.332",
        measured=True,
        note="absent while live and after SIGKILL",
    ),
    Capability(
        "process end",
        "2.1.332",
        measured=True,
        note="from the running totals; earlier clients do not say",
    ),
    Capability(
        "usage of compaction calls",
        "",
        measured=False,
        note="in no transcript: unsupported, not estimated",
    ),
    Capability(
        "usage of small helper calls",
        "",
        measured=False,
        note="in no transcript: unsupported, not estimated",
    ),
    Capability("permission waiting", "", measured=False, note="only hooks show a pending dialog"),
    Capability(
        "thinking text", "", measured=False, note="since 2.1.91 blocks carry only a signature"
    ),
)
