"""Machines over SSH where there is no lab: an SSH server in this process, on loopback.

It is no OpenSSH, and its host is this computer; what depends on either is in tests/lab.
"""

from __future__ import annotations

from pathlib import Path

import asyncssh
import pytest
from oracle import files_below
from sshd import PASSWORD, SshHost, answer

from workbench.errors import PongbenchError
from workbench.load.base import Client
from workbench.load.fleet import AgentFleet
from workbench.machines.hostkeys import ChangedHostKey
from workbench.machines.profiles import Profile
from workbench.machines.runner_client import Command
from workbench.machines.secrets import Question
from workbench.machines.ssh import open_ssh
from workbench.machines.sshconnect import connect
from workbench.servers.catalogue import Catalogue
from workbench.servers.deploy import deploy


async def test_programs_run_and_files_arrive_and_nothing_is_left(
    box: Profile, tmp_path: Path
) -> None:
    machine = await open_ssh(box, ask=answer)
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


async def test_a_changed_key_stops_everything(host: SshHost, box: Profile) -> None:
    await (await connect(box, answer)).close()
    await host.stop()
    host.keys = [asyncssh.generate_private_key("ssh-ed25519")]
    await host.listen()
    asked: list[Question] = []

    async def ask(question: Question) -> str | None:
        asked.append(question)
        return PASSWORD

    with pytest.raises(ChangedHostKey):
        await connect(box, ask)
    assert asked == []


async def test_a_broken_connection_gives_one_sentence(box: Profile) -> None:
    machine = await open_ssh(box, ask=answer)
    process = await machine.start(Command([*machine.python, "-c", "input()"]))
    machine.shell.connection.ssh.abort()
    with pytest.raises(PongbenchError, match=r"^The machine 'box' is gone: "):
        await process.wait()
    await machine.close()


async def test_a_server_contacted_at_a_wrong_address_is_not_blamed(
    host: SshHost, tmp_path: Path
) -> None:
    wrong = host.profile(tmp_path / "work", bind="127.0.0.1", reach="127.0.0.3")
    machine = await open_ssh(wrong, ask=answer)
    server = Catalogue.load(extra_dirs=[])["null"]
    sentence = (
        r"^Port \d+ of 127\.0\.0\.3 cannot be reached, .* 'box' \(.+\); check .* \(reach\)\.$"
    )
    with pytest.raises(PongbenchError, match=sentence):
        await deploy(machine, server, host=machine.bind, reach=machine.reach)
    await machine.close()


async def test_an_agent_comes_with_what_it_needs(box: Profile, tmp_path: Path) -> None:
    """The interpreter is isolated, so that gevent of this program's environment is not seen."""
    machine = await open_ssh(box, ask=answer)
    fleet = await AgentFleet.start([Client(machine)])
    await fleet.close()
    await machine.close()
    (kept,) = (tmp_path / "work" / "bundles").iterdir()
    assert (kept / "gevent").is_dir() and (kept / "workbench" / "remote" / "agent").is_dir()
