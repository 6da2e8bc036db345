"""The threads of a process: their time on a CPU, and what they wait for."""

from __future__ import annotations

import os

from .proc import read_once

MOST_TASKS = 512
"""At most this many threads of a process are read one by one, at about 20 us each."""

COLLECTORS = (
    *(b"GC Thread", b"G1 ", b"ParGC", b"CMS", b"ZWorker", b"ZDriver", b"Shenandoah"),
    *(b".NET Server GC", b".NET BGC"),
)
"""Names of threads that collect garbage, of the JVM and .NET; other runtimes name none."""


def threads_of(pid: int, most: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")[:most]
    except OSError:
        return []


def of_threads(pid: int) -> tuple[int, dict[str, list[int]], int]:
    """Return, for live threads, their context switches (voluntary or not), by thread, time on a CPU
    and time waiting for one, in us, and the CPU time of those that collect garbage."""
    count = collectors = 0
    times = {}
    for task in threads_of(pid, MOST_TASKS):
        text = read_once(f"/proc/{pid}/task/{task}/status").partition(b"voluntary_ctxt")[2]
        count += sum(int(line.split()[1]) for line in text.splitlines()[:2])
        if fields := read_once(f"/proc/{pid}/task/{task}/schedstat").split():
            times[task] = [int(fields[0]) // 1000, int(fields[1]) // 1000]
            if read_once(f"/proc/{pid}/task/{task}/comm").startswith(COLLECTORS):
                collectors += times[task][0]
    return count, times, collectors


MOST_WATCHED = 64
"""The most threads of a process that are inspected per tick, at about 20 us each."""
RECENT_TICKS = 10
"""Threads that did not run for this many ticks are idle, unless they accept connections."""
WAITS = (
    ("lock", (b"futex_", b"do_futex", b"locks_lock_", b"flock_lock_", b"__do_semtimedop")),
    ("timer", (b"hrtimer_nanosleep", b"do_nanosleep", b"common_nsleep")),
    (
        "socket",
        (
            *(b"sk_wait_data", b"wait_woken", b"tcp_recvmsg", b"unix_stream_", b"inet_wait_for_"),
            *(b"sk_stream_wait_", b"__skb_wait_for_", b"__inet_stream_", b"inet_stream_connect"),
        ),
    ),
    ("accept", (b"inet_csk_accept", b"inet_csk_wait_for_connect", b"__skb_wait_for_more_packets")),
    (
        "events",
        (
            *(
                b"ep_poll",
                b"do_epoll_",
                b"do_sys_poll",
                b"do_poll",
                b"poll_schedule_",
                b"do_select",
            ),
            *(b"core_sys_select", b"io_cqring_wait"),
        ),
    ),
    ("child", (b"pipe_", b"anon_pipe_", b"do_wait", b"kernel_wait4")),
)
"""By what a thread waits for: functions of the kernel in which it sleeps, by how their names begin,
of Linux 4.19 to 6.18. Who may not read them reads "0"."""

_ran: dict[str, tuple[bytes, int]] = {}
"""By thread: how often it got a CPU, and the tick in which that was seen to change."""


def waits(pid: int, tick: int) -> dict[str, int]:
    """Return what the threads of a process wait for that ran a short time ago, by how many."""
    found: dict[str, int] = {}
    for task in threads_of(pid, MOST_WATCHED):
        folder = f"/proc/{pid}/task/{task}"
        turns = read_once(f"{folder}/schedstat").split()[2:3]
        before, seen = _ran.get(task, (b"", tick))
        if turns and turns[0] != before:
            _ran[task] = turns[0], tick
        kind = waits_for(folder)
        if tick - _ran.get(task, (b"", seen))[1] <= RECENT_TICKS or kind == "accept":
            found[kind] = found.get(kind, 0) + 1
    return found


def waits_for(folder: str) -> str:
    where = read_once(f"{folder}/wchan")
    for kind, names in WAITS:
        if where.startswith(names):
            return kind
    state = read_once(f"{folder}/stat").rpartition(b")")[2][1:2]
    return {b"R": "running", b"D": "disk"}.get(state, "other")
