"""Generators and measurements."""
