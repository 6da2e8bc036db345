"""When and how the installed `ssh` is asked for its configuration."""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import asyncssh
import pytest
from msgspec.structs import replace
from sshd import SshHost, answer

from workbench import cli
from workbench.errors import PongbenchError
from workbench.machines import sshconfig
from workbench.machines.profiles import Profile, save_profile
from workbench.machines.sshconfig import settings_for
from workbench.machines.sshconnect import connect

BOX = Profile("mine", connector="ssh", address="box")
CONFIG = "Host box\n HostName 127.0.0.1\n User bench\n"


@pytest.fixture
def ssh(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Installs an `ssh` that notes how it was called, then runs a line of shell; with "", the
    real one with a configuration of its own. The note's file."""
    real = shutil.which("ssh")

    def install(line: str) -> Path:
        if not line and not real:
            pytest.skip("no ssh is installed")
        monkeypatch.setenv("HOME", pwd.getpwuid(os.getuid()).pw_dir)
        folder, calls = tmp_path / "bin", tmp_path / "calls"
        folder.mkdir(exist_ok=True)
        (tmp_path / "config").write_text(CONFIG)
        line = line or f'exec {real} -F {shlex.quote(str(tmp_path / "config"))} "$@"'
        (folder / "ssh").write_text(f'#!/bin/sh\necho "$@" >>{shlex.quote(str(calls))}\n{line}\n')
        (folder / "ssh").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        calls.touch()
        return calls

    return install


def test_a_host_is_passed_where_it_cannot_be_an_option(ssh: Callable[[str], Path]) -> None:
    calls = ssh("")
    with pytest.raises(PongbenchError, match="hostname contains invalid characters"):
        settings_for(replace(BOX, address="-V", user="ann", port=2222))
    assert "-T -G -l ann -p 2222 -- -V" in calls.read_text().splitlines()


async def test_a_machine_is_reached_as_ssh_says(
    ssh: Callable[[str], Path], tmp_path: Path, host: SshHost
) -> None:
    ssh("")
    host.trusted()
    box = Profile("mine", connector="ssh", address="box", port=host.port, auth="password")
    connection = await connect(box, answer)
    assert connection.host == "127.0.0.1"
    assert connection.ssh.get_extra_info("username") == "bench"
    await connection.close()


async def test_an_identity_file_that_is_missing_or_no_key_is_no_error(
    ssh: Callable[[str], Path], tmp_path: Path, host: SshHost
) -> None:
    ssh("")
    host.trusted()
    (tmp_path / "no key").write_text("hello")
    with (tmp_path / "config").open("a") as config:
        config.write(f' IdentityFile "{tmp_path}/missing"\n IdentityFile "{tmp_path}/no key"\n')
    box = Profile("mine", connector="ssh", address="box", port=host.port)
    await (await connect(box, answer)).close()


@pytest.mark.parametrize("complaints", ["", "2>/dev/null"])
async def test_a_proxy_command_is_run_by_the_shell(
    ssh: Callable[[str], Path], tmp_path: Path, host: SshHost, complaints: str
) -> None:
    ssh("")
    host.trusted()
    relay = tmp_path / "relay.py"
    relay.write_text(
        "import os, socket, sys, threading\n"
        "print('connecting', file=sys.stderr)\n"
        "there = socket.create_connection((sys.argv[1], int(sys.argv[2])))\n"
        "def pour(take, give):\n"
        "    while data := take(65536): give(data)\n"
        "    os._exit(0)\n"
        "threading.Thread(target=pour, args=(there.recv, lambda d: os.write(1, d))).start()\n"
        "pour(lambda size: os.read(0, size), there.sendall)\n"
    )
    with (tmp_path / "config").open("a") as config:
        command = shlex.join([sys.executable, str(relay)])
        config.write(f" ProxyCommand {command} %h %p {complaints}\n")
    box = Profile("mine", connector="ssh", address="box", port=host.port, auth="password")
    connection = await connect(box, answer)
    assert isinstance(connection.ssh, asyncssh.SSHClientConnection)
    await connection.close()


def test_an_ssh_that_does_not_answer_is_ended(
    ssh: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh(f"sleep 1000 & echo $! >{shlex.quote(str(tmp_path / 'pid'))}; wait")
    monkeypatch.setattr(sshconfig, "ASK_WITHIN_S", 0.5)
    with pytest.raises(PongbenchError) as caught:
        settings_for(BOX)
    assert caught.value.code == "ssh-config"
    sleeping = Path("/proc") / (tmp_path / "pid").read_text().strip()
    deadline = time.monotonic() + 5
    while (sleeping / "exe").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not (sleeping / "exe").exists()


def test_a_configuration_that_ssh_refuses_can_be_left_out(
    ssh: Callable[[str], Path], tmp_path: Path
) -> None:
    ssh("")
    (tmp_path / "config").write_text("Host box\n Nonsense yes\n")
    with pytest.raises(PongbenchError) as caught:
        settings_for(BOX)
    assert caught.value.code == "ssh-config"
    assert "line 2: Bad configuration option: nonsense" in str(caught.value)
    assert "ssh_config: false" in str(caught.value)
    assert settings_for(replace(BOX, ssh_config=False)).host == "box"


def test_an_ssh_that_cannot_be_run_is_reported(ssh: Callable[[str], Path], tmp_path: Path) -> None:
    ssh("exit 0")
    (tmp_path / "bin/ssh").write_bytes(b"\0")
    with pytest.raises(PongbenchError) as caught:
        settings_for(BOX)
    assert caught.value.code == "ssh-config"


def test_only_a_connection_asks(ssh: Callable[[str], Path], tmp_path: Path) -> None:
    calls = ssh("echo refused >&2; exit 255")
    save_profile(Profile("box", connector="ssh", address="box"))
    for words in (["list"], ["show", "box"], ["add", "x", "--address", "y"]):
        assert cli.main(["machines", *words]) == 0
    assert calls.read_text() == ""
    assert cli.main(["machines", "check", "box"]) != 0
    assert calls.read_text().splitlines() == ["-T -G -- box"]
