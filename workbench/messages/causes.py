"""Why a server reaches its limit: a resource it used up, or something it waited for."""

from __future__ import annotations

from typing import ClassVar, Literal

from workbench.messages.base import FORMATS, Message


class Cause(Message):
    """The cause of a server's limit."""

    brief: ClassVar[str] = ""
    """A template of a few words, to follow the server's rate."""


_MOSTLY_KERNEL_PCT = 50.0


def _in_kernel(pct: float | None) -> str:
    if pct is None or pct < _MOSTLY_KERNEL_PCT:
        return ""
    return f", {pct:.0f} % of that in system calls"


FORMATS["in_kernel"] = _in_kernel


class CoresFull(Cause):
    brief = "{cores:1?its core was|all its {cores} cores were} full"
    cores: int
    busy_pct: float
    kernel_pct: float | None = None
    """Percent of that time spent in the kernel; None: unknown."""
    template = """{cores:1?Its core was full|All its {cores} cores were full} ({busy_pct:.0f} % of a
        core{kernel_pct:in_kernel})."""


class ThreadFull(Cause):
    """One thread did the work and filled a core; others cannot help it."""

    brief = "one of its threads filled a core"
    busy_pct: float
    cores: int
    kernel_pct: float | None = None
    template = """One of its threads filled a core ({busy_pct:.0f} % of a
        core{kernel_pct:in_kernel}); it may use {cores}."""


class TurnsTaken(Cause):
    brief = "its threads took turns on one core"
    threads: int
    busy_pct: float
    cores: int
    template = """{threads} threads together used one core of {cores} ({busy_pct:.0f} %): they take
        turns, as with an interpreter lock."""


class CpuContended(Cause):
    """A thread of the server was runnable while another thread had the CPU."""

    brief = "it waited for a CPU"
    waited_pct: float
    """Percent of the point's length."""
    busy_pct: float
    threads: int = 0
    """Its own threads, if they shared fewer cores; 0: other programs had the CPU."""
    cores: int = 0
    template = """Its busiest thread waited for a CPU {waited_pct:.0f} % of the time: {threads:?its
        {threads:,} threads shared {cores:1?one core and used {busy_pct:.0f} % of it|{cores} cores
        and used {busy_pct:.0f} % of one}
        |other programs ran there (it used {busy_pct:.0f} % of a core)}."""


class DescriptorsUsedUp(Cause):
    brief = "it ran out of descriptors"
    opened: int
    limit: int
    template = "It had {opened:,} descriptors open, of at most {limit:,} (nofile)."


class CpuQuota(Cause):
    brief = "its CPU quota was used up"
    throttled_pct: float
    """Percent of the point's length."""
    busy_pct: float
    template = """Its CPU quota (cgroup) kept it from running {throttled_pct:.0f} % of the time (it
        used {busy_pct:.0f} % of a core)."""


class GarbageCollected(Cause):
    brief = "it collected garbage"
    collecting_pct: float
    """Percent of its CPU time."""
    busy_pct: float
    template = """Garbage collection took {collecting_pct:.0f} % of its CPU time ({busy_pct:.0f} %
        of a core)."""


class DatabaseBusy(Cause):
    brief = "its database was busy"
    service: str
    share_pct: float
    """Percent of the CPU time of both."""
    busy_pct: float
    cores: int
    template = """Its database ({service}) took {share_pct:.0f} % of the CPU time of both
        ({busy_pct:.0f} % of a core, of {cores})."""


class WaitedForAnswer(Cause):
    brief = "it waited for {whose}"
    address: str
    service: str
    """By default port; empty: unknown."""
    connections: int
    busy_pct: float
    template = """It waited for answers of {whose}, over {connections:number_of connections}, and
        used only {busy_pct:.0f} % of a core."""

    def whose(self) -> str:
        if self.service == self.address:
            return f"its database ({self.service})"
        return f"{self.service} ({self.address})" if self.service else self.address


class WaitedForLock(Cause):
    brief = "its threads waited for a lock"
    threads: float
    """Mean number of waiting threads."""
    busy_pct: float
    template = """{threads:.0f} of its threads waited for a lock, on average ({busy_pct:.0f} % of a
        core used)."""


class WaitedForDisk(Cause):
    """The kernel blocked its threads until a disk was ready."""

    brief = "it waited for a disk"
    share_pct: float
    """Percent of its working threads."""
    busy_pct: float
    template = """{share_pct:.0f} % of its working threads waited for a disk ({busy_pct:.0f} % of a
        core used)."""


class Slept(Cause):
    brief = "its threads slept"
    share_pct: float
    """Percent of its working threads."""
    busy_pct: float
    template = """{share_pct:.0f} % of its working threads slept (a timer, such as sleep()) and it
        used only {busy_pct:.0f} % of a core."""


class MachineWaited(Cause):
    brief = "its machine ran out of {resource:memory?memory|disk bandwidth}"
    resource: Literal["memory", "io"]
    pct: float
    """Percent of the point's length."""
    template = """Programs on its machine waited for {resource:memory?memory|its disk} {pct:.0f} %
        of the time."""


class NotAccepted(Cause):
    brief = "it accepted connections too slowly"
    busy_pct: float
    backlog: int
    waiting: int = 0
    """The most connections seen in the queue; 0: it overflowed."""
    template = """Its accept queue (backlog {backlog:,}) {waiting:?held {waiting:,} connections|was
        full} while it used only {busy_pct:.0f} % of a core: it waited, and accepted connections too
        slowly."""


class Waited(Cause):
    brief = "it waited for something else"
    busy_pct: float
    template = """It used only {busy_pct:.0f} % of a core: it waited for something else, such as a
        timer, a lock, a database or another service."""
