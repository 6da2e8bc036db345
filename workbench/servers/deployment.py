"""A server running on a machine, and when it is ready to be measured."""

from __future__ import annotations

import asyncio
import contextlib
import re
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from workbench.closing import ended
from workbench.documents import Confinement, ServerRecord
from workbench.errors import BadInput, PongbenchError, ProgramFailed
from workbench.machines.base import Machine
from workbench.machines.runner_client import Command, Process
from workbench.machines.wire import Count, Text, quoted
from workbench.remote.agent.tls import NAME
from workbench.servers.entry import ServerEntry
from workbench.servers.footprint import quiet

_RAISED = re.compile(r"(?:\w+\.)*\w*(?:[Ee]rror|Exception)\b(?::|$)|panic: |fatal error: ")
_REPORTED = re.compile(r".*\b(?:error|fatal|failed|cannot)\b", re.IGNORECASE)


def telling(lines: Sequence[str]) -> str:
    """Return the error among the last lines of output; if there is none, the last line."""
    return error_in(lines) or next((line.strip() for line in reversed(lines) if line.strip()), "")


def error_in(lines: Sequence[str]) -> str:
    """Return the error among the last lines of output; empty: none is known as one."""
    said = [line.strip() for line in lines]
    for pattern in (_RAISED, _REPORTED):
        if found := [line for line in said if pattern.match(line)]:
            return found[-1]
    return ""


class Root(msgspec.Struct, frozen=True):
    """A process of the server whose parent is none of them."""

    pid: Count
    started: Count
    """In ticks since boot, which tells it from a later one of this number."""
    name: Text


class Owner(msgspec.Struct, frozen=True):
    """The processes of a running server."""

    roots: tuple[Root, ...] = ()
    group: Text = ""
    """Their control group."""
    sockets: frozenset[Count] = frozenset()
    """Inodes of its listening sockets."""
    why: Text = ""
    """Why nothing is known, without the full stop."""

    @property
    def known(self) -> bool:
        return bool(self.roots)

    @property
    def text(self) -> str:
        """ "PID 812, gunicorn"."""
        named = [f"PID {root.pid}, {quoted(root.name)}" for root in self.roots[:3]]
        return "; ".join(named) + "; ..." * (len(self.roots) > 3)

    def changed_since(self, before: Owner) -> str:
        """Return what happened to it, as the end of a sentence; empty: nothing."""
        added, gone = set(self.roots) - set(before.roots), set(before.roots) - set(self.roots)
        reopened = before.sockets and not self.sockets & before.sockets
        if before.known and not self.known:
            return f"its processes ended ({before.text})"
        if gone and len(gone) == len(before.roots):
            return f"it was restarted: {self.text}, before {before.text}"
        if added and not before.known:
            return f"it runs again: {self.text}"
        if added or gone:
            return f"it was scaled: {len(self.roots)} processes, before {len(before.roots)}"
        return "it opened its listening socket again" if reopened else ""


IN_USE = "address already in use"

_RETRY_S = 0.02


class NotOurs:
    """In place of the process that a deployment starts."""

    pid = 0

    def __init__(self) -> None:
        self._left: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def wait(self) -> int:
        """Wait until it is left alone; how it ends is not known."""
        return await asyncio.shield(self._left)

    def tail(self) -> list[str]:
        return []

    async def stop(self, grace_s: float = 0.0) -> int:
        """Leave it alone."""
        if not self._left.done():
            self._left.set_result(0)
        return 0


class PortTaken(PongbenchError):
    """The port is in use."""


