"""Which services a process tree waits for, by its outgoing connections."""

from __future__ import annotations

import contextlib
import os
import time

from .proc import printable, read_once
from .sockets import STATE_ESTABLISHED, STATE_LISTEN, sockets

MOST_UPSTREAMS = 8
MOST_FILES = 4096
WALK_SHARE = 0.03
"""Share of one core that the search for connections may take: the kernel walks all sockets."""
BUSY_SHARE = 0.7
"""Share of one core: a tree that uses more is not waiting for an answer."""

_walk = {"next": 0.0, "cpu_us": 0, "at": 0.0}
_seen: dict[int, tuple[bool, int]] = {}
"""By socket: whether the tree has it open, and how many segments of data it had."""


def title_of(pid: int) -> str:
    """Return the title of a PostgreSQL backend: "postgres: user db [local] SELECT"."""
    return printable(read_once(f"/proc/{pid}/cmdline").split(b"\0")[0].strip())


def inodes(pid: int) -> set[int]:
    """Return the sockets that a process has open."""
    found = set()
    try:
        names = os.listdir(f"/proc/{pid}/fd")[:MOST_FILES]
    except OSError:
        return set()
    for name in names:
        with contextlib.suppress(OSError):
            target = os.readlink(f"/proc/{pid}/fd/{name}")
            if target.startswith("socket:["):
                found.add(int(target[8:-1]))
    return found


def upstreams(pids: list[int], port: int, cpu_us: int) -> dict[str, list[int]] | None:
    """Return, by remote address, the number of outgoing connections of a tree that are in use, and
    how many of them wait for an answer. None: not determined this time."""
    now = time.monotonic()
    elapsed_us, used_us = (now - _walk["at"]) * 1e6, cpu_us - _walk["cpu_us"]
    _walk.update(at=now, cpu_us=cpu_us)
    if used_us > BUSY_SHARE * elapsed_us or now < _walk["next"]:
        return None
    began = time.thread_time()
    listened = {each.port for each in sockets(port, STATE_LISTEN)}
    made = [each for each in sockets(port, STATE_ESTABLISHED) if each.port not in listened]
    before = dict(_seen)
    if any(each.inode not in before for each in made):
        mine = set().union(*map(inodes, pids))
        before = {
            each.inode: (each.inode in mine, before.get(each.inode, (False, -1))[1])
            for each in made
        }
    found: dict[str, list[int]] = {}
    _seen.clear()
    for each in made:
        owned, segments = before[each.inode]
        _seen[each.inode] = owned, each.segments
        if owned and (each.segments != segments or each.waits):
            count = found.setdefault(each.peer, [0, 0])
            count[0] += 1
            count[1] += each.waits
    _walk["next"] = now + (time.thread_time() - began) / WALK_SHARE
    return dict(sorted(found.items(), key=lambda item: -item[1][1])[:MOST_UPSTREAMS])
