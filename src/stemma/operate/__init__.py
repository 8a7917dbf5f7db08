"""Running it: passes over roots, and what they report."""
