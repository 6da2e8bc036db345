"""A machine over SSH, used as the rest of the program uses it."""

from __future__ import annotations

import asyncio
import re
import sys
import tarfile
from pathlib import Path

import pytest

from lab.conftest import configured, profile_of, trusted
from lab.hosts import Host, Lab
from workbench.errors import PongbenchError
from workbench.machines.profiles import Profile
from workbench.machines.runner_client import Command, MachineBusy
from workbench.machines.secrets import never_ask
from workbench.machines.ssh import SshMachine, open_ssh
from workbench.machines.sshconnect import connect


def test_the_hosts_have_ssh_and_python_and_nothing_of_ours(host: Host) -> None:
    version = host.run("python3", "-c", "import sys; print(sys.version_info[:2] >= (3, 10))")
    assert version.strip() == "True"
    for module in ("gevent", "greenlet", "pip", "ensurepip"):
        script = f"import importlib.util as u; print(u.find_spec({module!r}))"
        assert host.run("python3", "-c", script).strip() == "None"
    script = "python3 -m venv /tmp/venv 2>&1; echo $?; rm -rf /tmp/venv"
    assert host.run("sh", "-c", script).strip().endswith("1")
    for path in (sys.prefix, str(Path(__file__)), "/usr/bin/gcc"):
        assert host.run("sh", "-c", 'test -e "$0"; echo $?', path).strip() == "1"
    # Nor is there a way out to the package index.
    reach = "import socket; socket.create_connection(('1.1.1.1', 443), 3)"
    assert host.run("sh", "-c", 'python3 -c "$0" 2>/dev/null; echo $?', reach).strip() == "1"


async def test_programs_run_there_and_not_here(machine: SshMachine, host: Host) -> None:
    program = "import os, sys; print(os.uname().nodename, os.getcwd(), input())"
    process = await machine.start(Command([*machine.python, "-c", program]))
    await process.send(b"hello")
    lines = [line async for line in process.lines()]
    assert lines == [f"{host.name} {machine.run_dir} hello".encode()]
    assert await process.wait() == 0


async def test_a_process_that_became_root_and_cannot_be_killed_is_reported(
    machine: SshMachine, host: Host
) -> None:
    host.run("cp", "/usr/bin/python3", "/tmp/root")
    host.run("chmod", "u+s", "/tmp/root")
    program = "import os; os.setresuid(0, 0, 0); print('here', flush=True); input()"
    process = await machine.start(Command(["/tmp/root", "-I", "-S", "-c", program]))
    assert await anext(process.lines()) == b"here"
    with pytest.raises(
        PongbenchError, match=r"of 'h1' or what it started cannot be ended: perhaps"
    ):
        await process.stop(0)
    assert await machine.read(["/etc/hostname"]) == ["h1\n"]
    await process.send(b"")
    assert await process.wait() == 0
    host.run("rm", "/tmp/root")


@pytest.mark.anywhere
async def test_files_and_trees_arrive_whole(
    machine: SshMachine, host: Host, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    (tree / "below").mkdir(parents=True)
    (tree / "below" / "script").write_text("#!/bin/sh\necho it runs\n")
    (tree / "below" / "script").chmod(0o755)
    (tree / "large").write_bytes(bytes(range(256)) * 40_000)
    where = await machine.put(tree, "copied/here")
    process = await machine.start(Command([f"{where}/below/script"]))
    assert [line async for line in process.lines()] == [b"it runs"]
    assert host.run("stat", "-c", "%s", f"{where}/large").strip() == "10240000"
    with pytest.raises(PongbenchError, match=r"^Cannot copy .*absent to 'h1': No such file"):
        await machine.put(tmp_path / "absent", "absent")


@pytest.mark.anywhere
async def test_its_clock_is_known(machine: SshMachine, host: Host) -> None:
    offset_us, uncertainty_us = await machine.clock()
    assert 0 < uncertainty_us < 1_000_000
    # Hosts of the lab began 100,000 s before this computer, by their own account.
    assert offset_us == pytest.approx(-1e6 * host.began_s, abs=2e6)


@pytest.mark.anywhere
async def test_the_run_directory_belongs_to_its_user_alone(machine: SshMachine, host: Host) -> None:
    assert host.run("stat", "-c", "%a %U", machine.run_dir).strip() == f"700 {host.user}"


@pytest.mark.anywhere
async def test_a_second_workbench_learns_who_uses_the_host(
    machine: SshMachine, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.machines.ssh.BUSY_FOR_S", 0)
    with pytest.raises(MachineBusy, match=r"^'h1' is in use by process \d+ of .* on "):
        await open_ssh(profile)
    process = await machine.start(Command(["true"]))
    assert await process.wait() == 0


async def test_another_user_is_not_locked_out_and_learns_who_uses_the_machine(
    machine: SshMachine, host: Host
) -> None:
    other = await open_ssh(profile_of(host, user="ops"))
    (there,) = other.beside
    await other.close()
    assert re.match(rf"process \d+ of user {host.user} \(", there)
    process = await machine.start(Command(["true"]))
    assert await process.wait() == 0


@pytest.mark.anywhere
async def test_uploaded_files_stay_and_are_not_uploaded_again(
    machine: SshMachine, host: Host, tmp_path: Path
) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / ".whole").write_text("")
    (tmp_path / "b" / "thing").write_text("1")
    archive = tmp_path / "b.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tmp_path / "b", arcname=".")
    place = await machine.bring(archive, "bundles/b")
    assert host.read(f"{place}/thing") == "1"
    archive.unlink()
    assert await machine.bring(archive, "bundles/b") == place
    host.run("rm", "-rf", place)


async def test_a_noisy_login_shell_does_not_matter(lab: Lab, host: Host, profile: Profile) -> None:
    await trusted(profile)
    noise = "echo welcome; printf '\\377\\376 not text\\n'; yes noise | head -c 500000\n"
    host.write("/home/bench/.bashrc", noise)
    try:
        opened = await open_ssh(profile)
        process = await opened.start(Command(["echo", "fine"]))
        assert [line async for line in process.lines()] == [b"fine"]
        await opened.close()
    finally:
        host.run("rm", "/home/bench/.bashrc")


@pytest.mark.anywhere
async def test_one_session_at_a_time_is_enough_to_say_so(host: Host, profile: Profile) -> None:
    with configured(host, "MaxSessions 1"):
        await trusted(profile)
        opened = await open_ssh(profile)
        with pytest.raises(PongbenchError, match="raise MaxSessions"):
            await opened.put(Path(__file__), "here")
        await opened.close()


@pytest.mark.anywhere
async def test_many_simultaneous_logins_succeed(host: Host, profile: Profile) -> None:
    with configured(host, "MaxStartups 2:100:3"):
        await trusted(profile)
        connections = await asyncio.gather(*(connect(profile, never_ask) for _ in range(20)))
        assert len(connections) == 20
        await asyncio.gather(*(connection.close() for connection in connections))


async def test_an_old_python_gives_one_sentence(host: Host, profile: Profile) -> None:
    await trusted(profile)
    host.run("mv", "/usr/bin/python3", "/usr/bin/python3.away")
    host.run("mv", "/usr/bin/python3.11", "/usr/bin/python3.11.away")
    try:
        with pytest.raises(PongbenchError, match=r"^'h1' has no Python 3\.10 or later \(none at"):
            await open_ssh(profile)
    finally:
        host.run("mv", "/usr/bin/python3.away", "/usr/bin/python3")
        host.run("mv", "/usr/bin/python3.11.away", "/usr/bin/python3.11")
