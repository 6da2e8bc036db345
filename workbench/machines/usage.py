"""What a watched server and its machine did from one sample to another."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from typing import Annotated, Any, TypeAlias

import msgspec

from workbench.analysis.usage import Reading, ThreadUse, Upstream, Usage
from workbench.machines.wire import Count, Text

Name: TypeAlias = Annotated[str, msgspec.Meta(max_length=64)]
Figures: TypeAlias = Annotated[dict[Name, Count], msgspec.Meta(max_length=200)]

OWN_DROPS = "OwnListenDrops"
"""Connections that the server's own sockets dropped; missing where the kernel does not say."""

Ticks: TypeAlias = tuple[Count, Count, Count]
"""Busy, in all, and, as a part of the busy ones, stolen: the core had work, but the host of the
virtual machine gave it to others."""


class Tree(msgspec.Struct, kw_only=True):
    """Sums over a process tree; see `remote.sampler`."""

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
    """Threads that ran a short time ago, by what they wait for: see `remote.sampler.tree.WAITS`,
    and "running", "disk", "other". Not in requested samples."""
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
    """Return by how much counters grew, without drops that are known not to be the server's."""
    grown = {name: value - before.get(name, value) for name, value in now.items()}
    if OWN_DROPS in before and OWN_DROPS in now:
        own = grown.pop(OWN_DROPS)
        grown |= {name: min(own, grown.get(name, 0)) for name in ("ListenDrops", "ListenOverflows")}
    return {name: value for name, value in grown.items() if value > 0 and name != OWN_DROPS}


def _waits(found: Sequence[tuple[Tree, int]]) -> dict[str, Any]:
    """Return figures of `Usage`. `found`: trees, with descriptors beyond the idle server's."""
    seen = [each for each in found if each[0].waits]
    kinds: Counter[str] = Counter()
    of_each: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for tree, _ in seen:
        kinds.update(tree.waits)
        for address, (connections, waiting) in (tree.upstreams or {}).items():
            asked = of_each[address]
            asked.update(connections=connections, waiting=waiting, present=waiting > 0)
    looks = sum(tree.upstreams is not None for tree, _ in seen)
    upstreams = [
        Upstream(
            address,
            asked["connections"] / looks,
            asked["waiting"] / asked["connections"],
            asked["present"] / looks,
        )
        for address, asked in of_each.items()
        if asked["connections"]
    ]
    return {
        "waits": {kind: count / len(seen) for kind, count in kinds.items()},
        "opened": sum(opened for _, opened in seen) / len(seen) if seen else 0.0,
        "upstreams": tuple(sorted(upstreams, key=lambda each: -each.connections * each.share)),
    }


LEAST_TICKED_US = 200_000
"""CPU time above which shares measured in ticks of 10 ms are accurate to a few percent."""

OWN_DESCRIPTORS = 2
"""Descriptors that a server opens for itself when it begins to work."""

FEW = 20
"""Concurrent connections: a server that never had more keeps no memory of closed ones. At their
first calls many servers allocate memory that belongs to no connection."""

KEPT_SHARE = 0.9
"""Share of the most descriptors so far: with fewer, a server may keep memory of closed ones."""

FEWEST_FORKS_PER_S = 10
"""Processes and threads started per second on the whole machine: with fewer, the CPU time of
children that ended is next to nothing."""

LEAST_SLICE_US = 100_000
"""The shortest time between two samples for which a share of a core is computed."""


class _Idle:
    """A server's memory before it had connections."""

    _server = ""
    _pss = 0
    _descriptors = 0
    _most = 0
    _own = -1
    """Descriptors before it had connections; -1: unknown yet."""
    opened = 0
    """Open connections, estimated from descriptors."""

    def grown(self, sample: Sample) -> int | None:
        """See `Reading.grown_bytes`. Every sample must be given, in order."""
        tree = sample.tree
        if tree is None:
            return None
        if sample.server != self._server:
            self._server, self._pss = sample.server, 0
            self._descriptors = self._most = tree.descriptors
            self._own = -1
        self._most = max(self._most, tree.descriptors)
        if not sample.asked:
            # The kernel reserves a descriptor for every thread that waits in accept().
            own = tree.descriptors - tree.waits.get("accept", 0)
            self._own = own if self._own < 0 else min(own, self._own)
            self.opened = own - self._own
        idle = tree.descriptors <= self._descriptors + OWN_DESCRIPTORS
        if tree.pss and (not self._pss or (idle and self._most <= self._descriptors + FEW)):
            self._pss = tree.pss
        known = tree.pss and self._pss and tree.descriptors >= KEPT_SHARE * self._most
        return tree.pss - self._pss if known else None


