"""This side of a runner: a machine over any pair of asyncio streams that lead to one."""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import json
import os
import platform
import secrets
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakValueDictionary

import msgspec

from workbench.errors import PongbenchError
from workbench.machines.base import Command
from workbench.machines.linkprocess import LinkProcess, resolve

RUNNER = Path(__file__).with_name("runner.py")
LEASE_S = 4.0
HEARTBEAT_S = 1.0
LONGEST_RUN_S = 24 * 3600.0
OPEN_WITHIN_S = 15.0
CLOSE_WITHIN_S = 10.0
MAX_NOISE = 1 << 20


class MachineBusy(PongbenchError):
    """Somebody else's run is on the machine. `holder`: who, where that was told."""

    def __init__(self, machine: str, holder: str) -> None:
        who = holder or "somebody who does not say who they are"
        super().__init__(
            f"'{machine}' is in use by {who}; wait until that has ended, or take another machine."
        )
        self.holder = holder


class Reader(Protocol):
    """What a link reads from. Raises OSError when the connection breaks."""

    async def read(self, size: int, /) -> bytes: ...


class Writer(Protocol):
    """What a link writes to. `drain` and `wait_closed` raise OSError when the connection breaks."""

    def write(self, data: bytes, /) -> None: ...
    async def drain(self) -> None: ...
    def close(self) -> None: ...
    async def wait_closed(self) -> None: ...


