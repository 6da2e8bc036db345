"""Sums over a process and its descendants."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import time
from typing import Any

from .host import PAGE, forks, printable, read_once
from .sockets import STATE_ESTABLISHED, STATE_LISTEN, sockets

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
WAITS = {
    kind: tuple(names.encode().split())
    for kind, names in {
        "lock": "futex_ do_futex locks_lock_ flock_lock_ __do_semtimedop",
        "timer": "hrtimer_nanosleep do_nanosleep common_nsleep",
        "socket": "sk_wait_data wait_woken tcp_recvmsg unix_stream_ inet_wait_for_ sk_stream_wait_"
        " __skb_wait_for_ __inet_stream_ inet_stream_connect",
        "accept": "inet_csk_accept inet_csk_wait_for_connect __skb_wait_for_more_packets",
        "events": "ep_poll do_epoll_ do_sys_poll do_poll poll_schedule_ do_select core_sys_select"
        " io_cqring_wait",
        "child": "pipe_ anon_pipe_ do_wait kernel_wait4",
    }.items()
}
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
    for kind, names in WAITS.items():
        if where.startswith(names):
            return kind
    state = read_once(f"{folder}/stat").rpartition(b")")[2][1:2]
    return {b"R": "running", b"D": "disk"}.get(state, "other")


MOST_UPSTREAMS = 8
MOST_FILES = 4096
WALK_SHARE = 0.03
"""Share of one core that the search for connections may take: the kernel walks all sockets."""
BUSY_SHARE = 0.7
"""Share of one core: a tree that uses more is not waiting for an answer."""

_walk = {"next": 0.0, "cpu_us": 0, "at": 0.0}
_seen: dict[int, tuple[bool, int]] = {}
"""By socket: whether the tree has it open, and how many segments of data it had."""


def inodes(pid: int) -> set[int]:
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


TICK_S = 0.2
MOST_PSS_TICKS = 5
PSS_SHARE = 0.005
"""Of a core: what reading PSS may take, in which the kernel walks all pages of a process. So it is
read at every tick, or as rarely as every `MOST_PSS_TICKS`."""
TICK_US = 1_000_000 // os.sysconf("SC_CLK_TCK")

BUSIEST = 16
MOST_PROGRAMS = 8

_pss_ticks = [1]
"""Between two readings of PSS."""


HAS_CHILDREN = os.path.exists(f"/proc/self/task/{os.getpid()}/children")


def named_stat(pid: int) -> tuple[str, list[bytes]]:
    """Return the name, and the fields of /proc/<pid>/stat from the state on; empty: it ended."""
    head, _, fields = read_once(f"/proc/{pid}/stat").rpartition(b")")
    return printable(head.partition(b"(")[2]), fields.split()


def children(pid: int, threads: int) -> list[int]:
    found = []
    tasks = [str(pid)]
    if threads > 1:
        with contextlib.suppress(OSError):
            tasks = os.listdir(f"/proc/{pid}/task")
    for task in tasks:
        found += [int(child) for child in read_once(f"/proc/{pid}/task/{task}/children").split()]
    return found


def parents() -> dict[int, list[int]]:
    """Return all processes by parent, for kernels without CONFIG_PROC_CHILDREN."""
    found: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (fields := named_stat(int(name))[1]):
            found.setdefault(int(fields[1]), []).append(int(name))
    return found


def descriptors(pid: int) -> int:
    folder = f"/proc/{pid}/fd"
    try:
        return os.stat(folder).st_size or len(os.listdir(folder))
    except OSError:
        return 0


def pss(pid: int) -> int:
    for line in read_once(f"/proc/{pid}/smaps_rollup").split(b"\n"):
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def clock_us(pid: int) -> int:
    """Return the CPU time of a process with all threads it ever had, as the scheduler counts it; 0
    where it is not available. For the clock's number see clock_getcpuclockid(3)."""
    try:
        return time.clock_gettime_ns(~pid << 3 | 2) // 1000
    except OSError:
        return 0


def discards_children(pid: int) -> bool:
    """Whether a process ignores SIGCHLD: then no CPU time of its children is added to its own as
    they end; see NOTES of wait(2)."""
    mask = read_once(f"/proc/{pid}/status").partition(b"SigIgn:")[2].split(None, 1)[:1]
    return bool(mask) and bool(int(mask[0], 16) >> signal.SIGCHLD - 1 & 1)


