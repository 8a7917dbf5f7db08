"""Bytes in: the only stage that touches the agents' files, and it only reads them.

Start reading at ``poll.py``: what changed since the last look. ``contain.py`` opens what changed, ``checkpoint.py``
says where to read on, ``tail.py`` reads.
"""
