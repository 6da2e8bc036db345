"""Why a server reaches its limit: a resource it used up, or something it waited for."""

from __future__ import annotations

from typing import ClassVar, Literal

from workbench.formatting import number_of
from workbench.messages.base import Figure, Message, most


class Cause(Message, frozen=True, kw_only=True):
    """The cause of a server's limit."""


class CoresFull(Cause, frozen=True, kw_only=True):
    """Every core that the server may use was full."""

    apart: ClassVar[tuple[str, ...]] = ("cores",)

    cores: int
    busy_pct: float
    """Percent of one core."""
    kernel_pct: float | None = None
    """Percent of that time spent in the kernel; None: unknown."""

    def text(self) -> str:
        what = "Its core was full" if self.cores == 1 else f"All its {self.cores} cores were full"
        return f"{what} ({self.busy_pct:.0f} % of a core{_kernel(self.kernel_pct)})."


class ThreadFull(Cause, frozen=True, kw_only=True):
    """One thread did the work and filled a core; others cannot help it."""

    apart: ClassVar[tuple[str, ...]] = ("cores",)

    busy_pct: float
    cores: int
    kernel_pct: float | None = None

    def text(self) -> str:
        return (
            f"One of its threads filled a core ({self.busy_pct:.0f} % of a core"
            f"{_kernel(self.kernel_pct)}); it may use {self.cores}."
        )


class TurnsTaken(Cause, frozen=True, kw_only=True):
    """Several threads together used one core, although more are available."""

    apart: ClassVar[tuple[str, ...]] = ("cores",)

    threads: int
    busy_pct: float
    cores: int

    def text(self) -> str:
        return (
            f"{self.threads} threads together used one core of {self.cores}"
            f" ({self.busy_pct:.0f} %): they take turns, as with an interpreter lock."
        )


class CpuContended(Cause, frozen=True, kw_only=True):
    """A thread of the server was runnable while another thread had the CPU."""

    waited_pct: float
    """Percent of the point's length."""
    busy_pct: float
    threads: int = 0
    """Its own threads, if they shared fewer cores; 0: other programs had the CPU."""
    cores: int = 0

    def text(self) -> str:
        waited = f"Its busiest thread waited for a CPU {self.waited_pct:.0f} % of the time"
        if not self.threads:
            return f"{waited}: other programs ran there (it used {self.busy_pct:.0f} % of a core)."
        used = f"{self.busy_pct:.0f} % of"
        used = (
            f"one core and used {used} it"
            if self.cores == 1
            else (f"{self.cores} cores and used {used} one")
        )
        return f"{waited}: its {self.threads:,} threads shared {used}."


class DescriptorsUsedUp(Cause, frozen=True, kw_only=True):
    """A process had all the descriptors open that it may have."""

    apart: ClassVar[tuple[str, ...]] = ("limit",)

    opened: int
    limit: int

    def text(self) -> str:
        return f"It had {self.opened:,} descriptors open, of at most {self.limit:,} (nofile)."


class CpuQuota(Cause, frozen=True, kw_only=True):
    """The CPU quota of its control group throttled the server."""

    throttled_pct: float
    """Percent of the point's length."""
    busy_pct: float

    def text(self) -> str:
        return (
            f"Its CPU quota (cgroup) kept it from running {self.throttled_pct:.0f} % of the time"
            f" (it used {self.busy_pct:.0f} % of a core)."
        )


class GarbageCollected(Cause, frozen=True, kw_only=True):
    """Its garbage collector threads took much of the CPU time."""

    collecting_pct: float
    """Percent of its CPU time."""
    busy_pct: float

    def text(self) -> str:
        return (
            f"Garbage collection took {self.collecting_pct:.0f} % of its CPU time"
            f" ({self.busy_pct:.0f} % of a core)."
        )


class DatabaseBusy(Cause, frozen=True, kw_only=True):
    """Its own database took the cores that both share."""

    apart: ClassVar[tuple[str, ...]] = ("cores",)

    service: str
    share_pct: float
    """Percent of the CPU time of both."""
    busy_pct: float
    cores: int

    def text(self) -> str:
        return (
            f"Its database ({self.service}) took {self.share_pct:.0f} % of the CPU time of both"
            f" ({self.busy_pct:.0f} % of a core, of {self.cores})."
        )


class WaitedForAnswer(Cause, frozen=True, kw_only=True):
    """The server waited for answers of a database or another service."""

    address: str
    service: str
    """By default port; empty: unknown."""
    connections: int
    """Connections in use."""
    busy_pct: float

    def text(self) -> str:
        service = f"{self.service} ({self.address})" if self.service else self.address
        if self.service == self.address:
            service = f"its database ({self.service})"
        what = number_of(self.connections, "connections")
        return (
            f"It waited for answers of {service}, over {what}, and used only"
            f" {self.busy_pct:.0f} % of a core."
        )


class WaitedForLock(Cause, frozen=True, kw_only=True):
    """Most of its threads or processes waited for a lock."""

    threads: float
    """Mean number of waiting threads."""
    busy_pct: float

    def text(self) -> str:
        return (
            f"{self.threads:.0f} of its threads waited for a lock, on average"
            f" ({self.busy_pct:.0f} % of a core used)."
        )


class WaitedForDisk(Cause, frozen=True, kw_only=True):
    """The kernel blocked its threads until a disk was ready."""

    share_pct: float
    """Percent of its working threads."""
    busy_pct: float

    def text(self) -> str:
        return (
            f"{self.share_pct:.0f} % of its working threads waited for a disk"
            f" ({self.busy_pct:.0f} % of a core used)."
        )


class Slept(Cause, frozen=True, kw_only=True):
    """Its threads slept on a timer."""

    share_pct: float
    """Percent of its working threads."""
    busy_pct: float

    def text(self) -> str:
        return (
            f"{self.share_pct:.0f} % of its working threads slept (a timer, such as sleep())"
            f" and it used only {self.busy_pct:.0f} % of a core."
        )


class MachineWaited(Cause, frozen=True, kw_only=True):
    """The target was short of memory, or its disk was slow."""

    resource: Literal["memory", "io"]
    pct: float
    """Percent of the point's length."""

    def text(self) -> str:
        what = "memory" if self.resource == "memory" else "its disk"
        return f"Programs on its machine waited for {what} {self.pct:.0f} % of the time."


class NotAccepted(Cause, frozen=True, kw_only=True):
    """Connections waited in the accept queue although the server was mostly idle."""

    apart: ClassVar[tuple[str, ...]] = ("backlog",)

    busy_pct: float
    backlog: int
    waiting: int = 0
    """The most connections seen in the queue; 0: it overflowed."""

    def text(self) -> str:
        queue = f"Its accept queue (backlog {self.backlog:,})"
        held = f"held {self.waiting:,} connections" if self.waiting else "was full"
        return (
            f"{queue} {held} while it used only {self.busy_pct:.0f} % of a core: it waited, and"
            " accepted connections too slowly."
        )


class Waited(Cause, frozen=True, kw_only=True):
    """The server waited for something other than CPU."""

    busy_pct: float

    def text(self) -> str:
        return (
            f"It used only {self.busy_pct:.0f} % of a core: it waited for something else, such as a"
            " timer, a lock, a database or another service."
        )


_MOSTLY_KERNEL_PCT = 50.0


def _kernel(pct: Figure | None) -> str:
    if pct is None or most(pct) < _MOSTLY_KERNEL_PCT:
        return ""
    return f", {pct:.0f} % of that in system calls"
