"""Machines over SSH where there is no lab: an SSH server in this process, on loopback.

It is no OpenSSH, and its host is this computer; what depends on either is in tests/lab.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import asyncssh
import pytest
from oracle import files_below
from sshd import PASSWORD, listen

from workbench.errors import PongbenchError
from workbench.load.base import Client
from workbench.load.fleet import AgentFleet
from workbench.machines import secrets
from workbench.machines.base import Command
from workbench.machines.hostkeys import ChangedHostKey, UnknownHostKey, trust
from workbench.machines.profiles import Profile
from workbench.machines.secrets import Question, Secrets
from workbench.machines.ssh import open_ssh
from workbench.machines.sshconnect import connect


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".ssh").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "pongbench"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setattr(secrets, "SECRETS", Secrets())
    # Nobody else's test is to be waited for, but nor is it to fail ours.
    monkeypatch.setattr("workbench.machines.ssh.BUSY_FOR_S", 60)


@pytest.fixture
async def server() -> AsyncIterator[asyncssh.SSHAcceptor]:
    acceptor = await listen(asyncssh.generate_private_key("ssh-ed25519"))
    yield acceptor
    acceptor.close()
    await acceptor.wait_closed()


@pytest.fixture
def profile(server: asyncssh.SSHAcceptor, tmp_path: Path) -> Profile:
    return Profile(
        "box",
        connector="ssh",
        address="127.0.0.1",
        port=server.get_port(),
        user="bench",
        auth="password",
        work_dir=str(tmp_path / "work"),
        python=sys.executable,
    )


async def answer(question: Question) -> str | None:
    return PASSWORD


async def trusted(profile: Profile) -> None:
    with pytest.raises(UnknownHostKey) as caught:
        await connect(profile, answer)
    trust(caught.value.host, caught.value.port, caught.value.key)


async def test_programs_run_and_files_arrive_and_nothing_stays(
    profile: Profile, tmp_path: Path
) -> None:
    await trusted(profile)
    machine = await open_ssh(profile, ask=answer)
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "script").write_text("print('it runs', input())")
    where = await machine.put(tmp_path / "tree", "here")
    process = await machine.start(Command([*machine.python, f"{where}/script"]))
    await process.send(b"here")
    assert [line async for line in process.lines()] == [b"it runs here"]
    offset_us, uncertainty_us = await machine.clock()
    assert abs(offset_us) <= uncertainty_us + 1000
    await machine.close()
    assert files_below(tmp_path / "work") == []


async def test_a_changed_key_stops_everything(
    server: asyncssh.SSHAcceptor, profile: Profile
) -> None:
    await trusted(profile)
    await (await connect(profile, answer)).close()
    server.close()
    await server.wait_closed()
    again = await listen(asyncssh.generate_private_key("ssh-ed25519"), profile.port)
    asked: list[Question] = []

    async def ask(question: Question) -> str | None:
        asked.append(question)
        return PASSWORD

    with pytest.raises(ChangedHostKey):
        await connect(profile, ask)
    assert asked == []
    again.close()
    await again.wait_closed()


async def test_a_connection_that_breaks_is_a_sentence(
    server: asyncssh.SSHAcceptor, profile: Profile
) -> None:
    await trusted(profile)
    machine = await open_ssh(profile, ask=answer)
    process = await machine.start(Command([*machine.python, "-c", "input()"]))
    machine.shell.connection.ssh.abort()
    with pytest.raises(PongbenchError, match=r"^The machine 'box' is gone: "):
        await process.wait()
    await machine.close()


async def test_an_agent_comes_with_what_it_needs(profile: Profile, tmp_path: Path) -> None:
    """The interpreter is isolated, so that gevent of this program's environment is not seen."""
    await trusted(profile)
    machine = await open_ssh(profile, ask=answer)
    fleet = await AgentFleet.start([Client(machine)])
    await fleet.close()
    await machine.close()
    (kept,) = (tmp_path / "work" / "bundles").iterdir()
    assert (kept / "gevent").is_dir() and (kept / "workbench" / "agent").is_dir()
