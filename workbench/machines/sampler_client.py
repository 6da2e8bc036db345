"""This side of the sampler: its lines become `HostSample` documents and figures for a point."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Annotated, TypeAlias

import msgspec

from workbench.closing import ended, to_the_end
from workbench.documents import HostSample
from workbench.errors import PongbenchError
from workbench.machines.base import Command, Machine, Process
from workbench.machines.linked import SAMPLER
from workbench.machines.pulse import Pulse
from workbench.machines.wire import Count, InvalidMessage, Text, decode, quoted

SILENT_S = 6.0
"""Without a sample, of which five a second are due, a sampler counts as lost."""
ASKED_S = 2.0
"""How long a sample that was asked for may take; a point does not wait longer for it."""
LEAST_TICKED_US = 200_000
"""CPU time whose shares ticks of 10 ms tell to a few percent."""
MOST_PER_S = 20
"""Samples; a sampler that was held up catches up."""

Name: TypeAlias = Annotated[str, msgspec.Meta(max_length=64)]
Figures: TypeAlias = Annotated[dict[Name, Count], msgspec.Meta(max_length=200)]


class Tree(msgspec.Struct, kw_only=True):
    """Sums over a process tree; see `machines.sampler`."""

    cpu_us: Count
    user_us: Count = 0
    system_us: Count = 0
    switches: Count | None = None
    """Of context; None: the sample was not asked for."""
    forks: Count = 0
    """Of the whole machine."""
    rss: Count
    pss: Count
    processes: Count
    threads: Count
    descriptors: Count


class Sample(msgspec.Struct):
    """One line of the sampler."""

    t_us: Count
    cores: Annotated[list[tuple[Count, Count]], msgspec.Meta(min_length=1, max_length=4097)]
    softirq: Count
    memory: Count
    counters: Figures
    gauges: Figures
    server: Text
    tree: Tree | None
    listening: tuple[Count, Count] | None
    own_us: Count
    asked: Count = 0
    """Number of the request that it answers; 0: it came by itself."""


_SAMPLE = msgspec.json.Decoder(Sample)


@dataclass(frozen=True)
class Usage:
    """What a watched server and its machine did over some samples."""

    seconds: float = 0.0
    """That the samples cover; 0: there was none, and the figures mean nothing."""
    cpu_pct: float = 0.0
    """Of one core, the whole process tree; mean."""
    cpu_us: int = 0
    """CPU time of the whole process tree."""
    system_share: float | None = None
    """Of that, spent in the kernel; None: too little for the kernel's ticks of 10 ms to tell."""
    switches: int | None = None
    """Of context, of the whole process tree; None: not counted, or threads took theirs along."""
    rss_bytes: int = 0
    """Peak."""
    accept_queue: int = 0
    """Most connections seen waiting."""
    counters: dict[str, int] = field(default_factory=dict)
    """Kernel counters that grew, by how much."""
    elsewhere_s: float = 0.0
    """CPU seconds of the observed cores that neither the process tree, nor the sampler, nor soft
    interrupts used. At least: some kernels charge soft interrupts to processes, too."""


class Differ:
    """Turns samples into documents: counters become differences, ticks become percent."""

    def __init__(self, machine: str, to_session_us: Callable[[int], int]) -> None:
        self._machine = machine
        self._to_session_us = to_session_us
        self._last: Sample | None = None
        self._pss = 0

    def document(self, sample: Sample) -> HostSample | None:
        """None for the first sample: there is nothing to compare it with."""
        last, self._last = self._last, sample
        tree = sample.tree
        if tree and tree.pss:
            self._pss = tree.pss
        elif tree is None or last is None or sample.server != last.server:
            self._pss = 0
        if last is None:
            return None
        busy, total = differences(last.cores[0], sample.cores[0])
        gauges = sample.gauges | {
            "SoftirqPct": percent(sample.softirq - last.softirq, total),
            "BusiestCorePct": max(
                (
                    percent(*differences(before, now))
                    for before, now in zip(last.cores[1:], sample.cores[1:], strict=False)
                ),
                default=0,
            ),
        }
        accept_queue, backlog = sample.listening or (0, 0)
        return HostSample(
            t_us=self._to_session_us(sample.t_us),
            machine=self._machine,
            server=sample.server,
            cpu_pct=cpu_pct(last, sample),
            rss_bytes=tree.rss if tree else 0,
            pss_bytes=self._pss,
            processes=tree.processes if tree else 0,
            threads=tree.threads if tree else 0,
            descriptors=tree.descriptors if tree else 0,
            accept_queue=accept_queue,
            backlog=backlog,
            host_cpu_pct=round(100 * busy / total, 1) if total > 0 else 0.0,
            memory_available_bytes=sample.memory,
            counters=growth(last.counters, sample.counters),
            gauges={name: value for name, value in gauges.items() if value},
        )


