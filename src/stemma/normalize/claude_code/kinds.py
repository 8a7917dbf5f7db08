"""Kinds of records that this adapter knows. Any other is counted, kept reachable, and shown by ``stemma doctor``."""

from __future__ import annotations

TYPES = frozenset(
    [
        "user",
        "assistant",
        "system",
        "attachment",
        "summary",
        "queue-operation",
        "progress",
        "cost-state",
        "ai-title",
        "custom-title",
        "agent-name",
        "agent-color",
        "agent-setting",
        "pr-link",
        "file-history-snapshot",
        "file-history-delta",
        "last-prompt",
        "mode",
        "permission-mode",
        "api-request",
        "api-request-shape",
        "api-request-blob",
        "atis-latch",
        "tools-used",
        "fork-context-ref",
        "tag",
        "frame-link",
        "relocated",
        "derived-from",
        "continued-in",
        "session-owner",
        "worktree-state",
        "memory-mode",
        "content-replacement",
        "attribution-snapshot",
        "bridge-session",
        "observer-ref",
    ]
)
"""Top-level types written by the clients that were looked at (FORMATS section c)."""

SYSTEM_SUBTYPES = frozenset(
    [
        "compact_boundary",
        "microcompact_boundary",
        "stop_hook_summary",
        "turn_duration",
        "api_error",
        "away_summary",
        "local_command",
        "informational",
        "bridge_status",
    ]
)
"""Subtypes of ``system`` records."""

ATTACHMENTS = frozenset(
    [
        "environment",
        "model",
        "session_context",
        "date",
        "instructions",
        "skill_listing",
        "invoked_skills",
        "agent_listing_delta",
        "deferred_tools_delta",
        "mcp_instructions_delta",
        "prompt_snapshot",
        "auto_mode",
        "plan_mode",
        "remote_session_change",
        "command_permissions",
        "queued_command",
        "edited_text_file",
        "diagnostics",
        "nested_memory",
        "goal_status",
        "task_reminder",
        "total_tokens_reminder",
        "hook_success",
        "hook_non_blocking_error",
        "hook_cancelled",
        "hook_additional_context",
        "hook_system_message",
        "async_hook_response",
        "opened_file_in_ide",
        "selected_lines_in_ide",
        "directory",
        "date_change",
        "plan_mode_exit",
        "ultra_effort_enter",
    ]
)
"""Kinds of ``attachment`` records."""
