"""Placeholder for the ping-pong with Magnum Py, whose source is not included."""

import sys

sys.exit("Put the source of Magnum Py into the folder source, and write the ping-pong here.")
