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
    on a CPU, time waiting for one]} in us of the busiest, "forks" of the machine since boot,
    "programs": {name: CPU time in us}, "collectors_us": that of threads that collect garbage,
    "throttled_us": how long control groups kept it from running, null without any.
Other samples have in their tree "waits": {what for: threads that ran a short time ago}, and, while
the tree is not busy, "upstreams": {address: [connections in use, those that wait for an answer]}.
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
from collections.abc import Iterator
from typing import Any, NamedTuple

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
    return named_stat(pid)[1]


def named_stat(pid: int) -> tuple[str, list[bytes]]:
    """Return the program's name, and the fields as `stat`."""
    head, _, fields = read_once(f"/proc/{pid}/stat").rpartition(b")")
    return printable(head.partition(b"(")[2]), fields.split()


def printable(text: bytes) -> str:
    return "".join(chr(byte) for byte in text if 32 <= byte < 127)


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
MOST_PROGRAMS = 8


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


# -- what its threads wait for

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


# -- which services it waits for


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


MOST_FILES = 4096
WALK_SHARE = 0.03
"""Share of one core that the search for connections may take: the kernel walks all sockets."""
BUSY_SHARE = 0.7
"""Share of one core: a tree that uses more is not waiting for an answer."""

_walk = {"next": 0.0, "cpu_us": 0, "at": 0.0}
_seen: dict[int, tuple[bool, int]] = {}
"""By socket: whether the tree has it open, and how many segments of data it had."""


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


MOST_UPSTREAMS = 8


SUMS = (
    *("cpu_us", "user_us", "system_us", "rss", "pss"),
    *("processes", "threads", "descriptors", "most_descriptors"),
)


def tree(
    root: int, *, with_pss: bool, in_detail: bool = False, tick: int = 0, port: int = 0
) -> dict[str, Any] | None:
    """Sum over a process and its descendants. Times include children that ended and were waited
    for; those, `user_us` and `system_us` have a resolution of 10 ms (ticks)."""
    total: dict[str, Any] = dict.fromkeys(SUMS, 0)
    by_parent = None if HAS_CHILDREN else parents()
    todo = [root]
    programs: dict[int, tuple[str, int]] = {}
    while todo:
        pid = todo.pop()
        name, fields = named_stat(pid)
        if not fields or fields[0] in b"ZX":
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
        return total | details(root, programs)
    return total | waiting(programs, tick, port, total["cpu_us"])


def pss_of_all(pids: list[int]) -> int:
    """Return PSS, and set in how many ticks it is read again."""
    began = time.thread_time()
    found = sum(pss(pid) for pid in pids)
    took_s = time.thread_time() - began
    _pss_ticks[0] = max(1, min(MOST_PSS_TICKS, math.ceil(took_s / PSS_SHARE / TICK_S)))
    return found


def details(root: int, programs: dict[int, tuple[str, int]]) -> dict[str, Any]:
    """Return what requested samples have in addition."""
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
        "throttled_us": throttled_us(root),
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
        if name == "postgres" and (title := title_of(pid)).count(" ") > 3:
            backends[0] += 1
            backends[1] += not title.endswith("idle")
    found = upstreams(list(programs), port, cpu_us)
    if backends[0]:
        found = {**(found or {}), "PostgreSQL": backends}
    return {"waits": kinds, "upstreams": found}


# -- listening sockets

SOCK_DIAG_BY_FAMILY = 20
NLM_F_REQUEST_DUMP = 0x301
NLMSG_ERROR, NLMSG_DONE = 2, 3
NETLINK_SOCK_DIAG = 4
STATE_ESTABLISHED, STATE_LISTEN = 1 << 1, 1 << 10
BYTECODE, INFO = 1, 2
"""Attributes of a request, and of an answer (`struct tcp_info`)."""
JUMP, SOURCE_GE, SOURCE_LE, TARGET_GE, TARGET_LE = 1, 2, 3, 4, 5
INFO_LEAST = 160
"""Bytes of `struct tcp_info`, of Linux 4.6 and later."""
HEADER = 16
INODE, ATTRIBUTES = HEADER + 68, HEADER + 72
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


