"""What the kernel counts and shows of the whole machine."""

from __future__ import annotations

import os

PAGE = os.sysconf("SC_PAGE_SIZE")

_open: dict[str, int] = {}


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


def printable(text: bytes) -> str:
    return "".join(chr(byte) for byte in text if 32 <= byte < 127)


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


def cores_and_softirq() -> tuple[list[list[int]], int]:
    """Ticks of all cores and of each: busy, in all, and stolen (see `machines.usage.Sample.cores`);
    and those of soft interrupts."""
    cores = []
    softirq = 0
    for line in read("/proc/stat").partition(b"\nintr")[0].split(b"\n"):
        times = [int(field) for field in line.split()[1:9]]
        total = sum(times)
        cores.append([total - times[3] - times[4], total, times[7]])
        softirq = softirq or times[6]
    return cores, softirq


def counters() -> dict[str, int]:
    found: dict[str, int] = {}
    for path in ("/proc/net/snmp", "/proc/net/netstat"):
        # Of each protocol a line of names, and one of values.
        lines = read(path).decode().splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=False):
            if names.startswith(("Tcp:", "TcpExt:")):
                each = zip(names.split(), values.split(), strict=False)
                found |= {name: int(value) for name, value in each if name in COUNTERS}
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
    if load := read("/proc/loadavg").split(None, 1):
        found["LoadHundredths"] = round(100 * float(load[0]))
    return found


def memory_available() -> int:
    text = read("/proc/meminfo").partition(b"MemAvailable:")[2]
    return int(text.split(None, 1)[0]) * 1024 if text else 0


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
