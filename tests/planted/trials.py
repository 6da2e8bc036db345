"""Runs of the real engine with planted conditions, and how often its verdicts are correct."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planted.ground import Ground
from workbench.documents import AnyDocument, PointStart, PointStop, RunStart, Window
from workbench.plan.model import Plan, WarmUp
from workbench.run.engine import Engine
from workbench.run.factory import Fleet
from workbench.servers.catalogue import Catalogue
from workbench.servers.entry import ServerEntry
from workbench.servers.entry_reading import load_entry
from workbench.workloads.registry import workload

SERVER = Path(__file__).with_name("server.py")
SERVERS_CORE = 0
SECONDS = 1.2
"""Of a point."""
VERDICTS = (
    "ok",
    "server-limited",
    "faulty",
    "client-limited",
    "ports-limited",
    "network-limited",
    "inconclusive",
)
NOT_THE_SERVERS = frozenset({"server-limited", "faulty"})

Plant = Callable[["Running"], contextlib.AbstractContextManager[object]]


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One run: a server, a plan, what is planted, and what is right then."""

    kind: str
    name: str
    right: frozenset[str]
    mode: str = "good"
    rates: tuple[float, ...] = (100.0, 200.0)
    calls: int = 1
    timeout_s: float = 1.0
    seconds: float = SECONDS
    calibrate: bool = True
    plant: Plant = lambda running: contextlib.nullcontext()
    before: bool = False
    """Planted before anything is measured; else when the server's own turn begins."""
    at_window: int = 0
    """Planted in the middle of the first point, when this window is over."""
    apart: bool = False
    """Are the clients on another host of the lab than the server?"""
    clients: tuple[str, ...] = ("h2",)
    """Hosts of the lab; only if they are apart."""
    incomplete: bool = False
    """Is the first point to end before its time, and the only one?"""
    blames_server: bool = False
    """Only then may a server be accused."""

    @property
    def points(self) -> int:
        return 1 if self.incomplete else len(self.rates)


@dataclass
class Running:
    """What a plant can see of its run."""

    ground: Ground
    hosts: Mapping[str, Any]
    """Of the lab, by name."""


@dataclass(frozen=True)
class Found:
    """A point and its verdict."""

    trial: Trial
    stop: PointStop

    @property
    def verdict(self) -> str:
        return self.stop.verdict

    @property
    def right(self) -> bool:
        return self.verdict in self.trial.right and self.stop.complete != self.trial.incomplete

    @property
    def accuses(self) -> bool:
        """A server of what it did not do."""
        return self.verdict in NOT_THE_SERVERS and not self.trial.blames_server

    def __str__(self) -> str:
        flaw = "" if self.right else "WRONG "
        return (
            f"{flaw}{self.trial.kind}, {self.trial.name}, {self.stop.x:g}/s: {self.verdict}"
            f"{'' if self.stop.complete else ' (incomplete)'}; {' '.join(self.stop.reasons)}"
        )


async def run(trial: Trial, ground: Ground, folder: Path, hosts: Sequence[Any] = ()) -> list[Found]:
    """Carry it out in this folder."""
    entry = written(folder, trial.mode)
    catalogue = Catalogue.load(extra_dirs=[])
    null = catalogue["null" if trial.calls == 1 else "null-http"]
    running = Running(ground, {host.name: host for host in hosts})
    found: list[Found] = []

    with contextlib.ExitStack() as planted:

        def emit(document: AnyDocument) -> None:
            if planting and is_time(document):
                planting.pop()
                planted.enter_context(trial.plant(running))
            if isinstance(document, PointStop) and document.purpose == "sweep":
                found.append(Found(trial, document))

        def is_time(document: AnyDocument) -> bool:
            if trial.at_window:
                return isinstance(document, Window) and document.index == trial.at_window
            if trial.before:
                return isinstance(document, RunStart)
            return isinstance(document, PointStart) and document.server == entry.id

        planting = [trial.plant]
        plan = _plan(trial, entry.id)
        engine = Engine(
            plan,
            [entry],
            emit,
            null=null if trial.calibrate else None,
            fleet=Fleet("h1", trial.clients) if trial.apart else Fleet(),
        )
        with ground.undisturbed():
            await engine.run()
    return found


def _plan(trial: Trial, server: str) -> Plan:
    protocol = "pong" if trial.calls == 1 else "http/1.1"
    return Plan(
        name=f"{trial.kind}, {trial.name}",
        servers=[server],
        rates=list(trial.rates),
        rate_of="requests",
        seconds=trial.seconds,
        workload=workload(
            protocol=protocol, calls_per_connection=trial.calls, timeout_s=trial.timeout_s
        ),
        warm_up=None if trial.at_window else WarmUp(rate_per_s=50, seconds=0.4),
        cool_down_s=0.1,
        looks=1,
        give_up=None,
        calibrate=trial.calibrate,
    )


def written(folder: Path, mode: str) -> ServerEntry:
    """The planted server in this mode, as an entry in a new folder."""
    folder.mkdir(parents=True)
    (folder / "server.py").write_bytes(SERVER.read_bytes())
    (folder / "server.yaml").write_text(
        f"name: {folder.name}\nfamily: socket\nprotocols: [pong, http/1.0, http/1.1]\n"
        f'command: ["{{python}}", server.py, "{mode}", "{{host}}", "{{port}}",'
        ' "{backlog}"]\n'
    )
    return load_entry(folder)


class Score:
    """All that was judged, by what was planted."""

    def __init__(self) -> None:
        self.found: list[Found] = []

    def shares(self) -> dict[str, float]:
        """Right, by kind."""
        of: defaultdict[str, list[bool]] = defaultdict(list)
        for each in self.found:
            of[each.trial.kind].append(each.right)
        return {kind: sum(flags) / len(flags) for kind, flags in of.items()}

    @property
    def right(self) -> int:
        return sum(each.right for each in self.found)

    @property
    def false_accusations(self) -> list[Found]:
        return [each for each in self.found if each.accuses]

    def __str__(self) -> str:
        rows: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for each in self.found:
            rows[each.trial.kind][each.verdict] += 1
        shares = self.shares()
        short = [verdict.removesuffix("-limited") for verdict in VERDICTS]
        lines = [f"{'':22}" + "".join(f"{name:>13}" for name in short) + f"{'right':>8}"]
        for kind, counts in rows.items():
            cells = "".join(f"{counts[verdict] or '':>13}" for verdict in VERDICTS)
            lines.append(f"{kind:22}{cells}{100 * shares[kind]:>6.0f} %")
        count = len(self.found)
        lines.append(
            f"{count} points, {self.right} right ({100 * self.right / max(1, count):.1f} %),"
            f" {len(self.false_accusations)} false accusations"
        )
        lines += [str(each) for each in self.found if not each.right]
        return "\n".join(lines)


def carry_out(trial: Trial, ground: Ground, folder: Path, hosts: Sequence[Any] = ()) -> list[Found]:
    """With hosts of the lab, this program leaves their core to the server."""
    allowed = os.sched_getaffinity(0)
    for host in hosts:
        ground.take_in(list(host.pids()))
    try:
        if hosts:
            os.sched_setaffinity(0, allowed - {SERVERS_CORE} or allowed)
        return asyncio.run(run(trial, ground, folder, hosts))
    finally:
        os.sched_setaffinity(0, allowed)
