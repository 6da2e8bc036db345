"""Hosts that have IPv6 addresses only: from the check to the result."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.conftest import profile_of, ready, trusted
from lab.hosts import Host, Lab
from workbench.cli import main
from workbench.documents import PointStop, RunStop
from workbench.sessions import read_session

PLAN = """\
name: IPv6 alone
servers: [epoll, tornado]
rates: [100, 200]
seconds: 2
"""


@pytest.fixture
def hosts(lab: Lab) -> Iterator[list[Host]]:
    """A target and a client, as they were when it is over."""
    for hosts in ready(lab.hosts[:2]):
        for host in hosts:
            host.lose_ipv4()
        yield hosts
        for host in hosts:
            host.gain_ipv4()


def test_a_calibrated_sweep_runs_between_hosts_without_ipv4(
    hosts: list[Host], tmp_path: Path
) -> None:
    for host in hosts:
        asyncio.run(trusted(profile_of(host, address=host.address6)))
        assert main(["machines", "check", host.name]) == 0
    (tmp_path / "plan.yaml").write_text(PLAN)
    session = tmp_path / "out.pong.yaml"
    words = ["--target", "h1", "--client", "h2", "-o", str(session)]
    assert main(["run", str(tmp_path / "plan.yaml"), *words]) == 0
    documents = read_session(session).documents
    points = [document for document in documents if isinstance(document, PointStop)]
    assert {point.server for point in points} == {"null", "epoll", "tornado"}
    assert all(point.replies_per_s for point in points)
    (stop,) = [document for document in documents if isinstance(document, RunStop)]
    assert stop.status == "done"
