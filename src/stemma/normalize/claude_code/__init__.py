"""The adapter for Claude Code's transcripts."""
