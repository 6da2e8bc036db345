"""Placeholder for the ping-pong with FriendlyFlow, whose source is not included."""

import sys

sys.exit("Put the source of FriendlyFlow into the folder source, and write the ping-pong here.")
