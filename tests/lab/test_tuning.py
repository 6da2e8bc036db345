"""Kernel settings of real hosts, changed through real sudo and restored whatever happens."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pids import kill_at_once

from lab.configuration import PASSWORD, SUDOERS
from lab.conftest import profile_of, trusted, until
from lab.hosts import Host
from workbench.errors import PongbenchError
from workbench.machines.profiles import Profile
from workbench.machines.secrets import Ask, Question
from workbench.machines.ssh import SshMachine, open_ssh
from workbench.machines.tuning import Change, Rights, TuningSet, left_tuned, preview, restore, tuned

SOMAXCONN, PORTS = "net.core.somaxconn", "net.ipv4.ip_local_port_range"
WANTED = TuningSet(name="lab", at_least={SOMAXCONN: 250_000, PORTS: "10152 65535"})
HOLD = """
import asyncio, sys
from workbench.machines.opening import open_machine
from workbench.machines.profiles import load_profile
from workbench.machines.tuning import Rights
from workbench.machines.tuning import Change, tuned

async def main():
    profile = load_profile(sys.argv[1])
    machine = await open_machine(profile)
    changes = [Change("net.core.somaxconn", "4096", "50000")]
    async with tuned(machine, changes, Rights.on(machine, profile)):
        print("tuned", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


def somaxconn(host: Host) -> str:
    """Past SSH and past the tuner."""
    return host.run("cat", "/proc/sys/net/core/somaxconn").strip()


@pytest.fixture
def before(host: Host) -> str:
    return somaxconn(host)


@asynccontextmanager
async def opened(profile: Profile) -> AsyncIterator[SshMachine]:
    await trusted(profile)
    machine = await open_ssh(profile)
    try:
        yield machine
    finally:
        await machine.close()


def asked(*answers: str | None) -> tuple[Ask, list[Question]]:
    """A user who gives these answers, and the questions asked."""
    questions: list[Question] = []

    async def ask(question: Question) -> str | None:
        questions.append(question)
        return answers[len(questions) - 1]

    return ask, questions


@pytest.mark.parametrize("line", ["", "Defaults use_pty", "Defaults lecture=always"])
@pytest.mark.parametrize("user", ["bench", "ops", "root"])
async def test_settings_are_in_force_for_the_run_and_as_before_after_it(
    host: Host, before: str, user: str, line: str
) -> None:
    modes = {"bench": "password", "ops": "passwordless", "root": "no"}
    profile = profile_of(host, user=user, sudo=modes[user])
    ask, questions = asked(PASSWORD)
    with sudoers(host, line):
        async with opened(profile) as machine:
            changes = await preview(machine, WANTED)
            rights = Rights.on(machine, profile, ask)
            complaints: list[str] = []
            async with tuned(machine, changes, rights, on_restored=complaints.extend) as in_force:
                assert somaxconn(host) == "250000"
                ports = host.run("cat", "/proc/sys/net/ipv4/ip_local_port_range").split()
                assert ports == ["10152", "65535"]
                assert await left_tuned(machine)
                assert f"net.core.somaxconn {before} -> 250000" in in_force.text()
                assert "unchanged" not in in_force.text()
            assert somaxconn(host) == before
            assert complaints == []
            assert not await left_tuned(machine)
    assert len(questions) == (user == "bench")


async def test_a_wrong_password_is_asked_for_once_more(host: Host, before: str) -> None:
    profile = profile_of(host, sudo="password")
    ask, questions = asked("wrong", PASSWORD)
    async with opened(profile) as machine:
        async with tuned(machine, [somaxconn_to(50_000)], Rights.on(machine, profile, ask)):
            assert somaxconn(host) == "50000"
        # And what was right is not asked for again.
        async with tuned(machine, [somaxconn_to(50_000)], Rights.on(machine, profile)):
            assert somaxconn(host) == "50000"
    assert [question.again for question in questions] == [False, True]
    assert questions[0].text == f"Password for sudo on {host.name} (bench@{host.address})"


@pytest.mark.parametrize(
    ("who", "line", "answers", "sentence"),
    [
        (("bench", "password"), "", ["wrong", "wrong"], "rejected the password"),
        (("bench", "password"), "", [None], "No sudo password was given for h1"),
        (("bench", "password"), "", ["wrong", None], "rejected the password"),
        (("bench", "passwordless"), "", [], "sudo on h1 requires a password; change its profile"),
        (("bench", "no"), "", [], "Root privileges are not available on h1"),
        (("bench", "password"), "Defaults requiretty", [PASSWORD], "requires a terminal"),
        (("ops", "passwordless"), "Defaults requiretty", [], "requires a terminal"),
        (("bench", "password"), "STRANGER", [PASSWORD], "is not in sudoers"),
    ],
)
async def test_without_root_the_reason_is_reported_and_nothing_changes(
    host: Host, who: tuple[str, str], line: str, answers: list[str | None], sentence: str
) -> None:
    before = somaxconn(host)
    profile = profile_of(host, user=who[0], sudo=who[1])
    ask, _ = asked(*answers)
    with sudoers(host, line):
        async with opened(profile) as machine:
            with pytest.raises(PongbenchError, match=sentence):
                async with tuned(machine, [somaxconn_to(50_000)], Rights.on(machine, profile, ask)):
                    pass
            await machine.read(["/proc/uptime"])  # the machine itself keeps running
    assert somaxconn(host) == before


async def test_a_value_refused_by_the_kernel_is_reported(host: Host, before: str) -> None:
    profile = profile_of(host, user="ops", sudo="passwordless")
    changes = [
        somaxconn_to(50_000),
        Change(PORTS, "1 2", "60000 100"),
        Change("net.ipv4.no_such_setting", "1", "2"),
    ]
    async with (
        opened(profile) as machine,
        tuned(machine, changes, Rights.on(machine, profile)) as in_force,
    ):
        assert somaxconn(host) == "50000"
        assert in_force.text().endswith(
            f" {PORTS} is unchanged on h1: invalid argument."
            " net.ipv4.no_such_setting is unchanged on h1: absent."
        )


@pytest.mark.parametrize(
    ("pages", "sentence"),
    [
        ([0], "The settings of h1 cannot be changed: no space left on device."),
        ([1, 2, 3], "net.core.somaxconn is unchanged on h1: no space left on device."),
    ],
    ids=["not even a lock", "no journal"],
)
async def test_without_space_for_a_journal_nothing_is_changed(
    host: Host, before: str, pages: list[int], sentence: str
) -> None:
    profile = profile_of(host, user="ops", sudo="passwordless")
    async with opened(profile) as machine:
        for free in pages:
            # Another program of the host may take or free pages meanwhile.
            found = await tuned_with_space(machine, host, before, free)
            if found == [sentence]:
                break
    assert found == [sentence]
    assert somaxconn(host) == before
    assert host.run("sh", "-c", "test -e /run/pongbench; echo $?").strip() == "1"


async def tuned_with_space(machine: SshMachine, host: Host, before: str, pages: int) -> list[str]:
    """Sentences of an attempt to change a setting while /run has space for some pages.

    Empty if the setting was changed, because another program had made room.
    """
    rights = Rights.on(machine, profile_of(host, user="ops", sudo="passwordless"))
    await asyncio.to_thread(host.fill, "/run", but_pages=pages)
    try:
        async with tuned(machine, [somaxconn_to(50_000)], rights) as in_force:
            return [in_force.text()] if somaxconn(host) == before else []
    except PongbenchError as error:
        return [str(error)]
    finally:
        host.end_fill("/run")


async def test_settings_changed_by_a_third_party_are_left_alone(host: Host, before: str) -> None:
    profile = profile_of(host, user="ops", sudo="passwordless")
    complaints: list[str] = []
    try:
        async with opened(profile) as machine:
            rights = Rights.on(machine, profile)
            async with tuned(
                machine, [somaxconn_to(50_000)], rights, on_restored=complaints.extend
            ):
                set_somaxconn(host, "777")
            assert somaxconn(host) == "777"
    finally:
        set_somaxconn(host, before)
    assert complaints == [
        "net.core.somaxconn was changed by another program on h1 during the run; 777 stays."
    ]


async def test_a_workbench_killed_while_tuned_leaves_nothing(host: Host, before: str) -> None:
    await trusted(profile_of(host, user="ops", sudo="passwordless"))
    workbench = holding(host)
    assert somaxconn(host) == "50000"
    workbench.kill()
    workbench.wait()
    assert until(lambda: somaxconn(host) == before)


async def test_a_link_cut_while_tuned_restores_the_settings(host: Host, before: str) -> None:
    profile = profile_of(host, user="ops", sudo="passwordless")
    complaints: list[str] = []
    async with opened(profile) as machine:
        rights = Rights.on(machine, profile)
        async with tuned(machine, [somaxconn_to(50_000)], rights, on_restored=complaints.extend):
            host.cut()
            try:
                assert await asyncio.to_thread(until, lambda: somaxconn(host) == before)
            finally:
                host.heal()
    assert [text[:26] for text in complaints] in ([], ["The link to h1 is lost: it"])


@pytest.mark.parametrize(("user", "sudo"), [("ops", "passwordless"), ("bench", "password")])
async def test_after_both_tuners_die_the_next_connection_restores_the_settings(
    host: Host, before: str, user: str, sudo: str
) -> None:
    ops = profile_of(host, user="ops", sudo="passwordless")
    await trusted(ops)
    workbench = holding(host)
    tuners = [pid for pid, text in host.processes().items() if "tuner.py" in text]
    kill_at_once(sorted(tuners))
    workbench.kill()
    workbench.wait()
    assert until(lambda: not host.processes())
    assert somaxconn(host) == "50000"
    ask, _ = asked(PASSWORD)
    profile = profile_of(host, user=user, sudo=sudo)
    async with opened(profile) as machine:
        assert await left_tuned(machine)
        message = await restore(machine, Rights.on(machine, profile, ask))
        assert message == [f"net.core.somaxconn is {before} again on h1."]
        assert not await left_tuned(machine)
    assert somaxconn(host) == before


def holding(host: Host) -> subprocess.Popen[bytes]:
    """A workbench of its own that keeps the host tuned."""
    program = subprocess.Popen([sys.executable, "-c", HOLD, host.name], stdout=subprocess.PIPE)
    assert program.stdout
    assert program.stdout.readline() == b"tuned\n"
    program.stdout.close()
    return program


def somaxconn_to(value: int) -> Change:
    return Change(SOMAXCONN, "as it is", str(value))


def set_somaxconn(host: Host, value: str) -> None:
    host.run("sh", "-c", 'echo "$0" > /proc/sys/net/core/somaxconn', value)


class sudoers:
    """Another line in the host's sudoers for a while; STRANGER: bench is not in it."""

    def __init__(self, host: Host, line: str) -> None:
        self.host, self.line = host, line

    def __enter__(self) -> None:
        text = f"{SUDOERS}{self.line}\n"
        if self.line == "STRANGER":
            text = SUDOERS.replace("bench ALL=(ALL:ALL) ALL\n", "")
        self.host.write("/etc/sudoers", text, mode=0o440)

    def __exit__(self, *_: Any) -> None:
        self.host.write("/etc/sudoers", SUDOERS, mode=0o440)
