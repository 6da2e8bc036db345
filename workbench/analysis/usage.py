"""What a watched server and its machine did during a point; `machines.usage` adds it up."""

from __future__ import annotations

from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Upstream:
    """A service that the server calls, such as a database."""

    address: str
    connections: float
    """Connections in use, mean of the samples."""
    share: float
    """Share of `connections` that waited for an answer."""
    present: float
    """Share of the samples in which at least one waited."""


@dataclass(frozen=True)
class ThreadUse:
    """A thread of the server during a point."""

    cpu_s: float
    waited_s: float
    """Seconds ready to run while another thread had the CPU."""


@dataclass(frozen=True)
class Reading:
    """The server's process tree at one instant of a point."""

    t_us: int
    """On the session's axis."""
    cpu_us: int
    """CPU time since the point began."""
    grown_bytes: int | None
    """Growth of memory (PSS) since the server had almost no connections; None: not read, or the
    server had more connections before and may have kept their memory."""
    waiting: int
    """Connections in the accept queue."""


@dataclass(frozen=True)
class Usage:
    """What a watched server and its machine did over several samples."""

    seconds: float = 0.0
    """Seconds covered by the samples; 0: there were none, and the other figures mean nothing."""
    cpu_lost: bool = False
    """The CPU time of processes that it started was lost as they ended, because it ignores SIGCHLD:
    its figures of CPU time are 0, and those of threads and `readings` too low."""
    cpu_pct: float = 0.0
    """Mean, in percent of one core, of the whole process tree."""
    cpu_us: int = 0
    """CPU time of the whole process tree."""
    system_share: float | None = None
    """Share of it spent in the kernel; None: too little CPU time for ticks of 10 ms."""
    switches: int | None = None
    """Of contexts, in the whole process tree; None: not counted, or lost with ended threads."""
    busy_pct: float = 0.0
    """80th percentile of the samples, in percent of one core, of the whole process tree. Idle time
    before and after the load does not dilute it."""
    threads: tuple[ThreadUse, ...] = ()
    """Busiest first; only those that existed throughout."""
    pressure: dict[str, float] = field(default_factory=dict)
    """By resource ("cpu", "memory", "io"): share of the time in which a task on the machine waited
    for it; empty: not available from the kernel."""
    descriptors: int = 0
    """The most descriptors that one of its processes had open."""
    rss_bytes: int = 0
    """Peak, in bytes."""
    accept_queue: int = 0
    """The most connections seen in the accept queue."""
    counters: dict[str, int] = field(default_factory=dict)
    """Kernel counters that grew, and by how much."""
    waits: dict[str, float] = field(default_factory=dict)
    """By what they waited for: threads, mean of the samples; see `machines.usage.Tree.waits`."""
    upstreams: tuple[Upstream, ...] = ()
    """Those waited for the most first."""
    opened: float = 0.0
    """Descriptors, mean of the samples, beyond those of the idle server: its connections."""
    programs: dict[str, float] = field(default_factory=dict)
    """CPU seconds by program name within the tree, highest first."""
    collectors_s: float = 0.0
    """CPU time of garbage collector threads, recognised by name."""
    throttled_s: float | None = None
    """Time that a CPU quota throttled it; None: it has no quota."""
    readings: tuple[Reading, ...] = ()
    """In order of time."""
    elsewhere_s: float | None = 0.0
    """CPU seconds of the observed cores used by neither the process tree, nor the sampler, nor soft
    interrupts. A lower bound: some kernels charge soft interrupts to processes. Where CPU time is
    lost, of the cores without the server; None: there are none."""
    stolen_s: float = 0.0
    """The part of `elsewhere_s` that the host of a virtual machine took."""

    def seen(self, *, here: bool, known: bool) -> Usage:
        """Return what of it is known of a server that may be elsewhere, or whose processes the
        kernel does not show (`known`): its CPU time then is lost, and is not told from that of
        other programs."""
        if not here:
            return Usage(
                seconds=self.seconds,
                cpu_lost=True,
                elsewhere_s=self.elsewhere_s,
                stolen_s=self.stolen_s,
            )
        return self if known else replace(self, cpu_lost=True, elsewhere_s=None)

    @property
    def cpu_s(self) -> float:
        return self.cpu_us / 1e6

    @property
    def busiest(self) -> ThreadUse | None:
        """None: unknown."""
        return self.threads[0] if self.threads else None

    @property
    def working(self) -> int:
        """Threads that used CPU time."""
        return sum(thread.cpu_s > 0 for thread in self.threads)