class Link:
    """One runner: commands to it, its events and the output of its programs from it.

    When the connection or the runner ends, everything that waits gets the same `PongbenchError`.
    """

    def __init__(self, name: str, reader: Reader, writer: Writer) -> None:
        self.name = name
        self.failure: PongbenchError | None = None
        self.ended_itself = False
        """Whether the runner said that it has cleaned up."""
        self._reader = reader
        self._writer = writer
        self._count = 0
        self._waiting: set[asyncio.Future[Any]] = set()
        self._answers: dict[str, asyncio.Future[Any]] = {}
        self._processes: WeakValueDictionary[str, LinkProcess] = WeakValueDictionary()
        """Those somebody still holds: a long run starts many."""
        self._stray: deque[bytes] = deque(maxlen=5)
        self._tasks: list[asyncio.Task[None]] = []

    async def open(
        self, cache: str, *, lease_s: float = LEASE_S, exclusive: bool = False
    ) -> dict[str, Any]:
        """Configure the runner; what it says about itself and its run directory.

        `exclusive`: raises MachineBusy when another such run is on that machine.
        """
        nonce = secrets.token_hex(16)
        ready = self.expect("ready")
        self._tasks = [asyncio.create_task(self._read(nonce))]
        await self.send(
            nonce=nonce,
            cache=cache,
            run=secrets.token_hex(8),
            holder=f"process {os.getpid()} of {whoami()} on {platform.node()}",
            lease_s=lease_s,
            max_s=LONGEST_RUN_S,
            exclusive=exclusive,
        )
        try:
            async with asyncio.timeout(OPEN_WITHIN_S):
                introduction: dict[str, Any] = await ready
        except TimeoutError:
            raise PongbenchError(
                f"'{self.name}' did not start its runner within {OPEN_WITHIN_S:.0f} s."
            ) from None
        self._tasks.append(asyncio.create_task(self._beat()))
        return introduction

    async def start(self, command: Command) -> LinkProcess:
        key = self._next()
        started = self.expect(key)
        await self.send(
            op="start",
            id=key,
            argv=list(command.argv),
            env=dict(command.env),
            cwd=command.cwd,
            nofile=command.nofile,
            cpus=list(command.cpus),
        )
        process: LinkProcess = await started
        return process

    async def ping(self) -> tuple[int, int]:
        """(offset_us, uncertainty_us) of its clock, from one round trip."""
        key = self._next()
        answer = self.expect(key)
        sent = time.monotonic_ns()
        await self.send(op="ping", n=key)
        there_us, received = await answer
        return (sent + received) // 2000 - there_us, (received - sent) // 2000 + 1

    async def read(self, paths: Sequence[str]) -> list[str | None]:
        """The texts of small files there; None for one that cannot be read."""
        key = self._next()
        answer = self.expect(key)
        await self.send(op="read", n=key, paths=list(paths))
        texts: list[str | None] = await answer
        return texts

    async def close(self) -> None:
        """End the run and the link. Never raises for what is already gone."""
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_WITHIN_S):
                    with contextlib.suppress(PongbenchError):
                        await self.send(op="bye")
                    await asyncio.gather(*self._tasks[:1])
        finally:
            self._fail("it was closed")
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self._writer.close()
            with contextlib.suppress(OSError):
                await self._writer.wait_closed()

    def expect(self, key: str = "") -> asyncio.Future[Any]:
        """A future that fails when the link does; found by `key` when its answer comes."""
        if self.failure:
            raise self.failure
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        future.add_done_callback(self._waiting.discard)
        if key:
            self._answers[key] = future
        return future

    async def send(self, **message: Any) -> None:
        if self.failure:
            raise self.failure
        try:
            self._write(**message)
            await self._writer.drain()
        except OSError as error:
            # The reader knows better: what the runner said last is still on its way.
            await asyncio.wait(self._tasks[:1], timeout=1)
            self._fail(f"the connection broke ({error.strerror or error})")
            if self.failure:
                raise self.failure from None

    def _write(self, **message: Any) -> None:
        self._writer.write(json.dumps(message).encode() + b"\n")

    def _next(self) -> str:
        self._count += 1
        return str(self._count)

    async def _beat(self) -> None:
        with contextlib.suppress(PongbenchError):
            while True:
                await self.send(op="hb")
                await asyncio.sleep(HEARTBEAT_S)

    async def _read(self, nonce: str) -> None:
        try:
            chunk = await self._skip_noise(nonce.encode())
            rest = b""
            while chunk:
                now = time.monotonic_ns()
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self._take(line, now)
                chunk = await self._reader.read(1 << 18)
            self._fail(self._last_words())
        except OSError as error:
            self._fail(f"the connection broke ({error.strerror or error})")
        except (msgspec.DecodeError, KeyError, TypeError) as error:
            self._fail(f"its runner said what makes no sense ({error})")

    async def _skip_noise(self, nonce: bytes) -> bytes:
        """Read past what a login shell may have said; what follows the nonce."""
        seen = b""
        while len(seen) < MAX_NOISE and (chunk := await self._reader.read(1 << 16)):
            seen += chunk
            _, found, rest = seen.partition(b"\n" + nonce + b"\n")
            if found:
                return rest or await self._reader.read(1 << 16)
            self._stray.extend(seen[-2000:].splitlines()[-5:])
        return b""

    def _take(self, line: bytes, now: int) -> None:
        key, _, payload = line.partition(b" ")
        if key == b"-":
            self._take_event(msgspec.json.decode(payload), now)
        elif process := self._processes.get(key.decode("ascii", "replace")):
            process.take(payload)
        elif line:
            self._stray.append(line)

    def _take_event(self, event: dict[str, Any], now: int) -> None:
        match event["ev"]:
            case "ready":
                self._answer("ready", event)
            case "pong":
                self._answer(event["n"], (event["monotonic_us"], now))
            case "read":
                self._answer(event["n"], event["texts"])
            case "started":
                started = LinkProcess(self, event["id"], event["pid"])
                self._processes[event["id"]] = started
                if not self._answer(event["id"], started):  # who wanted it was cancelled
                    self._write(op="stop", id=event["id"], grace_s=0)
            case "failed":
                self._refuse(event["id"], f"'{self.name}' cannot start it: {event['error']}.")
            case "busy":
                self.failure = self.failure or MachineBusy(self.name, event["holder"])
            case "fatal":
                self.failure = self.failure or PongbenchError(
                    f"No run directory can be made on '{self.name}': {event['error']}."
                )
                self._fail("its runner ended")
            case "end":
                self.ended_itself = not event["left"]
                self._fail("it was closed" if event["why"] == "bye" else event["why"])
            case _:
                if process := self._processes.get(event["id"]):
                    process.take_event(event)

    def _answer(self, key: str, value: object) -> bool:
        return resolve(self._answers.pop(key, None), value)

    def _refuse(self, key: str, sentence: str) -> None:
        future = self._answers.pop(key, None)
        if future and not future.done():
            future.set_exception(PongbenchError(sentence))

    def _last_words(self) -> str:
        words = b" ".join(self._stray).decode("utf-8", "replace").strip()
        return "the connection was closed" + (f" after saying: {words[-300:]}" if words else "")

    def _fail(self, why: str) -> None:
        if self.failure is None:
            self.failure = PongbenchError(f"The machine '{self.name}' is gone: {why}.")
        for future in list(self._waiting):
            if not future.done():
                future.set_exception(self.failure)
                future.exception()  # nobody needs to wait for it
        for process in self._processes.values():
            process.wake()


def whoami() -> str:
    """Who runs this program."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # nobody that the system knows
        return "somebody"
