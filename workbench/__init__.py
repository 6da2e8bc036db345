"""Pongbench without a window: plans, machines, servers, load, sessions and their analysis."""

__version__ = "0.1.0"
