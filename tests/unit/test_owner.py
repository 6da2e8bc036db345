"""The processes of a server that is running already, found by what the kernel shows."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.remote.sampler.owner import find
from workbench.servers.deployment import Owner, Root

ID = "ab12" * 16


@pytest.mark.parametrize(
    ("folder", "kind", "value"),
    [
        ("system.slice/shop.service", "unit", "shop"),
        ("system.slice/shop.service", "unit", "shop.service"),
        (f"system.slice/docker-{ID}.scope", "container", ID),
        (f"cpu/docker/{ID}", "container", ID[:12]),
        (f"machine.slice/libpod-{ID}.scope/container", "container", ID),
        (f"kubepods.slice/pod1/cri-containerd-{ID}.scope", "container", ID),
    ],
)
def test_a_unit_or_container_is_found_by_its_control_group(
    folder: str, kind: str, value: str, tmp_path: Path
) -> None:
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "cgroup.procs").write_text(f"{os.getpid()}\n")
    (tmp_path / "other.service").mkdir()
    (tmp_path / "other.service/cgroup.procs").write_text("1\n")
    asked = {"kind": kind, "value": value, "address": "", "port": 0, "cgroups": str(tmp_path)}
    found = find(asked)
    assert [root["pid"] for root in found["roots"]] == [os.getpid()]
    assert str(tmp_path / folder).startswith(found["group"])


def test_of_processes_that_share_a_socket_the_first_is_the_servers() -> None:
    code = (
        "import os, socket, sys, time\n"
        "sock = socket.create_server(('127.0.0.1', 0))\n"
        "print(sock.getsockname()[1], flush=True)\n"
        "os.fork()\n"
        "sys.stdin.read()\n"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe) as process:
        assert process.stdout
        port = int(process.stdout.readline())
        asked = {"kind": "port", "value": str(port), "address": "127.0.0.1", "port": port}
        found = find(asked)
        assert [root["pid"] for root in found["roots"]] == [process.pid]
        assert len(found["sockets"]) == 1
        process.communicate()


def test_what_does_not_listen_here_has_no_owner() -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
        asked = {"kind": "port", "value": str(port), "address": "127.0.0.1", "port": port}
        assert not find(asked).get("roots")


def test_a_program_that_only_forwards_is_no_owner(tmp_path: Path) -> None:
    program = tmp_path / "docker-proxy"
    program.symlink_to(sys.executable)
    code = "import socket, sys; s = socket.create_server(('127.0.0.1', 0));"
    code += "print(s.getsockname()[1], flush=True); sys.stdin.read()"
    pipe = subprocess.PIPE
    with subprocess.Popen([program, "-c", code], stdin=pipe, stdout=pipe) as process:
        assert process.stdout
        port = int(process.stdout.readline())
        asked = {"kind": "port", "value": str(port), "address": "127.0.0.1", "port": port}
        assert "docker-proxy" in find(asked)["why"]
        process.communicate()


ONE, TWO, LATER = Root(12, 100, "web"), Root(13, 101, "web"), Root(12, 900, "web")
BEFORE = Owner((ONE,), sockets=frozenset({7}))


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (BEFORE, ""),
        (Owner((LATER,), sockets=frozenset({8})), "restarted"),
        (Owner((ONE, TWO), sockets=frozenset({7})), "scaled"),
        (Owner(why="there is no process 12 here"), "ended"),
        (Owner((ONE,), sockets=frozenset({8})), "listening socket"),
    ],
)
def test_a_change_of_its_processes_is_named(now: Owner, said: str) -> None:
    assert said in now.changed_since(BEFORE)
    assert bool(said) == bool(now.changed_since(BEFORE))
