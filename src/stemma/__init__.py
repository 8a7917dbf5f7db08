"""Stemma: the family tree of coding agents, reconstructed from their transcripts."""

__version__ = "0.1.0"
