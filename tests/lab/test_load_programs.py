"""Load tools that are programs, on two clients over SSH: they act as one, until one is lost."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.conftest import CLEAN_WITHIN_S, in_the_middle, ready, until
from lab.hosts import Host, Lab
from workbench.documents import AnyDocument, PointStart, PointStop, RunStop
from workbench.messages.reasons import reasons_of
from workbench.run.factory import Fleet

pytestmark = pytest.mark.alone

CLIENTS = ("h2", "h3")
LOADS = {
    "httperf": ("rates: [40, 60]", "mode: open"),
    "wrk": ("concurrency: [4, 6]", "mode: closed, calls_per_connection: 100"),
}
"""As each can offer it: of wrk, over kept connections."""
PLAN = """\
name: programs
servers: [gevent-pywsgi]
load_tool: {tool}
{load}
seconds: 6
workload: {{protocol: http/1.1, {kind}, timeout_s: 5}}
calibrate: false
warm_up: null
looks: 1
"""


@pytest.fixture
def hosts(lab: Lab) -> Iterator[list[Host]]:
    """Target and clients, and each is as it was when the test is over."""
    yield from ready(lab.hosts[:3])


def of_tool(host: Host, tool: str) -> list[int]:
    """The processes of the program there, once it runs."""
    return [pid for pid, command in host.processes().items() if f"bin/{tool} " in command]


def kill(host: Host, tool: str) -> None:
    for pid in of_tool(host, tool):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    ("tool", "broken", "said"),
    [("httperf", "cable", "client-gone"), ("wrk", "program", "tool-failed")],
)
def test_a_program_on_two_clients_acts_as_one_until_one_is_lost(
    hosts: list[Host], tmp_path: Path, tool: str, broken: str, said: str
) -> None:
    """It breaks in the second of two points."""
    path, third = tmp_path / "plan.yaml", hosts[2]
    load, kind = LOADS[tool]
    path.write_text(PLAN.format(tool=tool, load=load, kind=kind))
    faults: dict[str, Callable[[], None]] = {
        "cable": third.cut,
        "program": lambda: kill(third, tool),
    }
    begun: list[PointStart] = []
    took: list[float] = []

    def second(document: AnyDocument) -> bool:
        begun.extend([document] if isinstance(document, PointStart) else [])
        return len(begun) == 2

    def act() -> None:
        """Break it while both run it, and wait until the one has gone."""
        assert until(lambda: all(of_tool(host, tool) for host in hosts[1:]))
        began = time.monotonic()
        faults[broken]()
        assert until(lambda: not of_tool(third, tool))
        took.append(time.monotonic() - began)

    try:
        documents = in_the_middle(path, Fleet("h1", CLIENTS), second, act, install=True)
    finally:
        third.heal()
    whole, cut = [d for d in documents if isinstance(d, PointStop)]
    assert [part.machine for part in whole.clients] == list(CLIENTS)
    assert whole.complete and whole.counts.succeeded == whole.counts.scheduled
    assert all(part.scheduled for part in whole.clients)
    assert sum(part.scheduled for part in whole.clients) == whole.counts.scheduled
    if tool == "httperf":
        assert whole.counts.scheduled == 40 * 6
    # The one that was lost is named, and the point is excluded; the other has its figures.
    assert not cut.complete and cut.verdict == "inconclusive"
    assert [each.data()["client"] for each in reasons_of(cut) if each.code == said] == ["h3"]
    assert [part.machine for part in cut.clients] == ["h2"]
    (stop,) = [d for d in documents if isinstance(d, RunStop)]
    assert stop.status == "done"
    assert took[0] < CLEAN_WITHIN_S
