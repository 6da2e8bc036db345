"""Processes of this machine: who descends from whom, and their end."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time

POLL_S = 0.02
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
libc = ctypes.CDLL(None)


def prctl(option: int, value: int) -> None:
    libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def descendants(root: int) -> list[int]:
    """Return the processes below `root`, without zombies."""
    children: dict[int, list[int]] = {}
    alive = set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
                children.setdefault(int(parent), []).append(int(name))
                if state not in b"ZX":
                    alive.add(int(name))
    found = []
    todo = [root]
    while todo:
        below = children.get(todo.pop(), [])
        todo += below
        found += [pid for pid in below if pid in alive]
    return found


def send_signal(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)


def may_signal(pid: int) -> bool:
    """Return False for a process that has become another user's."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return False
    except OSError:
        pass
    return True


def end_descendants(grace_s: float) -> int:
    """Send SIGTERM, after `grace_s` SIGKILL, until no child is left. Returns how many survived that
    for two seconds."""
    kill_at = time.monotonic() + grace_s
    asked: set[int] = set()
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return 0
        now = time.monotonic()
        left = descendants(os.getpid())
        if now > kill_at + 2:
            return len(left)
        for pid in left:
            if now >= kill_at:
                send_signal(pid, signal.SIGKILL)
            elif pid not in asked:
                asked.add(pid)
                send_signal(pid, signal.SIGTERM)
        time.sleep(POLL_S / 2)


def has_mark(pid: int, mark: bytes) -> bool:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        return mark in file.read().split(b"\0")
    return False
