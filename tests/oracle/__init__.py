"""The independent reader of transcripts."""
