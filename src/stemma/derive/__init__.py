"""Relationships and claims to facts: pure, re-derived whole for every touched key; grade derived."""
