"""Servers limited by a planted cause, and the cause that is named."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from planted.ground import CGROUPS, Ground
from workbench.documents import AnyDocument, PointStart, PointStop
from workbench.messages.base import Said
from workbench.messages.causes import CAUSES
from workbench.messages.reasons import reasons_of
from workbench.plan.model import Plan
from workbench.run.engine import Engine
from workbench.servers.entry import ServerEntry
from workbench.servers.entry_reading import load_entry
from workbench.workloads.registry import workload

SERVER = Path(__file__).parents[1] / "process/servers/lacks"
LOW, HIGH = 80.0, 800.0
"""Rates: of a healthy server, and far beyond what one that takes 5 ms for a call sustains."""
MEMORY_BYTES = 40 << 20
DATABASE = ("database", "busy-database")
PLAN = Plan(
    servers=[],
    seconds=1.6,
    warm_up=None,
    calibrate=False,
    cool_down_s=0.1,
    looks=1,
    nofile=1000,
    workload=workload(protocol="pong", timeout_s=1.0),
)

Plant = Callable[[Ground], None]


@dataclass(frozen=True)
class Planted:
    """A cause."""

    mode: str
    right: str
    plant: Plant = lambda ground: None
    """Done to its processes when the first point begins."""
    healthy: bool = True
    """Is the low rate sustained?"""

    def __str__(self) -> str:
        return f"{self.mode}-{self.right}"


def quota(ground: Ground) -> None:
    """A tenth of a core."""
    ground.throttle(_servers(ground, "time"), 0.1)


def little_memory(ground: Ground) -> None:
    """A group whose memory is far less than what its server touches."""
    if not (CGROUPS / "memory/cgroup.procs").exists():
        pytest.skip("There are no control groups here that limit memory alone.")
    group = _of_memory()
    group.mkdir(exist_ok=True)
    (group / "memory.limit_in_bytes").write_text(str(MEMORY_BYTES))
    for pid in _servers(ground, "memory"):
        (group / "cgroup.procs").write_text(str(pid))


def _servers(ground: Ground, mode: str) -> list[int]:
    """Excludes this process, whose arguments may contain the word, too."""
    return [pid for pid in ground.found(mode) if pid != os.getpid()]


def _remove(group: Path) -> None:
    """The kernel says when it is done with processes that have ended."""
    deadline = time.monotonic() + 10
    while group.exists():
        try:
            group.rmdir()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _of_memory() -> Path:
    return CGROUPS / "memory" / f"pongbench-planted-{os.getpid()}"


PLANTED = (
    Planted("time", "cores-full"),
    Planted("kernel", "cores-full"),
    Planted("sleep", "slept"),
    Planted("pool", "slept"),
    Planted("accepting", "not-accepted"),
    Planted("descriptors", "descriptors-used-up"),
    Planted("threads", "waited-for-lock"),
    Planted("processes", "waited-for-lock"),
    Planted("garbage", "garbage-collected"),
    Planted("disk", "waited-for-disk", healthy=False),
    Planted("memory", "machine-waited", little_memory, healthy=False),
    Planted("time", "cpu-quota", quota, healthy=False),
    Planted("service", "waited-for-answer"),
    Planted("events", "waited-for-answer"),
    Planted("database", "waited-for-answer"),
    Planted("busy-database", "database-busy"),
)


HEALTHY = 2 * (
    *("nothing", "time", "kernel", "sleep", "pool", "accepting", "threads", "processes"),
    *("service", "events"),
)
"""Twenty runs, at rates that such servers sustain."""


@dataclass(frozen=True)
class Named:
    """The outcome of a point."""

    planted: Planted
    stop: PointStop

    @property
    def cause(self) -> Said | None:
        found = (each for each in reasons_of(self.stop) if each.code in CAUSES)
        return next(found, None)

    @property
    def right(self) -> bool:
        return self.cause is not None and self.cause.code == self.planted.right

    def __str__(self) -> str:
        flaw = "" if self.right else "WRONG "
        message = self.cause.text() if self.cause else f"no cause; {' '.join(self.stop.reasons)}"
        return (
            f"{flaw}{self.planted.mode} ({self.planted.right.__name__}), {self.stop.x:g}/s:"
            f" {self.stop.verdict}; {message}"
        )


@contextlib.contextmanager
def service() -> Iterator[int]:
    """A service on a port, whose every connection is answered after 5 ms."""

    def serve(client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            while client.recv(1):
                time.sleep(0.005)
                client.sendall(b"!")

    def listen() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=serve, args=(client,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=listen, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def entry(planted: Planted, port: int) -> ServerEntry:
    found = load_entry(SERVER)
    mode = f"{planted.mode}:{port}" if planted.mode in ("service", "events") else planted.mode
    serving = ["{python}", "server.py", mode, "{port}"]
    name = str(planted).lower()
    if planted.mode not in DATABASE:
        return msgspec.structs.replace(found, id=name, name=name, command=serving)
    database = ["{python}", "with_postgres.py", "--postgres", "{postgresql}", "--"]
    return msgspec.structs.replace(
        found,
        id=name,
        name=name,
        command=[*database, *serving],
        programs=["postgresql"],
        shared=["with_postgres.py"],
    )


def within_limits(mode: str, ground: Ground) -> list[Named]:
    """Points at rates that the server sustains."""
    return carry_out(Planted(mode, ""), ground, [LOW, 1.25 * LOW])


def carry_out(
    planted: Planted, ground: Ground, rates: Sequence[float] = (LOW, HIGH)
) -> list[Named]:
    """Its points, in the order of their rates."""
    found: list[Named] = []
    with service() as port:
        server = entry(planted, port)

        def emit(document: AnyDocument) -> None:
            if isinstance(document, PointStart) and document.x == LOW:
                planted.plant(ground)
            if isinstance(document, PointStop) and document.purpose == "sweep":
                found.append(Named(planted, document))

        plan = msgspec.structs.replace(PLAN, servers=[server.id], rates=list(rates))
        with ground.undisturbed():
            asyncio.run(Engine(plan, [server], emit).run())
    _remove(_of_memory())
    return found
