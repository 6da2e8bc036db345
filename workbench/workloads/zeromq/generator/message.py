"""A message, as servers write it; see `resources/apps/zeromq.py`."""

import struct

TOPIC = b"pong"
HEADER = struct.Struct("<4sQQQ")
"""Topic, number, and when it was scheduled and sent (ns of the sender's monotonic clock)."""
SLICE_MS = 20
"""The longest wait before windows are closed and commands are read."""


class Refused(Exception):
    """The server does not do what was asked; the text is a sentence."""