class Tally:
    """Adds up samples since a first one. `cores`: those observed; empty: all."""

    def __init__(self, first: Sample, cores: Collection[int] = ()) -> None:
        self._first = first
        self._cores = cores
        self._last = first
        self._cpu_us = 0
        self._known = True
        """Was the same tree there all the time?"""
        self._rss_bytes = 0
        self._accept_queue = 0

    def add(self, sample: Sample) -> None:
        self._cpu_us += cpu_us(self._last, sample)
        self._known = self._known and same_tree(self._last, sample)
        if sample.tree:
            self._rss_bytes = max(self._rss_bytes, sample.tree.rss)
        if sample.listening:
            self._accept_queue = max(self._accept_queue, sample.listening[0])
        self._last = sample

    def again(self) -> Tally:
        """A new one that begins where this one is."""
        return Tally(self._last, self._cores)

    def usage(self) -> Usage:
        elapsed_us = self._last.t_us - self._first.t_us
        if not elapsed_us:
            return Usage()
        return Usage(
            seconds=elapsed_us / 1e6,
            cpu_pct=100 * self._cpu_us / elapsed_us,
            cpu_us=self._cpu_us,
            system_share=self._system_share(),
            switches=self._switches(),
            rss_bytes=self._rss_bytes,
            accept_queue=self._accept_queue,
            counters=growth(self._first.counters, self._last.counters),
            elsewhere_s=self._elsewhere_s(elapsed_us / 1e6),
        )

    def _system_share(self) -> float | None:
        first, last = self._first.tree, self._last.tree
        if not (self._known and first and last):
            return None
        system = max(0, last.system_us - first.system_us)
        whole = system + max(0, last.user_us - first.user_us)
        return system / whole if whole >= LEAST_TICKED_US else None

    def _switches(self) -> int | None:
        first, last = self._first.tree, self._last.tree
        if not (self._known and first and last):
            return None
        if first.switches is None or last.switches is None or last.switches < first.switches:
            return None
        count = last.switches - first.switches
        # A thread that ended took at least two with it, perhaps of another program.
        return count if 50 * (last.forks - first.forks) <= count else None

    def _elsewhere_s(self, elapsed_s: float) -> float:
        first, last = self._first, self._last
        busy, total = differences(first.cores[0], last.cores[0])
        count = len(last.cores) - 1
        if total <= 0 or not count:
            return 0.0
        # Of all cores together; a tick is as long as it must be to fill the time.
        tick_s = elapsed_s * count / total
        softirq = last.softirq - first.softirq
        observed = [core + 1 for core in self._cores if core < count]
        if observed:
            busy = sum(differences(first.cores[n], last.cores[n])[0] for n in observed)
        known_us = self._cpu_us + last.own_us - first.own_us
        return max(0.0, (busy - softirq) * tick_s - known_us / 1e6)