@dataclass
class Deployment:
    """A running server. `stop` ends it; it also ends with its machine."""

    entry: ServerEntry
    machine: Machine
    process: Process | NotOurs
    host: str
    """The address that clients connect to."""
    port: int
    runtime: str
    """Name and version: "CPython 3.11.7"."""
    version: str
    """The framework's: "tornado 6.6.1"; or "standard library"."""
    files: dict[str, str]
    """Relative path to SHA-256 of every file deployed."""
    at_odds: Sequence[str] = ()
    """See `Runtime`."""
    backlog: int = 0
    """The one in force, according to the kernel."""
    near: tuple[str, int] = ("", 0)
    """Address and port through which this program reaches it."""
    routes: contextlib.AsyncExitStack = field(repr=False, default_factory=contextlib.AsyncExitStack)
    tls: ssl.SSLContext | None = None
    """Of its clients; None: it speaks without TLS."""
    tls_name: str = NAME
    """That its certificate must have."""
    check: Command | None = None
    """The server's own test program, if it has one."""
    known: bool = True
    """Whether the kernel shows its processes."""
    owner: Owner | None = None
    """Its processes, where it was running already."""
    here: bool = True
    """Whether it is on the target."""
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
    def roots(self) -> Sequence[int]:
        """Its processes of which none started another."""
        return [self.pid] if self.owner is None else [root.pid for root in self.owner.roots]

    @property
    def watched(self) -> dict[str, Any]:
        """What the sampler watches of it; see `Sampling.watch`."""
        group = self.owner.group if self.owner else ""
        return {"pid": self.roots, "port": self.port if self.here else 0, "group": group}

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

    def exit_status(self) -> int | None:
        """Negative: the signal that ended it. None: it runs, or its machine is gone."""
        if self.alive() or self._exit.cancelled() or self._exit.exception():
            return None
        return self._exit.result()

    def end(self) -> str:
        """How it ended by itself: "ended by signal 9"; empty while it runs."""
        status = self.exit_status()
        if status is None:
            return ""
        return f"ended by signal {-status}" if status < 0 else f"ended with status {status}"

    def record(self) -> ServerRecord:
        running: dict[str, Any] = {}
        if contact := self.entry.running:
            running = {"address": contact.address.text, "connects_to": contact.used}
            running |= {"insecure": True} if contact.insecure else {}
        if self.owner:
            running |= {"process": self.owner.text} if self.here else {"elsewhere": True}
        return ServerRecord(
            id=self.entry.id,
            name=self.entry.name,
            family=self.entry.family,
            version=self.version,
            runtime=self.runtime,
            files=self.files,
            gate=self.gated,
            confinement=msgspec.to_builtins(self.confinement),
            running=running,
        )

    async def stop(self) -> None:
        """Send SIGTERM, a second later SIGKILL, to it and its children. May be called again."""
        await self.routes.aclose()
        await self.process.stop()

    async def until_ready(self, within_s: float) -> None:
        """Wait until it accepts connections. Raises PongbenchError when it ends or is late."""
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
        while not self.machine.is_local:
            if await self.machine.listening(self.port) is not None:
                break
            await asyncio.sleep(_RETRY_S)
        near = await self.routes.enter_async_context(self.machine.route_to(self.host, self.port))
        await _connect(*near)
        self.near = near
        if self.entry.ready == "http":
            await _answered(*near, self.entry.path, self.tls)
            await quiet(self.machine, self.roots)

    def _ended(self) -> PongbenchError:
        if any(IN_USE in line.lower() for line in self.process.tail()):
            return port_taken(self.entry, self.machine, self.port, IN_USE)
        what = f"{self.end()} before it listened on port {self.port}"
        if not self._exit.result():
            what += " (it has to stay in the foreground)"
        return self._unready(f"{self._called()} {what}")

    def _called(self) -> str:
        return f"{self.entry.name} on {self.machine.name}"

    def _unready(self, sentence: str) -> ProgramFailed:
        output = self.process.tail()
        if not output:
            sentence += ", without any output"
        elif error := error_in(output):
            sentence += f": {quoted(error).rstrip('.')}"
        if self.at_odds:
            sentence += f"; packages that do not suit each other: {', '.join(self.at_odds)}"
        return ProgramFailed(f"{sentence}.", output)


def see_address(entry: ServerEntry, host: str) -> None:
    """Raises BadInput for a server that cannot listen on such an address."""
    if ":" in host and not entry.ipv6:
        raise BadInput(
            f"{entry.name} cannot listen on an IPv6 address, such as {host}; leave it out, or name"
            " an IPv4 address of the target in its profile (bind)."
        )


def port_taken(entry: ServerEntry, machine: Machine, port: int, reason: str) -> PortTaken:
    which = f"port {port}" if port else "any of 100 ports"
    return PortTaken(
        f"{entry.name} cannot listen on {which} of {machine.name} ({reason}); end the program that"
        " uses it."
    )


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
