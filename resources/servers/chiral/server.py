"""Placeholder for the ping-pong with Chiral, whose source is not included."""

import sys

sys.exit("Put the source of Chiral into the folder source, and write the ping-pong here.")