def not_of(port: int) -> bytes:
    """Return the program by which the kernel leaves out sockets that have this port at an end; for
    its form see `struct inet_diag_bc_op` in linux/inet_diag.h."""
    end = 44  # past it: left out

    def condition(code: int, no: int, limit: int) -> bytes:
        """If it is met, what follows; else `no` bytes on."""
        return struct.pack("=BBHBBH", code, 8, no, 0, 0, limit)

    jump = struct.pack("=BBH", JUMP, 4, 12)
    more, less = min(port + 1, 65535), max(port - 1, 0)
    return (
        condition(SOURCE_GE, 12, more)
        + jump
        + condition(SOURCE_LE, end - 12, less)
        + condition(TARGET_GE, 12, more)
        + jump
        + condition(TARGET_LE, end - 32, less)
    )


class Connection(NamedTuple):
    port: int
    """Here."""
    peer: str
    """Address of the other end."""
    inode: int
    segments: int
    """With data, in both directions."""
    waits: bool
    """For an answer: sent since, or as lately as, something was received, to the kernel's tick of
    up to 10 ms, and nothing is there to be read."""


def sockets(port: int, state: int) -> list[Connection]:
    """Return all TCP sockets in this state except those of this port."""
    found: list[Connection] = []
    with contextlib.suppress(OSError):
        link = diagnostics()
        program = not_of(port)
        for family in (socket.AF_INET, socket.AF_INET6):
            attribute = struct.pack("=HH", 4 + len(program), BYTECODE) + program
            length = 72 + len(attribute)
            head = struct.pack("=IHHII", length, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST_DUMP, 1, 0)
            body = struct.pack("=BBBBI", family, socket.IPPROTO_TCP, 1 << INFO - 1, 0, state)
            link.send(head + body + bytes(48) + attribute)
            found += [connection(family, message) for message in messages(link)]
    return found


def connection(family: int, message: bytes) -> Connection:
    source, target = struct.unpack_from("!HH", message, HEADER + 4)
    raw = message[HEADER + 24 : HEADER + (28 if family == socket.AF_INET else 40)]
    address = socket.inet_ntop(family, raw).removeprefix("::ffff:")
    shown = f"[{address}]" if ":" in address else address
    queue, inode = (struct.unpack_from("=I", message, at)[0] for at in (QUEUES, INODE))
    waits, segments = False, 0
    at = ATTRIBUTES
    while at + 4 <= len(message):
        length, kind = struct.unpack_from("=HH", message, at)
        if kind == INFO and length >= 4 + INFO_LEAST:
            sent_ms, _, received_ms = struct.unpack_from("=III", message, at + 4 + 44)
            segments_in, segments_out = struct.unpack_from("=II", message, at + 4 + 152)
            segments = segments_in + segments_out
            waits = segments_out > 0 and sent_ms <= received_ms and not queue
        at += max(4, (length + 3) & ~3)
    return Connection(source, f"{shown}:{target}", inode, segments, waits)


def diagnostics() -> socket.socket:
    if not _link:
        kind = socket.SOCK_RAW | socket.SOCK_CLOEXEC
        _link.append(socket.socket(socket.AF_NETLINK, kind, NETLINK_SOCK_DIAG))
    return _link[0]


def answers(link: socket.socket, port: int) -> list[tuple[int, int]]:
    return [
        struct.unpack_from("=II", message, QUEUES)
        for message in messages(link)
        if struct.unpack_from("!H", message, HEADER + 4)[0] == port
    ]


def messages(link: socket.socket) -> Iterator[bytes]:
    """Yield the kernel's answers to the last request."""
    while True:
        data = link.recv(1 << 16)
        at = 0
        while at < len(data):
            length, kind = struct.unpack_from("=IH", data, at)
            if kind in {NLMSG_DONE, NLMSG_ERROR}:
                return
            yield data[at : at + length]
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
        "tree": tree(pid, with_pss=with_pss, in_detail=asked > 0, tick=number, port=port or 0)
        if pid
        else None,
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
