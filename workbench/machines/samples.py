"""One line of the sampler, and the differences between two."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import msgspec

from workbench.machines.wire import Count, Text

Name: TypeAlias = Annotated[str, msgspec.Meta(max_length=64)]
Figures: TypeAlias = Annotated[dict[Name, Count], msgspec.Meta(max_length=200)]

OWN_DROPS = "OwnListenDrops"
"""Counter of the connections that the watched server's own sockets dropped; missing where the
kernel does not say."""

Ticks: TypeAlias = tuple[Count, Count, Count]
"""Busy, in all, and, as a part of the busy ones, stolen: the core had work, but the host of the
virtual machine gave it to others."""


class Tree(msgspec.Struct, kw_only=True):
    """Sums over a process tree; see `machines.sampler`."""

    cpu_us: Count
    user_us: Count = 0
    system_us: Count = 0
    most_descriptors: Count = 0
    """The most of one process."""
    switches: Count | None = None
    """Context switches; None: the sample was not requested."""
    tasks: Annotated[dict[Name, tuple[Count, Count]], msgspec.Meta(max_length=64)] = {}
    """By thread: time on a CPU and time waiting for one, in us; the busiest threads only."""
    programs: Annotated[dict[Name, Count], msgspec.Meta(max_length=16)] = {}
    """CPU time in us of live processes, by their program's name."""
    collectors_us: Count = 0
    """CPU time of threads that collect garbage, by their names."""
    throttled_us: Count | None = None
    """Time that its control groups throttled it; None: it has no quota, or it is unknown."""
    waits: Annotated[dict[Name, Count], msgspec.Meta(max_length=16)] = {}
    """Threads that ran a short time ago, by what they wait for; see `machines.sampler.WAITS`, and
    "running", "disk", "other". Not in requested samples."""
    upstreams: Annotated[dict[Name, tuple[Count, Count]], msgspec.Meta(max_length=16)] | None = None
    """By remote address: its outgoing connections in use, and how many of them wait for an answer;
    None: not determined."""
    forks: Count = 0
    """Processes and threads started on the whole machine since boot."""
    discards: bool = False
    """Whether one of its processes ignores SIGCHLD, so that the CPU time of its children is lost as
    they end. Only in requested samples."""
    rss: Count
    pss: Count
    """0: not read with this sample."""
    processes: Count
    threads: Count
    descriptors: Count


class Sample(msgspec.Struct):
    """One line of the sampler."""

    t_us: Count
    cores: Annotated[list[Ticks], msgspec.Meta(min_length=1, max_length=4097)]
    """Of the machine, then of each core."""
    softirq: Count
    memory: Count
    counters: Figures
    gauges: Figures
    server: Text
    tree: Tree | None
    listening: tuple[Count, Count] | None
    own_us: Count
    asked: Count = 0
    """Number of the request that it answers; 0: a periodic sample."""
    pressure: Figures = {}
    """By resource: time in us in which a task on the machine waited for it, since boot."""


def same_tree(before: Sample, now: Sample) -> bool:
    return before.tree is not None and now.tree is not None and before.server == now.server


def cpu_us(before: Sample, now: Sample) -> int:
    """Return the CPU time of the watched tree between two samples; 0 when the tree has changed."""
    if before.tree is None or now.tree is None or before.server != now.server:
        return 0
    # It shrinks when a child ends that its parent did not wait for.
    return max(0, now.tree.cpu_us - before.tree.cpu_us)


def cpu_pct(before: Sample, now: Sample) -> float:
    return round(100 * cpu_us(before, now) / max(1, now.t_us - before.t_us), 1)


def differences(before: Ticks, now: Ticks) -> tuple[int, int]:
    """Busy ticks, and all."""
    return now[0] - before[0], now[1] - before[1]


def percent(part: int, whole: int) -> int:
    return round(100 * part / whole) if whole > 0 else 0


def growth(before: dict[str, int], now: dict[str, int]) -> dict[str, int]:
    """Return by how much counters grew. Connections that other programs dropped are left out where
    those of the server are known."""
    grown = {name: value - before.get(name, value) for name, value in now.items()}
    if OWN_DROPS in before and OWN_DROPS in now:
        own = grown.pop(OWN_DROPS)
        grown |= {name: min(own, grown.get(name, 0)) for name in ("ListenDrops", "ListenOverflows")}
    return {name: value for name, value in grown.items() if value > 0 and name != OWN_DROPS}
