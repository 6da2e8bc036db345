"""Each fault of target, client and link in the middle of a point: what the session says, and that
every host is restored. `make test-lab` runs a sample, `make verify` all."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from chosen import chosen
from pids import kill_at_once
from planted.ground import Ground, NoGround

from lab.conftest import in_the_middle, ready
from lab.hosts import Host, Lab
from lab.links import lossy
from lab.test_faults import runners
from workbench.analysis.summary import summarise
from workbench.documents import AnyDocument, Note, PointStop, RunStop, Window
from workbench.plan.reading import load_plan
from workbench.run.factory import Fleet, engine_for
from workbench.sessions import completed

pytestmark = pytest.mark.alone

SERVER = "gevent-pywsgi"
PLAN = f"""\
name: broken
servers: [{SERVER}]
rates: [20, 40]
seconds: 6
workload: {{protocol: http/1.1, calls_per_connection: 10, think_time_s: 0.05, timeout_s: 30}}
rate_of: connections
calibrate: false
warm_up: null
looks: 1
"""
LOSSY = f"""\
name: lossy
servers: [{SERVER}]
rates: [200, 400]
seconds: 3
workload: {{protocol: http/1.0, timeout_s: 0.5}}
calibrate: false
warm_up: null
looks: 1
"""
"""A connection request that is lost is repeated after a second: too late."""
FLEET = Fleet("h1", ("h2", "h3"))
ATTEMPTS = 5
"""While a point is disturbed."""

BUSY = {"background-load", "clients-late", "client-busy"}
"""Codes that say so."""

ACCUSED = "the server's"
"""In place of `server-limited` and `faulty`: what a dying server shows, refusals and resets, may be
either."""


@dataclass(frozen=True)
class Said:
    """What a session records of the fault."""

    points: tuple[tuple[bool, str], ...]
    """(complete, verdict)."""
    sustains: float | None
    status: str = "done"
    note: str = ""
    """The topic of one that tells of it."""


LOST = Said(((False, "inconclusive"),), None, "failed", "target-lost")
UNHARMED = Said(((True, "ok"), (True, "ok")), 40)
WITHOUT_A_CLIENT = Said(((False, "inconclusive"), (True, "ok")), 40, note="client-lost")
WITHOUT_A_SAMPLER = Said(((False, "inconclusive"), (True, "ok")), 40, note="sampler-restarted")
NOT_THE_SERVERS = Said(((True, "network-limited"), (True, "ok")), None)
DIED = Said(((True, ACCUSED),), None, note="died")


@dataclass(frozen=True)
class Fault:
    name: str
    host: str
    act: Callable[[Host], object]
    said: Said
    end: Callable[[Host], object] = lambda host: None


def kill(word: str) -> Callable[[Host], None]:
    """The programs with that in their command line."""

    def act(host: Host) -> None:
        for pid, command in host.processes().items():
            if word in command:
                with contextlib.suppress(ProcessLookupError):  # it went with another one
                    os.kill(pid, signal.SIGKILL)

    return act


def kill_watchers(*which: int) -> Callable[[Host], None]:
    """0: the guardian, 1: the runner."""

    def act(host: Host) -> None:
        found = runners(host)
        kill_at_once([found[number] for number in which])

    return act


def blink(host: Host) -> None:
    host.cut()
    host.heal()


def change_key(host: Host) -> None:
    host.new_host_key()
    host.restart_sshd()


def reset_ssh(host: Host) -> None:
    host.reset("sport", "=", ":22")


def reset_load(host: Host) -> None:
    host.reset("dport", "!=", ":22", "and", "sport", "!=", ":22")


def fill(host: Host) -> None:
    host.fill("/var/tmp")


def end_fill(host: Host) -> None:
    host.end_fill("/var/tmp")


FAULTS = [
    Fault("the target's cable is cut", "h1", Host.cut, LOST, Host.heal),
    Fault("the target's cable is cut for a moment", "h1", blink, UNHARMED),
    Fault("what goes to the target vanishes", "h1", Host.black_hole, LOST, Host.end_black_hole),
    Fault("the target's SSH is reset", "h1", reset_ssh, LOST),
    Fault("the target is rebooted", "h1", Host.reboot, LOST),
    Fault("the target stands still", "h1", Host.freeze, LOST, Host.thaw),
    Fault("the target's sshd ends", "h1", Host.stop_sshd, UNHARMED, Host.start_sshd),
    Fault("the target's runner is killed", "h1", kill_watchers(1), LOST),
    Fault("the target's guardian is killed", "h1", kill_watchers(0), LOST),
    Fault("the target's guardian and runner are killed", "h1", kill_watchers(0, 1), LOST),
    Fault("the target's sampler is killed", "h1", kill("/sampler"), WITHOUT_A_SAMPLER),
    Fault("the target's disk is full", "h1", fill, UNHARMED, end_fill),
    Fault("the target's host key changes", "h1", change_key, UNHARMED),
    Fault("the server is killed", "h1", kill("server.py"), DIED),
    Fault("a client's cable is cut", "h3", Host.cut, WITHOUT_A_CLIENT, Host.heal),
    Fault("a client's cable is cut for a moment", "h3", blink, UNHARMED),
    Fault(
        "what goes to a client vanishes",
        "h3",
        Host.black_hole,
        WITHOUT_A_CLIENT,
        Host.end_black_hole,
    ),
    Fault("a client's SSH is reset", "h3", reset_ssh, WITHOUT_A_CLIENT),
    Fault("a client is rebooted", "h3", Host.reboot, WITHOUT_A_CLIENT),
    Fault("a client stands still", "h3", Host.freeze, WITHOUT_A_CLIENT, Host.thaw),
    Fault("a client's runner is killed", "h3", kill_watchers(1), WITHOUT_A_CLIENT),
    Fault("a client's agent is killed", "h3", kill("agent"), WITHOUT_A_CLIENT),
    Fault("a client's disk is full", "h3", fill, UNHARMED, end_fill),
    Fault("a client's connections to the server are reset", "h3", reset_load, NOT_THE_SERVERS),
]


@pytest.fixture
def quiet(hosts: dict[str, Host]) -> Iterator[None]:
    """What else runs here says nothing of these hosts."""
    try:
        ground = Ground()
    except NoGround as reason:
        pytest.skip(str(reason))
    try:
        for host in hosts.values():
            ground.take_in(list(host.pids()))
        with ground.undisturbed():
            yield
    finally:
        ground.close()


@pytest.fixture
def hosts(lab: Lab) -> Iterator[dict[str, Host]]:
    """Target and two clients, and each is as it was when the test is over."""
    for used in ready(lab.hosts[:3]):
        yield {host.name: host for host in used}


@pytest.mark.parametrize("fault", chosen(FAULTS, 3, seed=2), ids=lambda fault: fault.name)
def test_hosts_are_restored_and_the_session_is_truthful(
    fault: Fault, hosts: dict[str, Host], quiet: None, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN)
    host = hosts[fault.host]

    def middle(document: AnyDocument) -> bool:
        return isinstance(document, Window) and document.index == 3

    for _ in range(ATTEMPTS):
        try:
            documents = in_the_middle(plan, FLEET, middle, lambda: fault.act(host))
        finally:
            fault.end(host)
        found = said(documents, fault.said.note)
        if found == fault.said or not disturbed(documents):
            break
    assert found == fault.said


@pytest.mark.parametrize("host", chosen(["h1", "h2"], 1))
def test_a_link_that_loses_3_percent_is_never_blamed_on_the_server(
    host: str, hosts: dict[str, Host], quiet: None, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(LOSSY)
    for _ in range(ATTEMPTS):
        documents: list[AnyDocument] = []
        engine = engine_for(load_plan(str(plan)), documents.append, fleet=Fleet("h1", ("h2",)))
        with lossy(hosts[host], 3):
            asyncio.run(engine.run())
        points = [d for d in documents if isinstance(d, PointStop)]
        assert len(points) == 2 and ACCUSED not in map(whose, points)
        if not disturbed(documents):
            break
    for point in points:
        said = " ".join(point.reasons)
        assert re.search(r"loses packets: .* retransmitted [\d,]+ segments in", said), said
        if point.verdict != "network-limited":  # the machine was busy each time
            assert point.verdict == "inconclusive"
            assert {found["code"] for found in point.findings} & BUSY, said
    assert summarise(list(completed(documents))).servers[SERVER].knee is None


def disturbed(documents: list[AnyDocument]) -> bool:
    """Did other programs of this machine keep the clients from their schedule?"""
    points = [d for d in documents if isinstance(d, PointStop) and d.complete]
    return any(point.verdict in ("client-limited", "inconclusive") for point in points)


def said(documents: list[AnyDocument], topic: str) -> Said:
    points = [d for d in documents if isinstance(d, PointStop)]
    (stop,) = [d for d in documents if isinstance(d, RunStop)]
    topics = {d.topic for d in documents if isinstance(d, Note)}
    return Said(
        points=tuple((point.complete, whose(point)) for point in points),
        sustains=summarise(list(completed(documents))).servers[SERVER].knee,
        status=stop.status,
        note=topic if topic in topics else "",
    )


def whose(point: PointStop) -> str:
    return ACCUSED if point.verdict in ("server-limited", "faulty") else point.verdict
