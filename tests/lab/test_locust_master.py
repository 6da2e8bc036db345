"""Locust's own workers on three hosts, started by us through SSH and joined by themselves; one is
killed and one cut off in the middle. `make verify` has 10,000 users."""

from __future__ import annotations

import asyncio
import os
import shlex
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from chosen import WHOLE

from lab.conftest import configured, profile_of, ready, until
from lab.hosts import Host, Lab
from workbench.consent import ForeignCode
from workbench.documents import AnyDocument, Note, PointStop, Window
from workbench.errors import PongbenchError
from workbench.machines.bundle import Brought, agent_place
from workbench.machines.ssh import open_ssh
from workbench.messages.reasons import reason, reasons_of
from workbench.plan.reading import load_plan
from workbench.run.engine import Consents
from workbench.run.factory import Fleet, engine_for

pytestmark = pytest.mark.alone

USERS = 10_000 if os.environ.get(WHOLE) else 600
WAIT_S = USERS / 100
"""Users mostly wait, and make 100 requests a second together."""
CUT_S = 20.0
PORT = 5557
LOCUSTFILE = """\
from locust import FastHttpUser, constant, task


class Visitor(FastHttpUser):
    wait_time = constant({wait})

    @task
    def page(self):
        self.client.get("/", name="page")
"""
PLAN = """\
name: workers
servers: [gevent-pywsgi]
seconds: {seconds}
workload:
  locustfile: users.py
  mode: closed
  engine: locust
  spawn_s: {ramp}
  expect_workers: 3
  master: {master}
concurrency: [{users}, {more}, {most}]
calibrate: false
warm_up: null
looks: 1
workers: 2
"""
WORKER = "import sys; sys.path[:0] = [sys.argv.pop(1)]; from locust.main import main; main()"


@pytest.fixture
def hosts(lab: Lab) -> Iterator[list[Host]]:
    yield from ready(lab.hosts)


async def place_on(host: Host) -> str:
    """Copy Locust there, as its owner might have installed it. Returns its path."""
    machine = await open_ssh(profile_of(host))
    try:
        return await agent_place(machine, "locust", Brought())
    finally:
        await machine.close()


def join(host: Host, place: str, address: str) -> None:
    """Start a worker there that nobody of ours owns."""
    words = ["python3", "-c", WORKER, place, "--worker", "--master-host", address]
    words += ["--master-port", str(PORT), "-f", "-"]
    start = f"PYTHONDONTWRITEBYTECODE=1 setsid {shlex.join(words)}"
    host.run("sh", "-c", f"cd /tmp && {start} >/dev/null 2>&1 </dev/null &")


def workers_of(host: Host) -> list[int]:
    return [pid for pid, command in host.processes().items() if "locust.main" in command]


def test_one_worker_is_killed_and_one_cut_off(lab: Lab, hosts: list[Host], tmp_path: Path) -> None:
    _, _, second, third = hosts
    ramp = USERS / 100
    seconds = ramp + CUT_S + 15
    (tmp_path / "users.py").write_text(LOCUSTFILE.format(wait=WAIT_S))
    path = tmp_path / "plan.yaml"
    path.write_text(
        PLAN.format(
            seconds=seconds,
            ramp=ramp,
            master=f"{lab.gateway}:{PORT}",
            users=USERS,
            more=USERS + 1,
            most=USERS + 2,
        )
    )
    for host in (second, third):
        place = asyncio.run(place_on(host))
        for _ in range(2 if host is second else 1):
            join(host, place, lab.gateway)
    documents: list[AnyDocument] = []

    def act() -> None:
        os.kill(workers_of(second)[0], 9)
        third.cut()
        time.sleep(CUT_S)
        third.heal()

    acting: list[threading.Thread] = []

    def take(document: AnyDocument) -> None:
        documents.append(document)
        stops = [d for d in documents if isinstance(d, PointStop)]
        late = isinstance(document, Window) and document.index > ramp * 5
        if late and len(stops) == 1 and not acting:
            acting.append(threading.Thread(target=act))
            acting[0].start()

    async def agree(code: ForeignCode) -> bool:
        return f"every worker that joins at {lab.gateway}:{PORT}" in code.machines

    consents = Consents(run_foreign=agree)
    fleet = Fleet("h1", ("h2",))
    engine = engine_for(load_plan(str(path)), take, fleet=fleet, consents=consents)
    asyncio.run(engine.run())
    acting[0].join()
    for host in (second, third):  # The master's end is theirs.
        assert until(lambda host=host: not workers_of(host))
        host.run("sh", "-c", "rm -f /tmp/users.py /tmp/pongbench_plugin.py")
    whole, cut, after = [d for d in documents if isinstance(d, PointStop)]
    print(*(f"{d.x:.0f} {d.replies_per_s}/s {d.verdict} {d.reasons}" for d in (whole, cut, after)))
    assert whole.complete and whole.counts.errors == {}
    assert {part.machine for part in whole.clients} == {"h2", "h3", "h4"}
    assert whole.client_cpu_pct is not None
    assert whole.replies_per_s == pytest.approx(USERS / WAIT_S, rel=0.1)
    assert not cut.complete
    lost = [each.data()["said"] for each in reasons_of(cut) if each.code == "agent-problem"]
    assert sorted(said.partition("_")[0] for said in lost) == ["h3", "h4"]
    # The one that was cut off is back.
    assert after.complete
    assert reason("other-workers", workers=4, expected=5) in reasons_of(after)
    # Users who are moved to another worker begin with a request, wherever they were in their wait.
    moved = USERS / 2 / seconds
    assert 0.9 * USERS / WAIT_S <= after.replies_per_s <= 1.1 * USERS / WAIT_S + moved
    assert any(isinstance(d, Note) and "password" in d.text for d in documents)


def test_a_port_that_others_could_use_is_refused(lab: Lab, hosts: list[Host]) -> None:
    async def forwarded() -> None:
        machine = await open_ssh(profile_of(hosts[1]))
        try:
            async with machine.leading_here("127.0.0.1", 9) as (host, port):
                assert (host, port > 0) == ("127.0.0.1", True)
        finally:
            await machine.close()

    asyncio.run(forwarded())
    for line in ("GatewayPorts yes", "AllowTcpForwarding no"):
        with (
            configured(hosts[1], line),
            pytest.raises(PongbenchError, match=line.partition(" ")[0]),
        ):
            asyncio.run(forwarded())
