"""Measures a machine and one process tree on it, five times a second.

A single file for the standard library of Python 3.10 or later. Without arguments it writes one
JSON line a tick until its stdin ends:
    {"t_us": monotonic, "cores": [[busy, total], ...] in ticks, the first for all cores together,
     "softirq": ticks, "memory": bytes available, "counters": {...} since boot, "gauges": {...},
     "server": id, "tree": {"cpu_us", "user_us", "system_us", "rss", "pss", "processes", "threads",
     "descriptors"} | null,
     "listening": [accept queue, backlog] | null, "own_us": CPU time of the sampler so far}
A line on stdin selects what to watch: {"watch": pid or 0, "port": n or 0, "server": id}. Another
requests a sample at once: {"asked": n}; it carries that n and, in addition,
    "pressure": {"cpu", "memory", "io"}: since boot, time in which tasks waited for it, in us;
    in its tree "switches" (context switches of live threads), "tasks": {thread: [time
    on a CPU, time waiting for one]} in us of the busiest, "forks" of the machine since boot.
With a port as its argument it only prints accept queue and backlog of the listening socket.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import socket
import struct
import sys
import time
from typing import Any

TICK_S = 0.2
MOST_PSS_TICKS = 5
PSS_SHARE = 0.005
"""Of a core: what reading PSS may take, in which the kernel walks all pages of a process. So it is
read at every tick, or as rarely as every `MOST_PSS_TICKS`."""
TICK_US = 1_000_000 // os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")

COUNTERS = frozenset(
    (
        *("ListenOverflows", "ListenDrops", "TCPReqQFullDrop", "TCPReqQFullDoCookies"),
        *("SyncookiesSent", "SyncookiesRecv", "SyncookiesFailed"),
        *("RetransSegs", "TCPTimeouts", "TCPSynRetrans", "TCPSpuriousRTOs"),
        *("TCPAbortOnData", "TCPAbortOnClose", "TCPAbortOnMemory", "TCPAbortOnTimeout"),
        *("TCPBacklogDrop", "TCPRcvQDrop", "PruneCalled", "RcvPruned", "TCPMemoryPressures"),
        *("TCPTimeWaitOverflow", "TCPMinTTLDrop", "TCPAckSkippedTimeWait"),
        *("ActiveOpens", "PassiveOpens", "AttemptFails", "EstabResets", "InErrs", "OutRsts"),
    )
)

_open: dict[str, int] = {}
_pss_ticks = [1]
"""Between two readings of PSS."""


def read(path: str) -> bytes:
    """Read a file of /proc that is kept open, at a third of the cost."""
    try:
        if path not in _open:
            _open[path] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        return os.pread(_open[path], 1 << 18, 0)
    except OSError:
        return b""


def read_once(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


# -- the machine


def cores_and_softirq() -> tuple[list[list[int]], int]:
    cores = []
    softirq = 0
    for line in read("/proc/stat").partition(b"\nintr")[0].split(b"\n"):
        times = [int(field) for field in line.split()[1:9]]
        total = sum(times)
        cores.append([total - times[3] - times[4], total])
        softirq = softirq or times[6]
    return cores, softirq


class Table:
    """A file of paired lines, names above values, such as /proc/net/snmp. The positions of the
    wanted values are looked up once."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.places: list[tuple[int, list[tuple[str, int]]]] = []
        for number, line in enumerate(read(path).decode().splitlines()[::2]):
            if line.startswith(("Tcp:", "TcpExt:")):
                names = enumerate(line.split())
                wanted = [(name, place) for place, name in names if name in COUNTERS]
                self.places.append((2 * number + 1, wanted))

    def values(self) -> dict[str, int]:
        lines = read(self.path).split(b"\n")
        found = {}
        for number, wanted in self.places:
            fields = lines[number].split()
            for name, place in wanted:
                found[name] = int(fields[place])
        return found


TABLES = (Table("/proc/net/snmp"), Table("/proc/net/netstat"))


