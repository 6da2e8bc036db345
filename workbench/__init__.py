"""Pongbench without a window: plans, machines, servers, load, sessions and their analysis."""

__version__ = "1.0.0"
