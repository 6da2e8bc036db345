"""A fake machine: programs are scripts, and a server in this process answers for its servers."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from workbench.errors import PongbenchError
from workbench.machines.profiles import Profile
from workbench.machines.runner_client import Command
from workbench.machines.secrets import Ask, never_ask

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!"
_numbers = itertools.count(1)


class FakeProcess:
    """A process that runs until it is stopped or `ends`."""

    def __init__(self, command: Command, says: Sequence[str] = (), *, over: bool = False) -> None:
        self.command = command
        self.pid = next(_numbers)
        self.dropped = 0
        self.says = [line.encode() for line in says]
        self._status: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        if over:
            self.ends(0)

    def ends(self, status: int, *last_words: str) -> None:
        self.says += [line.encode() for line in last_words]
        if not self._status.done():
            self._status.set_result(status)

    @property
    def ended(self) -> bool:
        return self._status.done()

    async def lines(self) -> AsyncIterator[bytes]:
        for line in self.says:
            yield line
        await asyncio.shield(self._status)

    def tail(self) -> list[str]:
        return [line.decode() for line in self.says]

    async def send(self, line: bytes) -> None:
        await asyncio.sleep(0)

    async def wait(self) -> int:
        return await asyncio.shield(self._status)

    async def stop(self, grace_s: float = 1.0) -> int:
        self.ends(-15)
        await asyncio.sleep(0)
        return await self.wait()


class FakeSampler(FakeProcess):
    """Answers requests on a machine that does nothing."""

    def __init__(self, command: Command) -> None:
        super().__init__(command)
        self._answers: asyncio.Queue[bytes] = asyncio.Queue()

    async def lines(self) -> AsyncIterator[bytes]:
        while not self.ended:
            yield await self._answers.get()

    async def send(self, line: bytes) -> None:
        await super().send(line)
        asked = json.loads(line).get("asked", 0)
        sample = {
            **{"t_us": time.monotonic_ns() // 1000, "asked": asked, "cores": [[0, 0, 0]] * 2},
            **{"softirq": 0, "memory": 0, "counters": {}, "gauges": {}, "server": ""},
            **{"tree": None, "listening": None, "own_us": 0},
        }
        self._answers.put_nowait(json.dumps(sample).encode())


class FakeMachine:
    """A machine that the rest of the program cannot distinguish from this computer."""

    is_local = True
    platform = None
    reach = ""
    bind = "127.0.0.1"
    our_address = ""
    beside: Sequence[str] = ()

    def __init__(self, name: str) -> None:
        self.name = name
        self.run_dir = f"/run/{name}"
        self.cache_dir = f"/cache/{name}"
        self.python = ["python3"]
        self.cpus = [0, 1]
        self.started: list[FakeProcess] = []
        self.cannot_start: dict[str, Exception] = {}
        """By a word of the command."""
        self.reads = True
        self.backlog = 512
        """In force for whatever listens."""
        self.proc: dict[str, str] = {}
        """Of every process: files of its folder in /proc, by name."""
        self.profiler_says: list[str] = []
        self.closed = False
        self.failure: PongbenchError | None = None
        self._lost: asyncio.Future[PongbenchError] = asyncio.get_running_loop().create_future()
        self._server: asyncio.Server | None = None

    @property
    def servers(self) -> list[FakeProcess]:
        """The servers deployed so far, in order."""
        return [process for process in self.started if "serve" in process.command.argv]

    async def start(self, command: Command) -> FakeProcess:
        await asyncio.sleep(0)
        for word, error in self.cannot_start.items():
            if word in command.argv:
                raise error
        words = " ".join(command.argv)
        if "linkprobe" in words:
            raise PongbenchError("There is no link to be checked.")
        if "/builders profiling" in words:
            self.started.append(profiler := FakeProcess(command, self.profiler_says, over=True))
            return profiler
        over = "/builders port" in words
        if "/sampler" in words:
            self.started.append(sampler := FakeSampler(command))
            return sampler
        says = []
        if over:
            port = json.loads(command.argv[-1])["ports"][0]
            says = [json.dumps({"event": "ready", "port": port})]
        process = FakeProcess(command, says, over=over)
        self.started.append(process)
        return process

    async def lost(self) -> PongbenchError:
        return await asyncio.shield(self._lost)

    def is_lost(self, why: str) -> None:
        """From now on."""
        self.failure = PongbenchError(why)
        self._lost.set_result(self.failure)

    async def tool(self, source: Path) -> str:
        return await self.put(source, f"tools/{source.name}")

    async def put(self, source: Path, target: str) -> str:
        await asyncio.sleep(0)
        return f"{self.run_dir}/{target}"

    async def bring(self, archive: Path, name: str) -> str:
        raise NotImplementedError

    @contextlib.asynccontextmanager
    async def route_to(self, host: str, port: int) -> AsyncIterator[tuple[str, int]]:
        if self._server is None:
            self._server = await asyncio.start_server(_answer, "127.0.0.1", 0)
        address: tuple[str, int] = self._server.sockets[0].getsockname()
        yield address

    async def read(self, paths: Sequence[str]) -> list[str | None]:
        await asyncio.sleep(0)
        if self.failure:
            raise self.failure
        return [self.proc.get(path.rpartition("/")[2]) for path in paths]

    async def listening(self, port: int) -> tuple[int, int] | None:
        await asyncio.sleep(0)
        return 0, self.backlog

    async def clock(self) -> tuple[int, int]:
        await asyncio.sleep(0)
        return 0, 1

    async def facts(self) -> dict[str, object]:
        await asyncio.sleep(0)
        return {"kernel": "fake"}

    async def close(self) -> None:
        self.closed = True
        for process in self.started:
            process.ends(-9)
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()


class FakeMachines:
    """Opens fake machines as a fleet does."""

    def __init__(self, on_machine: Callable[[FakeMachine], None] = lambda machine: None) -> None:
        self.opened: dict[str, FakeMachine] = {}
        self._on_machine = on_machine

    async def open(self, profile: Profile, ask: Ask = never_ask) -> FakeMachine:
        await asyncio.sleep(0)
        self.opened[profile.name] = FakeMachine(profile.name)
        self._on_machine(self.opened[profile.name])
        return self.opened[profile.name]


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        if await reader.read(1_000):
            writer.write(PONG)
            await writer.drain()
        writer.close()
