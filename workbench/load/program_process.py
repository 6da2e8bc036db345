"""One process of a load tool that is a program, started and read through `run_program`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import msgspec

from workbench.closing import ended
from workbench.errors import PongbenchError
from workbench.load.base import Client, LoadReport, PointSpec
from workbench.load.output import Invocation, Output, Unreadable, checked
from workbench.machines.base import Command, Machine, Process
from workbench.machines.wire import InvalidMessage, decode, quoted
from workbench.messages.base import Message
from workbench.messages.reasons import ClientGone, ToolFailed
from workbench.remote import REMOTE

LAUNCHER = REMOTE / "run_program.py"
READY_WITHIN_S = 8.0
ENDS_WITHIN_S = 8.0
"""After it was interrupted; the launcher kills it after half of that."""
MOST_OUTPUT = 4 << 20
"""Bytes of a program's result, as the launcher reports it."""


class _Ready(msgspec.Struct, frozen=True, tag_field="ev", tag="ready"):
    """It waits for the start."""


class _Failed(msgspec.Struct, frozen=True, tag_field="ev", tag="failed"):
    """The program could not be started."""

    said: str


_DECODER: msgspec.json.Decoder[Output | _Ready | _Failed] = msgspec.json.Decoder(
    Output | _Ready | _Failed
)


class ProgramProcess:
    """One process of a point, from its launch to its report. What fails in it is a complaint, after
    which it takes no further part."""

    def __init__(
        self,
        name: str,
        invocation: Invocation,
        parse: Callable[[Output, PointSpec], LoadReport],
        *,
        client: Client,
        cpus: Sequence[int],
        spec: PointSpec,
    ) -> None:
        """`name`: of the program; `parse`: see `program.Program`; `spec`: its share."""
        self.client = client
        self.spec = spec
        self.cpus = cpus
        self.invocation = invocation
        self.output: Output | None = None
        self.report: LoadReport | None = None
        self.complaint: Message | None = None
        self.overdue = False
        """It did not end by itself, so it was interrupted."""
        self.uncertainty_us = 0
        self.offset_us = 0
        self._name = name
        self._parse = parse
        self._process: Process | None = None
        self._within_s = 0.0

    @property
    def machine(self) -> Machine:
        return self.client.machine

    async def launch(self) -> None:
        """Have everything ready for the start."""
        await self._guarded(self._launch(), READY_WITHIN_S)

    async def go(self, at_us: int) -> None:
        """Start at this instant of our monotonic clock."""
        await self._guarded(self._send(at_us=at_us - self.offset_us), READY_WITHIN_S)

    async def interrupt(self) -> None:
        await self._guarded(self._send(stop=True), READY_WITHIN_S)

    async def finish(self, within_s: float) -> None:
        """Wait for its result; one that does not end by then is interrupted, and what it prints
        then counts."""
        self._within_s = within_s
        await self._guarded(self._finish_or_interrupt(), within_s + ENDS_WITHIN_S)

    async def end(self) -> None:
        if self._process is not None:
            with contextlib.suppress(PongbenchError):
                await self._process.stop(0)

    async def _launch(self) -> None:
        self.offset_us, self.uncertainty_us = await self.machine.clock()
        argv = [*self.machine.python, await self.machine.tool(LAUNCHER)]
        self._process = await self.machine.start(
            Command(argv, nofile=self.client.nofile, cpus=self.cpus)
        )
        name, *arguments = self.invocation.argv
        found = self.client.programs
        await self._send(
            argv=[found.paths.get(self._name, name), *arguments],
            env={**found.env, **self.invocation.env},
            files=self.invocation.files,
            read=self.invocation.read,
            counted=msgspec.to_builtins(self.invocation.counted),
        )
        await self._event()

    async def _finish_or_interrupt(self) -> None:
        finishing = asyncio.ensure_future(self._finish())
        try:
            done, _ = await asyncio.wait({finishing}, timeout=self._within_s)
            if not done:
                self.overdue = True
                await self._send(stop=True)
            await finishing
        finally:
            await ended(finishing)

    async def _finish(self) -> None:
        event = await self._event()
        if not isinstance(event, Output):
            raise Unreadable("a second greeting")
        self.output = event
        self.report = await asyncio.to_thread(checked, self._parse, event, self.spec)

    async def _send(self, **line: Any) -> None:
        assert self._process is not None
        await self._process.send(json.dumps(line).encode())

    async def _event(self) -> Output | _Ready:
        assert self._process is not None
        async for line in self._process.lines():
            if line.startswith(b"{"):
                event = decode(_DECODER, line, MOST_OUTPUT)
                if isinstance(event, _Failed):
                    raise Unreadable(quoted(event.said))
                return event
        raise Unreadable(": ".join(["its launcher ended", *map(quoted, self._process.tail()[-1:])]))

    async def _guarded(self, work: Coroutine[Any, Any, None], within_s: float) -> None:
        if self.complaint:
            work.close()
            return
        said = ""
        try:
            async with asyncio.timeout(within_s):
                await work
        except TimeoutError:
            said = f"did not finish within {within_s:.0f} s and was stopped"
        except (Unreadable, InvalidMessage) as error:
            said = f"{_ended(self.output.status if self.output else 0)} ({error})"
        except PongbenchError as error:
            self.complaint = ClientGone(client=self.machine.name, said=str(error))
        if said and self.overdue:
            said = f"did not finish within {self._within_s:.0f} s and was stopped"
        if said:
            name = self.machine.name
            self.complaint = ToolFailed(tool=self._name, client=name, said=said)


def _ended(status: int) -> str:
    """How a program without a result ended, for a sentence. `status`: see `Output`."""
    if status < 0:
        names = {number.value: number.name for number in signal.Signals}
        return f"was killed by {names.get(-status, f'signal {-status}')}"
    return f"ended with status {status}" if status else "gave no result"
