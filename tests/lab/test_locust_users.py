"""Users of a locustfile on three machines over SSH, with a package that it imports, and their end
when something breaks. `make verify` has 10,000 of them."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from chosen import WHOLE, chosen
from pids import parent

from lab.conftest import ready, until
from lab.hosts import Host, Lab
from workbench.cli import main
from workbench.consent import ForeignCode
from workbench.documents import AnyDocument, PointStop, RunStart, RunStop, Window
from workbench.plan.reading import load_plan
from workbench.run.engine import Consents
from workbench.run.factory import Fleet, engine_for
from workbench.sessions import read_session

pytestmark = pytest.mark.alone

CLIENTS = ("h2", "h3", "h4")
USERS = 10_000 if os.environ.get(WHOLE) else 300
STARTED_PER_S = 400
"""Users, and then their tasks: less than three Locusts, a server and this machine can do."""
GONE_WITHIN_S = 5.0 if os.environ.get(WHOLE) else 15.0
"""What is promised: the lease is 4 s. Beside other tests, with which four hosts share the cores,
the end of the lease may be noticed later."""
LOCUSTFILE = """\
import shortuuid
from locust import FastHttpUser, constant, task


class Visitor(FastHttpUser):
    wait_time = constant({wait})

    def on_start(self):
        self.name = shortuuid.uuid()

    @task(3)
    def page(self):
        self.client.get("/", name="page")

    @task
    def pages(self):
        for _ in range(2):
            self.client.get("/?user=" + self.name, name="item")
"""
PLAN = """\
name: users
servers: [gevent-pywsgi]
seconds: {seconds}
workload:
  locustfile: users.py
  requirements: [shortuuid==1.0.13]
  timeout_s: 20
  {load}
calibrate: false
warm_up: null
looks: 1
"""


@pytest.fixture
def hosts(lab: Lab) -> Iterator[list[Host]]:
    """Target and clients, and each is as it was when the test is over."""
    yield from ready(lab.hosts)


def plan(folder: Path, load: str, *, wait: float = 1, seconds: float = 6) -> Path:
    (folder / "users.py").write_text(LOCUSTFILE.format(wait=wait))
    path = folder / "plan.yaml"
    path.write_text(PLAN.format(load=load, seconds=seconds))
    return path


def by_users(folder: Path, users: int, *, more_s: float) -> Path:
    """A plan in which they start, and then work at the same pace for `more_s`."""
    ramp = users / STARTED_PER_S
    return plan(
        folder,
        f"mode: closed\n  spawn_s: {ramp}\nconcurrency: [{users}]",
        wait=max(1, ramp),
        seconds=ramp + more_s,
    )


def by_rate(folder: Path) -> Path:
    return plan(folder, "mode: open\nrates: [60, 120]", seconds=3)


@pytest.mark.parametrize("axis", ["Users", "Offered rate"])
def test_users_of_three_machines_act_as_one(
    hosts: list[Host], tmp_path: Path, capsys: pytest.CaptureFixture[str], axis: str
) -> None:
    path = by_users(tmp_path, USERS, more_s=6) if axis == "Users" else by_rate(tmp_path)
    out = tmp_path / "out.pong.yaml"
    clients = [word for name in CLIENTS for word in ("--client", name)]
    where = ["--target", "h1", *clients, "--foreign-code", "-o", str(out)]
    assert main(["run", str(path), *where]) == 0, capsys.readouterr().err
    documents = read_session(out).documents
    (start,) = [d for d in documents if isinstance(d, RunStart)]
    assert start.axis is not None and start.axis.label == axis
    for point in [d for d in documents if isinstance(d, PointStop)]:
        counts = point.counts
        assert point.complete and point.conserved
        assert counts.succeeded == counts.scheduled > 0
        assert [part.machine for part in point.clients] == list(CLIENTS)
        assert all(part.scheduled for part in point.clients)
        if axis == "Users":  # Each has begun at least one task.
            assert counts.scheduled >= USERS
        # A task is a page, or two items.
        pages, items = (point.values[f"request_{n}_replies_per_s"] for n in (1, 2))
        assert pages and items
        assert pages + items / 2 == pytest.approx(point.replies_per_s, rel=0.1)
    capsys.readouterr()
    assert main(["summary", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "page" in printed and "item" in printed


def kill_agent(host: Host) -> None:
    pids = users_of(host)
    (first,) = [pid for pid in pids if parent(pid) not in pids]
    os.kill(first, signal.SIGKILL)


def users_of(host: Host) -> list[int]:
    """The processes of its agent, its workers among them."""
    return [pid for pid, command in host.processes().items() if "generators.locust" in command]


@pytest.mark.parametrize("broken", chosen(["link", "agent", "stop"], 1))
def test_users_end_within_seconds_of_a_cut(hosts: list[Host], tmp_path: Path, broken: str) -> None:
    third = hosts[3]
    faults: dict[str, Callable[[Host], None]] = {"link": Host.cut, "agent": kill_agent}
    documents: list[AnyDocument] = []
    acting: list[asyncio.Future[float]] = []

    def act() -> float:
        """Break it, and return how long users were left."""
        began = time.monotonic()
        faults.get(broken, lambda host: None)(third)
        assert until(lambda: not users_of(third))
        return time.monotonic() - began

    def take(document: AnyDocument) -> None:
        documents.append(document)
        if isinstance(document, Window) and document.index == 15 and not acting:
            assert users_of(third)
            acting.append(asyncio.get_running_loop().run_in_executor(None, act))
            if broken == "stop":
                engine.control.stop()
            else:
                engine.control.pause()
                acting[0].add_done_callback(lambda _: engine.control.resume())

    async def agree(code: ForeignCode) -> bool:
        return code.also == ("shortuuid==1.0.13",)

    path = by_users(tmp_path, 300, more_s=8)
    fleet, consents = Fleet("h1", CLIENTS), Consents(run_foreign=agree)
    engine = engine_for(load_plan(str(path)), take, fleet=fleet, consents=consents)
    try:
        asyncio.run(engine.run())
    finally:
        third.heal()
    took = acting[0].result()
    print(f"{broken}: users gone after {took:.1f} s")
    assert took < GONE_WITHIN_S
    (point,) = [d for d in documents if isinstance(d, PointStop)]
    (stop,) = [d for d in documents if isinstance(d, RunStop)]
    assert not point.complete
    # The only point has no result.
    assert stop.status == ("stopped" if broken == "stop" else "failed")
