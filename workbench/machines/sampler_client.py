"""The client side of the sampler: its lines as `HostSample` documents and figures of a point."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import msgspec

from workbench.analysis.usage import Usage
from workbench.closing import ended, to_the_end
from workbench.documents import HostSample
from workbench.errors import PongbenchError
from workbench.machines.base import SAMPLER, Machine
from workbench.machines.pulse import Pulse
from workbench.machines.runner_client import Command, Process
from workbench.machines.usage import Sample, Tally, cpu_pct, differences, growth, percent
from workbench.machines.wire import InvalidMessage, decode, quoted

SILENT_S = 6.0
"""Seconds without a sample (five a second are scheduled) after which a sampler counts as lost."""
ASKED_S = 2.0
"""The longest wait, in seconds, for a requested sample; a point does not wait longer."""
MOST_PER_S = 20
"""Samples kept; a delayed sampler catches up."""

_SAMPLE = msgspec.json.Decoder(Sample)


class Differ:
    """Turns samples into documents: counters become differences, ticks become percent."""

    def __init__(self, machine: str, to_session_us: Callable[[int], int]) -> None:
        self._machine = machine
        self._to_session_us = to_session_us
        self._last: Sample | None = None
        self._pss = 0

    def document(self, sample: Sample) -> HostSample | None:
        """Return the document; None for the first sample, which has nothing to be compared with."""
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


class Sampling:
    """Samples one machine. `cores`, `beside`: see `Tally`. A sampler that ends, falls silent or
    sends invalid lines is reported by `failure` and `lost`; `again` restarts it."""

    def __init__(
        self,
        machine: Machine,
        to_session_us: Callable[[int], int],
        emit: Callable[[HostSample], object],
        cores: Collection[int] = (),
        beside: Collection[int] = (),
    ) -> None:
        """`to_session_us` maps the machine's monotonic clock to the session's axis."""
        self._machine, self._to_session_us, self._emit = machine, to_session_us, emit
        self._cores, self._beside = frozenset(cores), frozenset(beside)
        self.failure: PongbenchError | None = None
        self._watched: dict[str, object] = {}
        self._process: Process | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._over = asyncio.Event()
        self._tally: Tally | None = None
        self._asked = 0
        self._answered = 0
        self._arrived = asyncio.Event()

    async def start(self) -> None:
        program = await self._machine.tool(SAMPLER)
        process = await self._machine.start(Command([*self._machine.python, program]))
        self._process = process
        pulse = Pulse()
        self._tasks = [
            asyncio.create_task(self._read(process, pulse)),
            asyncio.create_task(self._listen(pulse)),
        ]

    async def again(self) -> None:
        """Restart a lost sampler, watching the same process tree. Raises PongbenchError."""
        await self.stop()
        self._tally = None
        await self.start()
        self.failure = None
        self._over.clear()
        await self._send()

    async def lost(self) -> PongbenchError:
        await self._over.wait()
        assert self.failure
        return self.failure

    async def watch(
        self, server: str, pid: int | Sequence[int], port: int, group: str = ""
    ) -> None:
        """Measure this process tree, or several, and this port from now on; `pid` 0: none. `group`:
        the folder of the control group whose processes count in place of them."""
        self._watched = {"watch": pid, "port": port, "server": server, "group": group}
        await self._send()

    async def _send(self) -> None:
        if self._process and self.failure is None and self._watched:
            # A sampler that has just ended is reported by `failure`.
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
        """Return the usage until `now`, or the last sample if none arrives within `ASKED_S`."""
        if now:
            await self._now()
        usage = self._tally.usage() if self._tally else Usage()
        on_axis = (replace(each, t_us=self._to_session_us(each.t_us)) for each in usage.readings)
        return replace(usage, readings=tuple(on_axis))

    async def _now(self) -> None:
        if not self._process or self.failure:
            return
        self._asked += 1
        number, self._arrived = self._asked, asyncio.Event()
        with contextlib.suppress(PongbenchError, TimeoutError):
            async with asyncio.timeout(ASKED_S):
                await self._process.send(msgspec.json.encode({"asked": number}))
                while self._answered < number and not self._over.is_set():
                    await self._arrived.wait()
                    self._arrived.clear()

    async def _read(self, process: Process, pulse: Pulse) -> None:
        differ = Differ(self._machine.name, self._to_session_us)
        began, count, last_us = time.monotonic(), 0, -1
        try:
            async for line in process.lines():
                pulse.beat()
                sample = decode(_SAMPLE, line)
                count += 1
                if sample.t_us <= last_us:
                    raise InvalidMessage("samples that go back in time")
                if count > MOST_PER_S * (time.monotonic() - began + SILENT_S):
                    raise InvalidMessage(f"more than {MOST_PER_S} samples a second")
                last_us = sample.t_us
                # Late answers to earlier requests arrive as well; each is used once.
                self._answered = max(self._answered, min(sample.asked, self._asked))
                if self._tally:
                    self._tally.add(sample)
                else:
                    self._tally = Tally(sample, self._cores, self._beside)
                self._arrived.set()
                # A requested sample follows another closely: a share of so few ticks means nothing.
                document = None if sample.asked else differ.document(sample)
                if document:
                    self._emit(document)
            output = [line for line in process.tail() if not line.startswith("{")][-1:]
            self._fail(": ".join(["The sampler ended by itself", *map(quoted, output)]))
        except InvalidMessage as error:
            output = [line for line in process.tail() if not line.startswith("{")][-1:]
            detail = quoted(output[0]) if output else str(error)
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
        self._arrived.set()
