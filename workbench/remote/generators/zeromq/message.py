"""A message, as servers write it; see `resources/apps/zeromq.py`."""

import struct

TOPIC = b"pong"
HEADER = struct.Struct("<4s?xxxQQQ")
"""Topic, whether the rest is given, number, and when it was scheduled and sent (ns of the sender's
monotonic clock)."""
GIVEN = 4
"""The byte that says so."""
WAIT_S = 4.0
"""The longest wait for an answer of the server."""
SLICE_MS = 20
"""The longest wait before windows are closed and commands are read."""


class Refused(Exception):
    """The server does not do what was asked; the text is a sentence."""
