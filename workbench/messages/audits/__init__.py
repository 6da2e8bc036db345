"""What audits of a session found, in sentences; a file each for those of `analysis.audits`."""

from workbench.messages.audits import base, load, servers, surroundings, within

__all__ = ["base", "load", "servers", "surroundings", "within"]
