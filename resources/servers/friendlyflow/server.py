"""Placeholder for the ping-pong with FriendlyFlow, whose source is not available."""

import sys

sys.exit("Put the source of FriendlyFlow into the folder source, and write the ping-pong here.")