def counters() -> dict[str, int]:
    found: dict[str, int] = {}
    for table in TABLES:
        found |= table.values()
    errors = drops = soft_drops = squeezes = 0
    for line in read("/proc/net/dev").split(b"\n")[2:-1]:
        fields = line.rpartition(b":")[2].split()
        errors += int(fields[2]) + int(fields[10])
        drops += int(fields[3]) + int(fields[11])
    for line in read("/proc/net/softnet_stat").split(b"\n")[:-1]:
        fields = line.split(None, 3)
        soft_drops += int(fields[1], 16)
        squeezes += int(fields[2], 16)
    found["InterfaceErrors"] = errors
    found["InterfaceDrops"] = drops
    found["SoftnetDrops"] = soft_drops
    found["SoftnetSqueezes"] = squeezes
    return found


def gauges() -> dict[str, int]:
    found = {}
    tcp = read("/proc/net/sockstat").partition(b"TCP: ")[2].split(None, 6)
    if len(tcp) > 5:  # inuse N orphan N tw N ...
        found = {"Tcp": int(tcp[1]), "Orphans": int(tcp[3]), "TIME_WAIT": int(tcp[5])}
    if files := read("/proc/sys/fs/file-nr").split():
        found["OpenFiles"] = int(files[0])
    return found


def memory_available() -> int:
    text = read("/proc/meminfo").partition(b"MemAvailable:")[2]
    return int(text.split(None, 1)[0]) * 1024 if text else 0


# -- a process tree

HAS_CHILDREN = os.path.exists(f"/proc/self/task/{os.getpid()}/children")


def stat(pid: int) -> list[bytes]:
    """Return the fields of /proc/<pid>/stat from the state on; empty when the process has ended."""
    return read_once(f"/proc/{pid}/stat").rpartition(b")")[2].split()


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
        if name.isdigit() and (fields := stat(int(name))):
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


def forks() -> int:
    """Return how many processes and threads were started since boot; the counters of those that
    ended since are lost."""
    text = read("/proc/stat").rpartition(b"\nprocesses ")[2]
    return int(text.split(None, 1)[0]) if text else 0


def pressure() -> dict[str, int]:
    """Return the stall times by resource; empty on kernels without PSI."""
    found = {}
    for name in ("cpu", "memory", "io"):
        total = read(f"/proc/pressure/{name}").partition(b" total=")[2].split(None, 1)
        if total:
            found[name] = int(total[0])
    return found


MOST_TASKS = 512
"""At most this many threads of a process are read one by one, at about 20 us each."""
BUSIEST = 16


