"""A client and the load agent on it: one process and its lines. The runner there ends it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from typing import Any

from workbench.closing import ended
from workbench.errors import PongbenchError
from workbench.load import events
from workbench.load.base import Client
from workbench.machines.bundle import agent_command
from workbench.machines.runner_client import Command, Process
from workbench.machines.wire import MOST_NOISE, InvalidMessage, decode, quoted
from workbench.remote.agent.protocol import VERSION

HELLO_WITHIN_S = 8.0
FILES = "files"
"""Folder in the run directory for the files that a workload brings."""


class Agent:
    """One agent process: reads its lines."""

    def __init__(self, client: Client, process: Process) -> None:
        self.client = client
        self.name = client.machine.name
        self.process = process
        self.hello: events.Hello | None = None
        self.offset_us = 0
        self.uncertainty_us = 0
        self.failure = ""
        self.on_event: Callable[[Agent, events.AgentEvent | events.Lost], None] = lambda *_: None
        self._greeted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._reading = asyncio.create_task(self._read())

    async def ready(self) -> None:
        """Wait for its hello. Raises PongbenchError when it is late or does not match."""
        try:
            async with asyncio.timeout(HELLO_WITHIN_S):
                await self._greeted
        except TimeoutError:
            raise PongbenchError(f"The load agent on {self.name} did not start.") from None
        if self.hello and self.hello.version != VERSION:
            raise PongbenchError(
                f"The load agent on {self.name} speaks version {self.hello.version}, "
                f"this program version {VERSION}."
            )
        await self.set_clock()

    async def set_clock(self) -> None:
        """Measure the clock again: a drift of one second per week is 1 ms in ten minutes."""
        self.offset_us, self.uncertainty_us = await self.client.machine.clock()

    async def send(self, **command: Any) -> None:
        await self.process.send(json.dumps(command).encode())

    async def close(self) -> None:
        await ended(self._reading)
        with contextlib.suppress(PongbenchError):
            await self.process.stop()

    async def _read(self) -> None:
        try:
            noise = 0
            async for line in self.process.lines():
                if line.startswith(b"{"):
                    self._take(decode(events.DECODER, line))
                    continue
                noise += 1  # Such as a traceback; it stays in the tail.
                if noise > MOST_NOISE:
                    raise InvalidMessage(f"{quoted(self.process.tail()[-1])}, and so on")
            output = [quoted(line) for line in self.process.tail() if not line.startswith("{")]
            self._fail(": ".join([f"The load agent on {self.name} ended", *output[-1:]]) + ".")
        except PongbenchError as error:
            self._fail(str(error))
        except InvalidMessage as error:
            self._fail(f"The load agent on {self.name} sent an invalid message ({error}).")
            with contextlib.suppress(PongbenchError):
                await self.process.stop(0)  # It may still offer load.

    def _take(self, event: events.AgentEvent) -> None:
        if not isinstance(event, events.Hello):
            self.on_event(self, event)
        elif self.hello:
            raise InvalidMessage("a second greeting")
        else:
            self.hello = event
            if not self._greeted.done():
                self._greeted.set_result(None)

    def _fail(self, sentence: str) -> None:
        self.failure = sentence
        if not self._greeted.done():
            self._greeted.set_exception(PongbenchError(self.failure))
            self._greeted.exception()  # No caller waits for it any more.
        self.on_event(self, events.Lost())


async def command(client: Client, worker: str = "") -> Command:
    """Return the agent's command with its options; the agent is copied there if it is missing.
    `worker`: see `agent_command`."""
    brought = client.brought
    argv, env = await agent_command(client.machine, worker, brought)
    for name, source in (brought.files if brought else {}).items():
        await client.machine.put(source, f"{FILES}/{name}")
    argv += ["--workers", str(client.workers)]
    if client.cpus:
        argv += ["--cpus", ",".join(map(str, client.cpus))]
    cwd = FILES if brought and brought.files else ""
    return Command(argv=argv, env=env, cwd=cwd, nofile=client.nofile, cpus=client.cpus)