def throttled_us(pid: int) -> int | None:
    """Return how long the control groups of a process, its own and those above, kept their
    processes from running because a quota of CPU time was used up; None: there are none."""
    found = None
    for line in read_once(f"/proc/{pid}/cgroup").decode(errors="replace").splitlines():
        controllers, _, path = line.partition(":")[2].partition(":")
        if controllers and "cpu" not in controllers.split(","):
            continue
        while path not in {"", "/"}:
            text = read_once(f"/sys/fs/cgroup/{controllers and 'cpu'}{path}/cpu.stat").split()
            for name, scale in ((b"throttled_usec", 1), (b"throttled_time", 1000)):
                if name in text:
                    found = max(found or 0, int(text[text.index(name) + 1]) // scale)
            path = path.rpartition("/")[0]
    return found


def pids_of(group: str) -> list[int]:
    """Return the processes of a control group, by its folder, and of those below it."""
    found: set[int] = set()
    for folder, _, files in os.walk(group):
        if "cgroup.procs" in files:
            found.update(map(int, read_once(f"{folder}/cgroup.procs").split()))
    return sorted(found - {0})


def tree(
    roots: list[int], *, with_pss: bool, in_detail: bool = False, tick: int = 0, port: int = 0
) -> dict[str, Any] | None:
    """Sum over processes and their descendants. Times include children that ended and were waited
    for; those, `user_us` and `system_us` have a resolution of 10 ms (ticks)."""
    sums = "cpu_us user_us system_us rss pss processes threads descriptors most_descriptors"
    total: dict[str, Any] = dict.fromkeys(sums.split(), 0)
    by_parent = None if HAS_CHILDREN else parents()
    todo = list(roots)
    programs: dict[int, tuple[str, int]] = {}
    while todo:
        pid = todo.pop()
        name, fields = named_stat(pid)
        if pid in programs or not fields or fields[0] in b"ZX":
            continue
        threads = int(fields[17])
        user, system, ended_user, ended_system = map(int, fields[11:15])
        live_us = clock_us(pid) or (user + system) * TICK_US
        programs[pid] = name, live_us
        total["cpu_us"] += live_us + (ended_user + ended_system) * TICK_US
        total["user_us"] += (user + ended_user) * TICK_US
        total["system_us"] += (system + ended_system) * TICK_US
        total["rss"] += int(fields[21]) * PAGE
        total["processes"] += 1
        total["threads"] += threads
        opened = descriptors(pid)
        total["descriptors"] += opened
        total["most_descriptors"] = max(total["most_descriptors"], opened)
        todo += by_parent.get(pid, []) if by_parent else children(pid, threads)
    if not programs:
        return None
    if with_pss:
        total["pss"] = pss_of_all(list(programs))
    if in_detail:
        return total | details(programs)
    return total | waiting(programs, tick, port, total["cpu_us"])


def pss_is_due(tick: int) -> bool:
    return tick % _pss_ticks[0] == 0


def pss_of_all(pids: list[int]) -> int:
    """Return PSS, and set in how many ticks it is read again."""
    began = time.thread_time()
    found = sum(pss(pid) for pid in pids)
    took_s = time.thread_time() - began
    _pss_ticks[0] = max(1, min(MOST_PSS_TICKS, math.ceil(took_s / PSS_SHARE / TICK_S)))
    return found


def details(programs: dict[int, tuple[str, int]]) -> dict[str, Any]:
    switches = collectors_us = 0
    tasks: dict[str, list[int]] = {}
    by_name: dict[str, int] = {}
    for pid, (name, cpu_us) in programs.items():
        count, times, collecting_us = of_threads(pid)
        switches += count
        collectors_us += collecting_us
        tasks |= times
        by_name[name] = by_name.get(name, 0) + cpu_us
    busiest = sorted(tasks, key=lambda task: -sum(tasks[task]))[:BUSIEST]
    largest = sorted(by_name, key=lambda name: -by_name[name])[:MOST_PROGRAMS]
    return {
        "switches": switches,
        "tasks": {task: tasks[task] for task in busiest},
        "forks": forks(),
        "programs": {name: by_name[name] for name in largest},
        "collectors_us": collectors_us,
        "throttled_us": throttled_us(next(iter(programs))),
        "discards": any(discards_children(pid) for pid in programs),
    }


def waiting(
    programs: dict[int, tuple[str, int]], tick: int, port: int, cpu_us: int
) -> dict[str, Any]:
    """Return the additional data of periodic samples: what threads wait for, and which services."""
    kinds: dict[str, int] = {}
    backends = [0, 0]
    for pid, (name, _) in programs.items():
        for kind, count in waits(pid, tick).items():
            kinds[kind] = kinds.get(kind, 0) + count
        if name == "postgres":
            title = read_once(f"/proc/{pid}/cmdline").split(b"\0")[0].strip()
            if title.count(b" ") > 3:  # A backend: "postgres: user db [local] SELECT".
                backends[0] += 1
                backends[1] += not title.endswith(b"idle")
    found = upstreams(list(programs), port, cpu_us)
    if backends[0]:
        found = {**(found or {}), "PostgreSQL": backends}
    return {"waits": kinds, "upstreams": found}