class Sampling:
    """Samples one machine from `start` to `stop`. `cores`: see `Usage.elsewhere_s`.

    A sampler that ends, falls silent or talks nonsense is told by `failure` and `lost`; the run can
    go on without, or start it `again`.
    """

    def __init__(self, cores: Collection[int] = ()) -> None:
        self._cores = frozenset(cores)
        self.failure: PongbenchError | None = None
        self._machine: Machine | None = None
        self._to_session_us: Callable[[int], int]
        self._emit: Callable[[HostSample], object]
        self._watched: dict[str, int | str] = {}
        self._process: Process | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._over = asyncio.Event()
        self._tally: Tally | None = None
        self._asked = 0
        self._answered = 0
        self._came = asyncio.Event()

    async def start(
        self,
        machine: Machine,
        to_session_us: Callable[[int], int],
        emit: Callable[[HostSample], object],
    ) -> None:
        """`to_session_us` maps the machine's monotonic clock to the session's axis."""
        self._machine, self._to_session_us, self._emit = machine, to_session_us, emit
        program = await machine.put(SAMPLER, "sampler.py")
        process = await machine.start(Command([*machine.python, program]))
        self._process = process
        pulse = Pulse()
        self._tasks = [
            asyncio.create_task(self._read(process, pulse)),
            asyncio.create_task(self._listen(pulse)),
        ]

    async def again(self) -> None:
        """Where it was lost: start it anew, with what it watched. Raises PongbenchError."""
        assert self._machine
        await self.stop()
        self._tally = None
        await self.start(self._machine, self._to_session_us, self._emit)
        self.failure = None
        self._over.clear()
        await self._say()

    async def lost(self) -> PongbenchError:
        """Wait until no more samples can come; why."""
        await self._over.wait()
        assert self.failure
        return self.failure

    async def watch(self, server: str, pid: int, port: int) -> None:
        """From now on measure this process tree and this port; `pid` 0: none."""
        self._watched = {"watch": pid, "port": port, "server": server}
        await self._say()

    async def _say(self) -> None:
        if self._process and self.failure is None and self._watched:
            # One that has just ended is told by `failure`.
            with contextlib.suppress(PongbenchError):
                await self._process.send(msgspec.json.encode(self._watched))

    async def stop(self) -> None:
        await ended(*self._tasks)
        if self._process:
            with contextlib.suppress(PongbenchError):
                await to_the_end(self._process.stop(0))

    async def mark(self) -> None:
        """Begin a point: `since_mark` counts from now on."""
        await self._now()
        if self._tally:
            self._tally = self._tally.again()

    async def since_mark(self, *, now: bool = True) -> Usage:
        """Until `now`; else, or without a sample within `ASKED_S`, until the last that came in."""
        if now:
            await self._now()
        return self._tally.usage() if self._tally else Usage()

    async def _now(self) -> None:
        """Ask for a sample and wait until it has come in."""
        if not self._process or self.failure:
            return
        self._asked += 1
        number, self._came = self._asked, asyncio.Event()
        with contextlib.suppress(PongbenchError, TimeoutError):
            async with asyncio.timeout(ASKED_S):
                await self._process.send(msgspec.json.encode({"asked": number}))
                while self._answered < number and not self._over.is_set():
                    await self._came.wait()
                    self._came.clear()

    async def _read(self, process: Process, pulse: Pulse) -> None:
        assert self._machine
        differ = Differ(self._machine.name, self._to_session_us)
        began, count, last_us = time.monotonic(), 0, -1
        try:
            async for line in process.lines():
                pulse.heard()
                sample = decode(_SAMPLE, line)
                count += 1
                if sample.t_us <= last_us:
                    raise InvalidMessage("samples that go back in time")
                if count > MOST_PER_S * (time.monotonic() - began + SILENT_S):
                    raise InvalidMessage(f"more than {MOST_PER_S} samples a second")
                last_us = sample.t_us
                # Answers to what was asked too long ago come as well; each is heard once.
                self._answered = max(self._answered, min(sample.asked, self._asked))
                if self._tally:
                    self._tally.add(sample)
                else:
                    self._tally = Tally(sample, self._cores)
                self._came.set()
                # One that was asked for comes soon after another: a share of ticks says nothing.
                document = None if sample.asked else differ.document(sample)
                if document:
                    self._emit(document)
            said = [line for line in process.tail() if not line.startswith("{")][-1:]
            self._fail(": ".join(["The sampler ended by itself", *map(quoted, said)]))
        except InvalidMessage as error:
            said = [line for line in process.tail() if not line.startswith("{")][-1:]
            detail = quoted(said[0]) if said else str(error)
            self._fail(f"The sampler can no longer be read: {detail}")
        except PongbenchError as error:
            self._fail(f"The sampler can no longer be read: {error}")

    async def _listen(self, pulse: Pulse) -> None:
        await pulse.stops(SILENT_S)
        self._fail(f"The sampler has said nothing for {SILENT_S:.0f} s")

    def _fail(self, why: str) -> None:
        if self.failure is None:
            self.failure = PongbenchError(f"{why.rstrip('.')}.")
        self._over.set()
        self._came.set()


def same_tree(before: Sample, now: Sample) -> bool:
    return before.tree is not None and now.tree is not None and before.server == now.server


def cpu_us(before: Sample, now: Sample) -> int:
    """CPU time of the watched tree between two samples; 0 when another one is watched."""
    if before.tree is None or now.tree is None or before.server != now.server:
        return 0
    # Less than before: a child ended that its parent did not wait for.
    return max(0, now.tree.cpu_us - before.tree.cpu_us)


def cpu_pct(before: Sample, now: Sample) -> float:
    return round(100 * cpu_us(before, now) / max(1, now.t_us - before.t_us), 1)


def differences(before: tuple[int, int], now: tuple[int, int]) -> tuple[int, int]:
    return now[0] - before[0], now[1] - before[1]


def percent(part: int, whole: int) -> int:
    return round(100 * part / whole) if whole > 0 else 0


def growth(before: dict[str, int], now: dict[str, int]) -> dict[str, int]:
    grown = {name: value - before.get(name, value) for name, value in now.items()}
    return {name: value for name, value in grown.items() if value > 0}