class Tally:
    """Adds up samples from a first one on. `cores`: the observed ones; empty: all. `beside`: those
    of them on which the server does not run."""

    def __init__(
        self,
        first: Sample,
        cores: Collection[int] = (),
        beside: Collection[int] = (),
        idle: _Idle | None = None,
    ) -> None:
        self._idle = idle or _Idle()
        self._idle.grown(first)
        self._readings: list[Reading] = []
        self._first = first
        self._cores = cores
        self._beside = beside
        self._last = first
        self._cpu_us = 0
        self._known = True
        """Was the same tree there all the time?"""
        self._slices: list[float] = []
        """CPU of the tree between samples, of one core, in percent."""
        self._descriptors = 0
        self._rss_bytes = 0
        self._trees: list[tuple[Tree, int]] = []
        """Of periodic samples, with the open connections."""

    def add(self, sample: Sample) -> None:
        self._cpu_us += cpu_us(self._last, sample)
        same = self._last.tree and sample.tree and self._last.server == sample.server
        self._known = self._known and bool(same)
        if sample.t_us - self._last.t_us >= LEAST_SLICE_US:
            self._slices.append(cpu_pct(self._last, sample))
        if sample.tree:
            self._descriptors = max(self._descriptors, sample.tree.most_descriptors)
            self._rss_bytes = max(self._rss_bytes, sample.tree.rss)
        waiting = sample.listening[0] if sample.listening else 0
        grown = self._idle.grown(sample)
        if sample.tree and not sample.asked:
            self._trees.append((sample.tree, self._idle.opened))
        self._readings.append(Reading(sample.t_us, self._cpu_us, grown, waiting))
        self._last = sample

    def again(self) -> Tally:
        """Return a new tally that begins where this one is."""
        return Tally(self._last, self._cores, self._beside, self._idle)

    def usage(self) -> Usage:
        elapsed_us = self._last.t_us - self._first.t_us
        if not elapsed_us:
            return Usage()
        first, last = self._first.tree, self._last.tree
        known = (first, last) if self._known and first and last else None
        forks = known[1].forks - known[0].forks if known else 0
        often = forks >= FEWEST_FORKS_PER_S * elapsed_us / 1e6
        lost = bool(known and known[1].discards and often)
        ordered = sorted(self._slices)
        grown = growth(self._first.pressure, self._last.pressure)
        return Usage(
            seconds=elapsed_us / 1e6,
            cpu_lost=lost,
            cpu_pct=0.0 if lost else 100 * self._cpu_us / elapsed_us,
            cpu_us=0 if lost else self._cpu_us,
            busy_pct=ordered[(len(ordered) - 1) * 4 // 5] if ordered and not lost else 0.0,
            pressure={
                name: min(1.0, grown.get(name, 0) / elapsed_us) for name in self._last.pressure
            },
            descriptors=self._descriptors,
            rss_bytes=self._rss_bytes,
            accept_queue=max((reading.waiting for reading in self._readings), default=0),
            counters=growth(self._first.counters, self._last.counters),
            throttled_s=_throttled_s(first, last),
            readings=tuple(self._readings),
            **(_of_tree(*known, lost=lost) if known else {}),
            **_waits(self._trees),
            **self._elsewhere(elapsed_us / 1e6, lost=lost),
        )

    def _elsewhere(self, elapsed_s: float, *, lost: bool) -> dict[str, Any]:
        first, last = self._first, self._last
        if lost and not self._beside:
            return {"elsewhere_s": None}
        _, total = differences(first.cores[0], last.cores[0])
        count = len(last.cores) - 1
        if total <= 0 or not count:
            return {}
        # Total of all cores; the length of a tick follows from the elapsed time.
        tick_s = elapsed_s * count / total
        softirq = last.softirq - first.softirq
        cores = self._beside if lost else self._cores
        observed = [core + 1 for core in cores if core < count] or [0]
        busy, stolen = (
            sum(last.cores[n][kind] - first.cores[n][kind] for n in observed) for kind in (0, 2)
        )
        known_us = last.own_us - first.own_us + (0 if lost else self._cpu_us)
        elsewhere_s = max(0.0, (busy - softirq) * tick_s - known_us / 1e6)
        return {"elsewhere_s": elsewhere_s, "stolen_s": min(elsewhere_s, stolen * tick_s)}


def _of_tree(first: Tree, last: Tree, *, lost: bool) -> dict[str, Any]:
    """Return the figures of `Usage` that need the same tree at both ends."""
    system = max(0, last.system_us - first.system_us)
    whole = system + max(0, last.user_us - first.user_us)
    threads = [
        ThreadUse((now[0] - first.tasks[task][0]) / 1e6, (now[1] - first.tasks[task][1]) / 1e6)
        for task, now in last.tasks.items()
        if task in first.tasks
    ]
    programs = growth(first.programs, last.programs)
    return {
        "system_share": system / whole if whole >= LEAST_TICKED_US and not lost else None,
        "switches": _switches(first, last),
        "threads": tuple(sorted(threads, key=lambda thread: -thread.cpu_s)),
        "programs": {
            name: programs[name] / 1e6
            for name in sorted(programs, key=lambda name: -programs[name])
        },
        "collectors_s": max(0, last.collectors_us - first.collectors_us) / 1e6,
    }


def _switches(first: Tree, last: Tree) -> int | None:
    if first.switches is None or last.switches is None or last.switches < first.switches:
        return None
    count = last.switches - first.switches
    # A thread that ended, perhaps of another program, took at least two switches with it.
    return count if 50 * (last.forks - first.forks) <= count else None


def _throttled_s(first: Tree | None, last: Tree | None) -> float | None:
    if not (first and last) or first.throttled_us is None or last.throttled_us is None:
        return None
    return max(0, last.throttled_us - first.throttled_us) / 1e6
