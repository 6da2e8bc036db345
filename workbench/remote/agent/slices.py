"""How soon a worker runs after it has woken."""

from __future__ import annotations

import ctypes
import os
import platform
import struct

_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}
"""The number of the system call, which C libraries before glibc 2.41 do not have."""
_KEEP_POLICY = 8
_SHORTEST_NS = 100_000


def ask_for_short_slices() -> None:
    """Ask for the shortest slices of CPU time there are (Linux 6.12 and later; others ignore it).

    A process with a shorter slice than the one that runs may take over as soon as it wakes, unless
    it has had its share of the core (see docs/tools.md for what that gains). The share stays the
    same, and no privilege is needed.
    """
    number = _SCHED_SETATTR.get(platform.machine())
    if number is None:
        return
    # struct sched_attr: size, policy, flags, nice, priority, runtime, deadline, period.
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    attributes = struct.pack("=IIQiIQQQ", 48, 0, _KEEP_POLICY, nice, 0, _SHORTEST_NS, 0, 0)
    ctypes.CDLL(None).syscall(number, 0, attributes, 0)
