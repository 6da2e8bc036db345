"""Deployment: a server of the catalogue, running on a machine and ready to be measured."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from workbench.agent.tls import NAME
from workbench.closing import ended, to_the_end
from workbench.documents import ServerRecord
from workbench.errors import PongbenchError, ProgramFailed
from workbench.machines.answers import output
from workbench.machines.base import Command, Machine, Process
from workbench.machines.wire import InvalidMessage, decode, quoted
from workbench.rights import Confinement
from workbench.servers import sources
from workbench.servers.certificate import Certificate
from workbench.servers.confinement import confined, in_force
from workbench.servers.entry import ServerEntry
from workbench.servers.footprint import quiet
from workbench.servers.requirements import normalised
from workbench.servers.runtimes import Notify, Runtime, heritage
from workbench.servers.runtimes.prepare import prepare

PORTS = range(20_000, 30_000)
"""Range searched for a free port: below the ports Linux gives to clients."""

FREE_PORT = Path(__file__).with_name("free_port.py")
IN_USE = "address already in use"

ATTEMPTS = 3
"""The most ports tried when none is given."""

_ENV = {"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
_FREE: msgspec.json.Decoder[dict[str, str | int]] = msgspec.json.Decoder(dict[str, str | int])
_RETRY_S = 0.02
_numbers = itertools.count(1)


class PortTaken(PongbenchError):
    """The port is in use."""


@dataclass
class Deployment:
    """A running server. `stop` ends it; it also ends with its machine."""

    entry: ServerEntry
    machine: Machine
    process: Process
    host: str
    """The address that clients connect to."""
    port: int
    runtime: str
    """Name and version: "CPython 3.11.7"."""
    version: str
    """The framework's: "tornado 6.6.1"; or "standard library"."""
    files: dict[str, str]
    """Relative path to SHA-256 of every file deployed."""
    backlog: int = 0
    """The one in force, according to the kernel."""
    near: tuple[str, int] = ("", 0)
    """Address and port through which this program reaches it."""
    _routes: contextlib.AsyncExitStack = field(
        init=False, repr=False, default_factory=contextlib.AsyncExitStack
    )
    tls: ssl.SSLContext | None = None
    """Of its clients; None: it speaks without TLS."""
    check: Command | None = None
    """The server's own test program, if it has one."""
    confinement: Confinement = field(default_factory=Confinement)
    """The privileges in force, according to the kernel."""
    ready_s: float = 0.0
    """Seconds from its command until it was ready."""
    gated: dict[str, Any] = field(default_factory=dict)
    """Result of the wire gate, as plain data."""
    _exit: asyncio.Task[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._exit = asyncio.create_task(self.process.wait())
        # The failure is raised to whoever waits; perhaps no caller does.
        self._exit.add_done_callback(lambda exit: exit.cancelled() or exit.exception())

    @property
    def pid(self) -> int:
        """Process id, on its machine, of its root process."""
        return self.process.pid

    @property
    def direct(self) -> bool:
        """Whether this program reaches it without SSH."""
        return self.near == (self.host, self.port)

    def alive(self) -> bool:
        return not self._exit.done()

    async def ended_within(self, seconds: float) -> bool:
        """Return whether it ends by itself within that time."""
        await asyncio.wait({self._exit}, timeout=seconds)
        return not self.alive()

    def end(self) -> str:
        """How it ended by itself: "ended by signal 9"; empty while it runs."""
        if self.alive():
            return ""
        status = self._exit.result()
        return f"ended by signal {-status}" if status < 0 else f"ended with status {status}"

    def record(self) -> ServerRecord:
        return ServerRecord(
            id=self.entry.id,
            name=self.entry.name,
            family=self.entry.family,
            version=self.version,
            runtime=self.runtime,
            files=self.files,
            gate=self.gated,
            confinement=msgspec.to_builtins(self.confinement),
        )

    async def stop(self) -> None:
        """Send SIGTERM, one second later SIGKILL, to it and all its children. May be called
        again."""
        await self._routes.aclose()
        await self.process.stop()

    async def until_ready(self, within_s: float) -> None:
        """Wait until it accepts connections. Raises PongbenchError when it ends or takes too
        long."""
        trying = asyncio.create_task(self._accepting())
        try:
            await asyncio.wait(
                {trying, self._exit}, timeout=within_s, return_when=asyncio.FIRST_COMPLETED
            )
            if not self.alive():
                raise self._ended()
            if not trying.done():
                did = "accept connections" if not self.near[1] else "answer a call"
                did += " over TLS" * bool(self.tls and self.near[1])
                what = f"did not {did} on port {self.port} within {within_s:g} s"
                raise self._unready(f"{self._called()} {what}")
            if trying.done():
                trying.result()
        finally:
            await ended(trying)

    async def _accepting(self) -> None:
        if not self.machine.is_local:
            await self._listening()
        near = await self._routes.enter_async_context(self.machine.route_to(self.host, self.port))
        await _connect(*near)
        self.near = near
        if self.entry.ready == "http":
            await _answered(*near, self.entry.path, self.tls)
            await quiet(self.machine, self.pid)

    async def _listening(self) -> None:
        while True:
            if await self.machine.listening(self.port) is not None:
                return
            await asyncio.sleep(_RETRY_S)

    def _ended(self) -> PongbenchError:
        if any(IN_USE in line.lower() for line in self.process.tail()):
            return _port_taken(self.entry, self.machine, self.port, IN_USE)
        what = f"{self.end()} before it listened on port {self.port}"
        return self._unready(f"{self._called()} {what}")

    def _called(self) -> str:
        return f"{self.entry.name} on {self.machine.name}"

    def _unready(self, sentence: str) -> ProgramFailed:
        output = self.process.tail()
        return ProgramFailed(f"{sentence}{'' if output else ', without any output'}.", output)


async def deploy(
    machine: Machine,
    entry: ServerEntry,
    *,
    port: int = 0,
    backlog: int = 512,
    nofile: int = 0,
    cpus: Sequence[int] = (),
    host: str = "127.0.0.1",
    reach: str = "",
    notify: Notify = lambda _: None,
    ready_within_s: float = 0.0,
    install: bool = False,
    certificate: Certificate | None = None,
) -> Deployment:
    """Copy a server to a machine, prepare its runtime, start it and wait until it is ready.

    `host`: where it listens, `reach`: where clients connect; empty: the same. `port` 0: a free one
    is picked. `ready_within_s` 0: as its entry says. `install`: whether missing programs may be
    unpacked there. Raises PongbenchError, with the server's last output if any; nothing is left
    running then. `certificate`: it terminates TLS with that.
    """
    if entry.unavailable:
        raise PongbenchError(f"{entry.name} cannot be run: {entry.unavailable.reason}")
    if port:  # Check this before anything is built.
        await _port(machine, entry, host, port)
    also = heritage.to_fetch(entry)
    source = await sources.provide(entry, install=install, notify=notify, also=also)
    notify(f"Copying {entry.name} to {machine.name}")
    files = await asyncio.to_thread(entry.files)
    place = f"servers/{entry.id}-{next(_numbers)}"
    folder = await machine.put(entry.folder, place)
    sealed = await certificate.put(machine, place) if certificate else {}
    for path in entry.shared_paths:
        await machine.put(path, f"{folder}/{path.name}")
    if source and entry.source_at:
        files["source"] = await asyncio.to_thread(sources.digest, source)
        if source.parent != entry.folder:
            package = f"/{entry.source_at.package}".rstrip("/")
            await machine.put(source, f"{folder}/source{package}")
    runtime = await prepare(machine, entry, folder, notify=notify, install=install)

    async def start(port: int) -> Deployment:
        notify(f"Starting {entry.name} on port {port}")
        values = {"host": host, "port": str(port), "backlog": str(backlog), "folder": folder}
        values |= {**runtime.placeholders, **sealed}
        command = Command(
            entry.argv(**values),
            env={**_ENV, **runtime.env, **entry.env, **_sealed_env(sealed)},
            cwd=folder,
            nofile=nofile,
            cpus=cpus,
        )
        check = [part.format_map(values) for part in entry.check]
        started = await confined(machine, entry, command, runtime)
        begun = time.monotonic()
        deployment = Deployment(
            entry=entry,
            machine=machine,
            process=await machine.start(started),
            host=reach or host,
            port=port,
            runtime=runtime.name,
            version=_version(entry, runtime),
            files=files,
            tls=certificate.context() if certificate else None,
            check=(
                await confined(machine, entry, replace(command, argv=check), runtime)
                if check
                else None
            ),
        )
        try:
            await deployment.until_ready(ready_within_s or entry.ready_within_s)
            deployment.ready_s = time.monotonic() - begun
            deployment.backlog = await _backlog(deployment)
            deployment.confinement = await in_force(machine, command)
        except BaseException:
            with contextlib.suppress(PongbenchError):  # The machine itself may be lost.
                await to_the_end(deployment.stop())
            raise
        return deployment

    for _ in range(ATTEMPTS - 1 if port == 0 else 0):
        # Ports change hands: one found free may be occupied a moment later.
        with contextlib.suppress(PortTaken):
            return await start(await _port(machine, entry, host, 0))
    return await start(await _port(machine, entry, host, port))


def _sealed_env(sealed: Mapping[str, str]) -> dict[str, str]:
    """Return where a server finds its certificate and key, beside the arguments of `tls`."""
    return {f"PONGBENCH_{name.upper()}": path for name, path in sealed.items()}


async def _port(machine: Machine, entry: ServerEntry, host: str, port: int) -> int:
    """Return the port to listen on: the given one, if it is free, or a free one."""
    program = await machine.put(FREE_PORT, f"tools/{FREE_PORT.name}")
    wanted = [port] if port else random.sample(PORTS, 100)
    process = await machine.start(Command([*machine.python, program, host, *map(str, wanted)]))
    try:
        answers = await output(process)
        answer = decode(_FREE, answers[-1])
        return int(answer["port"])
    except KeyError:
        raise _port_taken(entry, machine, port, str(answer.get("error", "")).lower()) from None
    except (InvalidMessage, IndexError, ValueError):
        lines = process.tail()[-1:] or ["nothing"]
        raise PongbenchError(
            f"{machine.name} cannot report free ports; its output: {quoted(lines[0])}"
        ) from None


async def _connect(host: str, port: int) -> None:
    """Connect until it succeeds; the connection is closed at once."""
    while True:
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection(host, port)
            ends = [writer.get_extra_info(name) for name in ("sockname", "peername")]
            writer.close()
            # A port in the ephemeral range may connect to itself while no server listens.
            if ends[0] != ends[1]:
                return
        await asyncio.sleep(_RETRY_S)


async def _answered(host: str, port: int, path: str, tls: ssl.SSLContext | None) -> None:
    """Call until there is a response of any kind, also one that is no TLS."""
    while True:
        try:
            name = NAME if tls else None
            reader, writer = await asyncio.open_connection(
                host, port, ssl=tls, server_hostname=name
            )
            try:
                writer.write(f"GET {path} HTTP/1.0\r\nHost: pongbench\r\n\r\n".encode())
                if await reader.read(1):
                    return
            finally:
                writer.close()
        except OSError as error:
            if isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError):
                return
        await asyncio.sleep(_RETRY_S)


async def _backlog(deployment: Deployment) -> int:
    listening = await deployment.machine.listening(deployment.port)
    if listening is None:
        raise PongbenchError(
            f"{deployment.entry.name} accepted a connection on port {deployment.port} of"
            f" {deployment.machine.name}, but nothing listens there now; it may have ended."
        )
    return listening[1]


def _version(entry: ServerEntry, runtime: Runtime) -> str:
    if entry.version:
        return entry.version
    if not entry.framework:
        own = entry.runtime == "python" and not entry.requirements
        return "standard library" if own else ""
    return f"{entry.framework} {runtime.packages.get(normalised(entry.framework), '')}".strip()


def _port_taken(entry: ServerEntry, machine: Machine, port: int, reason: str) -> PortTaken:
    which = f"port {port}" if port else "any of 100 ports"
    return PortTaken(
        f"{entry.name} cannot listen on {which} of {machine.name} ({reason}); name another port, or"
        " end the program that uses it."
    )
