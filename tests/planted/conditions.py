"""Planted conditions and the correct verdicts."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from lab import links
from lab.hosts import Host

from planted.ground import few_descriptors, neighbours
from planted.server import FAULTS
from planted.trials import Plant, Running, Trial

Link: TypeAlias = contextlib.AbstractContextManager[None]

OK = frozenset({"ok"})
SERVER = frozenset({"server-limited"})
CLIENT = frozenset({"client-limited"})
FAULTY = frozenset({"faulty"})
NOBODY = frozenset({"inconclusive"})
PORTS = frozenset({"ports-limited"})
NETWORK = frozenset({"network-limited"})


def throttled(word: str, share: float) -> Plant:
    """Our processes with that in an argument get so much of a core."""

    def plant(running: Running) -> contextlib.AbstractContextManager[object]:
        running.ground.throttle(running.ground.found(word), share)
        return contextlib.nullcontext()

    return plant


def short_of_descriptors(left: int) -> Plant:
    def plant(running: Running) -> contextlib.AbstractContextManager[object]:
        few_descriptors(running.ground.found("agent"), left)
        return contextlib.nullcontext()

    return plant


def short_of_descriptors_beside_noise(left: int) -> Plant:
    @contextlib.contextmanager
    def plant(running: Running) -> Iterator[None]:
        few_descriptors(running.ground.found("agent"), left)
        with neighbours((1,)):
            yield

    return plant


def noisy(*cores: int) -> Plant:
    return lambda running: neighbours(cores)


def of_link(kind: Callable[..., Link], host: str, *given: Any) -> Plant:
    """A condition of `lab.links`, of that host."""
    return lambda running: kind(running.hosts[host], *given)


HEALTHY = [
    Trial(kind="healthy", name=name, right=OK, **given)
    for name, given in {
        "pong": {"rates": (100, 150, 200, 400, 600, 800)},
        "http": {"calls": 10, "rates": (100, 300, 600, 900, 1200, 1500)},
        "slow but steady": {"mode": "takes:0.1", "rates": (100, 150, 200, 250)},
        "slow but steady, kept": {"mode": "takes:0.05", "calls": 5, "rates": (100, 200, 300, 400)},
        "slow by design": {"mode": "takes:3", "rates": (40, 150), "seconds": 5.0, "timeout_s": 10},
        "scattered": {"mode": "scatters:1.6", "rates": (300, 400), "seconds": 2.0, "timeout_s": 4},
        "uncalibrated": {"calibrate": False, "rates": (100, 200, 400, 800)},
        "short timeout": {"timeout_s": 0.2, "rates": (100, 200, 400, 600)},
    }.items()
]
LIMITED = [
    Trial(kind="throttled server", name=name, right=SERVER, blames_server=True, **given)
    for name, given in {
        "one at a time": {"mode": "serial:0.01", "rates": (180, 240, 300, 400)},
        "one at a time, kept": {"mode": "serial:0.01", "calls": 5, "rates": (180, 240, 300, 400)},
        "long timeout": {"mode": "serial:0.02", "timeout_s": 10, "rates": (100, 150, 200)},
        "uncalibrated": {"mode": "serial:0.01", "calibrate": False, "rates": (180, 240, 300)},
        "slow, a hundred at a time": {
            "mode": "pool:3",
            "rates": (60, 80),
            "seconds": 5.0,
            "timeout_s": 20,
        },
        "computes": {"mode": "spins:0.02", "rates": (100, 150, 200)},
        "a group's quota": {
            "mode": "spins:0.002",
            "rates": (150, 200, 300, 400),
            "plant": throttled("spins", 0.1),
        },
        "a group's quota, kept": {
            "mode": "spins:0.002",
            "calls": 10,
            "rates": (150, 200, 300, 400),
            "plant": throttled("spins", 0.1),
        },
        "never answers in time": {"mode": "takes:1.5", "timeout_s": 0.3, "rates": (100, 200)},
    }.items()
]
STARVED = [
    Trial(kind="starved agent", name=name, right=CLIENT, **given)
    for name, given in {
        "after calibration": {"rates": (400, 600, 800, 1000), "plant": throttled("agent", 0.02)},
        "before calibration": {
            "rates": (400, 600, 800, 1000),
            "before": True,
            "plant": throttled("agent", 0.02),
        },
        "uncalibrated": {
            "rates": (400, 600, 800, 1000),
            "calibrate": False,
            "plant": throttled("agent", 0.02),
        },
        "kept": {"rates": (600, 900, 1200, 1500), "calls": 5, "plant": throttled("agent", 0.02)},
        "a slow server": {
            "mode": "takes:0.05",
            "rates": (400, 600, 800),
            "plant": throttled("agent", 0.02),
        },
    }.items()
]
DESCRIPTORS = [
    Trial(kind="few descriptors", name=name, right=CLIENT, mode="takes:0.3", **given)
    for name, given in {
        "ten": {"rates": (150, 200, 250, 300), "plant": short_of_descriptors(10)},
        "twenty": {"rates": (150, 200, 250, 300), "plant": short_of_descriptors(20)},
        "uncalibrated": {
            "rates": (150, 200, 250, 300),
            "calibrate": False,
            "plant": short_of_descriptors(15),
        },
        "beside a noisy neighbour": {
            "rates": (150, 200, 250, 300),
            "plant": short_of_descriptors_beside_noise(10),
        },
    }.items()
]
NEIGHBOUR = [
    Trial(kind="noisy neighbour", name=name, right=NOBODY, **given)
    for name, given in {
        "of the server": {"mode": "spins:0.002", "rates": (200, 300, 400), "plant": noisy(0)},
        "of the server, kept": {
            "mode": "spins:0.002",
            "calls": 5,
            "rates": (300, 400, 500),
            "plant": noisy(0),
        },
        "of the clients": {"rates": (1200, 1600, 2000), "plant": noisy(1)},
        "of both": {"mode": "spins:0.002", "rates": (200, 300, 400), "plant": noisy(0, 1)},
        "of both, before": {
            "mode": "spins:0.002",
            "rates": (200, 300, 400),
            "before": True,
            "plant": noisy(0, 1),
        },
        "uncalibrated": {
            "mode": "spins:0.002",
            "rates": (200, 300, 400),
            "calibrate": False,
            "plant": noisy(0, 1),
        },
    }.items()
]
FAULTS_OF_SERVERS = [
    Trial(
        kind="faulty",
        name=mode,
        right=FAULTY,
        mode=mode,
        calls=10 if "early" in mode else calls,
        rates=(200, 250, 300, 350),
        blames_server=True,
    )
    for mode, calls in zip(FAULTS, (1, 5, 1, 5, 1, 5, 1, 10, 10), strict=True)
]
LOCAL = [*HEALTHY, *LIMITED, *STARVED, *DESCRIPTORS, *NEIGHBOUR, *FAULTS_OF_SERVERS]
"""On this computer alone."""


SLOW = [
    Trial(kind="slow link", name=name, right=NETWORK, apart=True, **{"timeout_s": 0.5, **given})
    for name, given in {
        "to the clients": {
            "rates": (400, 500, 600),
            "before": True,
            "plant": of_link(links.slow, "h2", "512kbit"),
        },
        "to the clients, since the calibration": {
            "rates": (400, 500, 600),
            "plant": of_link(links.slow, "h2", "512kbit"),
        },
        "to the server": {
            "rates": (400, 500, 600),
            "before": True,
            "plant": of_link(links.slow, "h1", "512kbit"),
        },
        "to the server, since the calibration": {
            "rates": (400, 500, 600),
            "plant": of_link(links.slow, "h1", "512kbit"),
        },
        "to the clients, uncalibrated": {
            "rates": (400, 500, 600),
            "calibrate": False,
            "before": True,
            "plant": of_link(links.slow, "h2", "512kbit"),
        },
        "to the clients, kept": {
            "calls": 5,
            "rates": (1500, 2000, 2500),
            "calibrate": False,
            "plant": of_link(links.slow, "h2", "512kbit"),
        },
    }.items()
]
LOSSY = [
    Trial(kind="lossy link", name=name, right=NETWORK, apart=True, **{"timeout_s": 0.5, **given})
    for name, given in {
        "to the clients": {
            "rates": (200, 300, 400),
            "before": True,
            "plant": of_link(links.lossy, "h2", 5),
        },
        "to the clients, since the calibration": {
            "rates": (200, 300, 400),
            "plant": of_link(links.lossy, "h2", 5),
        },
        "to the server": {
            "rates": (200, 300, 400),
            "before": True,
            "plant": of_link(links.lossy, "h1", 5),
        },
        "to the server, since the calibration": {
            "rates": (200, 300, 400),
            "plant": of_link(links.lossy, "h1", 5),
        },
        "to the clients, uncalibrated": {
            "rates": (200, 300, 400),
            "calibrate": False,
            "plant": of_link(links.lossy, "h2", 8),
        },
        "to the server, kept": {
            "calls": 3,
            "timeout_s": 0.15,
            "rates": (200, 300, 400),
            "calibrate": False,
            "plant": of_link(links.lossy, "h1", 8),
        },
    }.items()
]
LATE = [
    Trial(kind="late link", name=name, right=right, apart=True, **given)
    for name, right, given in (
        (
            "a little",
            OK,
            {"rates": (100, 200, 300), "before": True, "plant": of_link(links.late, "h1", 20)},
        ),
        (
            "a little, kept",
            OK,
            {
                "calls": 5,
                "rates": (100, 200, 300, 400),
                "before": True,
                "plant": of_link(links.late, "h1", 20),
            },
        ),
        (
            "since the calibration",
            OK,
            {"rates": (100, 200, 300), "plant": of_link(links.late, "h2", 40)},
        ),
        (
            "longer than the timeout",
            NETWORK,
            {
                "timeout_s": 0.1,
                "rates": (100, 150, 200),
                "before": True,
                "plant": of_link(links.late, "h1", 80),
            },
        ),
        (
            "longer than the timeout, uncalibrated",
            NETWORK,
            {
                "timeout_s": 0.1,
                "calibrate": False,
                "rates": (100, 150, 200),
                "before": True,
                "plant": of_link(links.late, "h2", 80),
            },
        ),
    )
]
FEW_PORTS = [
    Trial(kind="few ports", name=name, right=PORTS, apart=True, **given)
    for name, given in {
        "held by replies that take their time": {
            "mode": "takes:0.5",
            "rates": (250, 300, 350, 400),
            "plant": of_link(links.few_ports, "h2", 60),
        },
        "held by the system": {
            "calls": 2,
            "rates": (300, 400, 500, 600),
            "plant": of_link(links.few_ports, "h2", 60),
        },
        "uncalibrated": {
            "mode": "takes:0.5",
            "calibrate": False,
            "rates": (250, 300, 350, 400),
            "plant": of_link(links.few_ports, "h2", 60),
        },
    }.items()
]


def lost(lose: Callable[[Host], object], found: Callable[[Host], object]) -> Plant:
    """The target, in the middle of a point."""

    @contextlib.contextmanager
    def plant(running: Running) -> Iterator[None]:
        target = running.hosts["h1"]
        lose(target)
        try:
            yield
        finally:
            found(target)

    return plant


def kill_what_watches(host: Host) -> None:
    for pid, command in host.processes().items():
        if "base64" in command:
            os.kill(pid, signal.SIGKILL)


LOST = [
    Trial(
        kind="target lost",
        name=f"{name}, {mode}",
        right=NOBODY,
        apart=True,
        rates=(100,),
        seconds=8.0,
        mode=mode,
        calls=calls,
        calibrate=False,
        at_window=3,
        incomplete=True,
        plant=lost(*ways),
    )
    for name, ways in {
        "the cable is cut": (Host.cut, Host.heal),
        "packets vanish": (Host.black_hole, Host.end_black_hole),
        "every process stands still": (Host.freeze, Host.thaw),
        "what watches over the run is killed": (kill_what_watches, lambda host: None),
        "SSH is reset": (lambda host: host.reset("sport", "=", ":22"), lambda host: None),
    }.items()
    for mode, calls in (("good", 1), ("takes:0.02", 5))
]
ACROSS = [
    Trial(kind="healthy", name="across a link", right=OK, apart=True, rates=(100, 200, 400, 600)),
    Trial(
        kind="throttled server",
        name="across a link",
        right=SERVER,
        blames_server=True,
        apart=True,
        mode="serial:0.01",
        timeout_s=0.5,
        rates=(180, 240, 300, 400),
    ),
    Trial(
        kind="throttled server",
        name="across a link, kept",
        right=SERVER,
        blames_server=True,
        apart=True,
        mode="serial:0.01",
        calls=5,
        timeout_s=0.5,
        rates=(180, 240, 300, 400),
    ),
    Trial(
        kind="throttled server",
        name="across a link that is late",
        right=SERVER,
        blames_server=True,
        apart=True,
        mode="serial:0.01",
        rates=(180, 240, 300, 400),
        before=True,
        plant=of_link(links.late, "h1", 20),
    ),
]
IN_THE_LAB = [*ACROSS, *SLOW, *LOSSY, *LATE, *FEW_PORTS, *LOST]
"""On hosts with a network of their own."""
