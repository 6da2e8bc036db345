"""IPv6 on loopback; hosts without IPv4 are in tests/lab."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from chosen import chosen

from workbench.cli import main
from workbench.errors import BadInput
from workbench.machines.local import LocalMachine
from workbench.machines.profiles import Profile, save_profile
from workbench.servers.catalogue import Catalogue
from workbench.servers.deploy import deploy

CATALOGUE = Catalogue.load(extra_dirs=[])
PLAN = "name: IPv6\nservers: [epoll]\nrates: [100]\nseconds: 1\nlooks: 1\n"


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


pytestmark = pytest.mark.skipif(not has_ipv6(), reason="this system has no IPv6")


@pytest.mark.parametrize(
    "name",
    chosen(
        ["null", "null-http", "null-websocket", "epoll", "wsgiref", "asyncore", "zeromq-req-rep"], 3
    ),
)
async def test_a_server_listens_where_it_is_told(kept_machine: LocalMachine, name: str) -> None:
    deployment = await deploy(kept_machine, CATALOGUE[name], host="::1")
    with socket.create_connection(("::1", deployment.port), 5):
        pass
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", deployment.port), 5)
    await deployment.stop()


async def test_a_server_that_cannot_is_refused_before_anything_is_built(
    machine: LocalMachine,
) -> None:
    said: list[str] = []
    with pytest.raises(BadInput, match="cannot listen on an IPv6 address, such as ::1"):
        await deploy(machine, CATALOGUE["cogen"], host="::1", notify=said.append)
    assert said == []


def test_an_address_before_a_port_is_in_brackets() -> None:
    values = {"python": "p", "backlog": "512", "port": "80"}
    argv = CATALOGUE["gunicorn"].argv(host="::1", **values)
    assert argv[argv.index("--bind") + 1] == "[::1]:80"
    argv = CATALOGUE["gunicorn"].argv(host="127.0.0.1", **values)
    assert argv[argv.index("--bind") + 1] == "127.0.0.1:80"


def test_a_run_with_a_server_that_cannot_does_not_begin(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_profile(Profile("localhost", bind="::1"))
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN.replace("epoll", "epoll, cogen"))
    assert main(["run", str(plan), "--preview"]) == 2
    assert "cannot listen on an IPv6 address" in capsys.readouterr().err