def of_threads(pid: int) -> tuple[int, dict[str, list[int]]]:
    """Return, for live threads, their context switches (voluntary or not) and, by thread, time on a
    CPU and time waiting for one, in us."""
    count = 0
    times = {}
    try:
        tasks = os.listdir(f"/proc/{pid}/task")[:MOST_TASKS]
    except OSError:
        return 0, {}
    for task in tasks:
        text = read_once(f"/proc/{pid}/task/{task}/status").partition(b"voluntary_ctxt")[2]
        count += sum(int(line.split()[1]) for line in text.splitlines()[:2])
        if fields := read_once(f"/proc/{pid}/task/{task}/schedstat").split():
            times[task] = [int(fields[0]) // 1000, int(fields[1]) // 1000]
    return count, times


SUMS = (
    *("cpu_us", "user_us", "system_us", "rss", "pss"),
    *("processes", "threads", "descriptors", "most_descriptors"),
)


def tree(root: int, *, with_pss: bool, with_threads: bool = False) -> dict[str, Any] | None:
    """Sum over a process and its descendants. Times include children that ended and were waited
    for; those, `user_us` and `system_us` have a resolution of 10 ms (ticks)."""
    total: dict[str, Any] = dict.fromkeys(SUMS, 0)
    tasks: dict[str, list[int]] = {}
    by_parent = None if HAS_CHILDREN else parents()
    todo = [root]
    pss_s = 0.0
    while todo:
        pid = todo.pop()
        fields = stat(pid)
        if not fields or fields[0] in b"ZX":
            continue
        threads = int(fields[17])
        user, system, ended_user, ended_system = map(int, fields[11:15])
        live_us = clock_us(pid) or (user + system) * TICK_US
        total["cpu_us"] += live_us + (ended_user + ended_system) * TICK_US
        total["user_us"] += (user + ended_user) * TICK_US
        total["system_us"] += (system + ended_system) * TICK_US
        total["rss"] += int(fields[21]) * PAGE
        total["processes"] += 1
        total["threads"] += threads
        opened = descriptors(pid)
        total["descriptors"] += opened
        total["most_descriptors"] = max(total["most_descriptors"], opened)
        if with_pss:
            began = time.thread_time()
            total["pss"] += pss(pid)
            pss_s += time.thread_time() - began
        if with_threads:
            count, times = of_threads(pid)
            total["switches"] = total.get("switches", 0) + count
            tasks |= times
        todo += by_parent.get(pid, []) if by_parent else children(pid, threads)
    if with_pss:
        _pss_ticks[0] = max(1, min(MOST_PSS_TICKS, math.ceil(pss_s / PSS_SHARE / TICK_S)))
    if with_threads:
        busiest = sorted(tasks, key=lambda task: -sum(tasks[task]))[:BUSIEST]
        total |= {"forks": forks(), "tasks": {task: tasks[task] for task in busiest}}
    return total if total["processes"] else None


# -- listening sockets

SOCK_DIAG_BY_FAMILY = 20
NLM_F_REQUEST_DUMP = 0x301
NLMSG_ERROR, NLMSG_DONE = 2, 3
NETLINK_SOCK_DIAG = 4
STATE_LISTEN = 1 << 10
HEADER = 16
QUEUES = HEADER + 56
"""Offsets in struct inet_diag_msg of the receive queue (waiting) and the send queue (backlog)."""


_link: list[socket.socket] = []


def listening(port: int) -> list[int] | None:
    """Return the kernel's [accept queue, backlog]; for several sockets [sum, minimum]."""
    found: list[tuple[int, int]] = []
    with contextlib.suppress(OSError):
        link = diagnostics()
        for family in (socket.AF_INET, socket.AF_INET6):
            head = struct.pack("=IHHII", 72, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST_DUMP, 1, 0)
            body = struct.pack("=BBBBI", family, socket.IPPROTO_TCP, 0, 0, STATE_LISTEN)
            link.send(head + body + struct.pack("!H", port) + bytes(46))
            found += answers(link, port)
    return [sum(queue for queue, _ in found), min(log for _, log in found)] if found else None


def diagnostics() -> socket.socket:
    if not _link:
        kind = socket.SOCK_RAW | socket.SOCK_CLOEXEC
        _link.append(socket.socket(socket.AF_NETLINK, kind, NETLINK_SOCK_DIAG))
    return _link[0]


def answers(link: socket.socket, port: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    while True:
        data = link.recv(1 << 16)
        at = 0
        while at < len(data):
            length, kind = struct.unpack_from("=IH", data, at)
            if kind in {NLMSG_DONE, NLMSG_ERROR}:
                return found
            if struct.unpack_from("!H", data, at + HEADER + 4)[0] == port:
                found.append(struct.unpack_from("=II", data, at + QUEUES))
            at += (length + 3) & ~3


# -- the program


def sample(number: int, watched: dict[str, Any], asked: int = 0) -> dict[str, Any]:
    cores, softirq = cores_and_softirq()
    pid, port = watched.get("watch"), watched.get("port")
    with_pss = asked > 0 or number % _pss_ticks[0] == 0
    return {
        "t_us": time.monotonic_ns() // 1000,
        "asked": asked,
        **({"pressure": pressure()} if asked else {}),
        "cores": cores,
        "softirq": softirq,
        "memory": memory_available(),
        "counters": counters(),
        "gauges": gauges(),
        "server": watched.get("server", ""),
        "tree": tree(pid, with_pss=with_pss, with_threads=asked > 0) if pid else None,
        "listening": listening(port) if port else None,
        "own_us": time.process_time_ns() // 1000,
    }


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(listening(int(sys.argv[1]))))
        return
    watched: dict[str, Any] = {}
    rest = b""
    number = 0
    due = time.monotonic()

    def say(asked: int = 0) -> None:
        line = json.dumps(sample(number, watched, asked), separators=(",", ":"))
        os.write(1, line.encode() + b"\n")

    while True:
        say()
        number += 1
        due = max(due + TICK_S, time.monotonic())
        # Read stdin even when sampling is behind schedule.
        while select.select([0], [], [], max(0.0, due - time.monotonic()))[0]:
            chunk = os.read(0, 1 << 16)
            if not chunk:
                return
            *lines, rest = (rest + chunk).split(b"\n")
            for command in map(json.loads, lines):
                if "asked" in command:
                    say(command["asked"])
                else:
                    watched = command
                    number = 0


if __name__ == "__main__":
    main()
