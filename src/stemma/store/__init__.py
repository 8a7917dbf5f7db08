"""Rows: the only place with SQL."""
