"""Whatever breaks, the hosts are restored and there is one clear sentence."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pids import kill_at_once, parent

from lab.conftest import CLEAN_WITHIN_S, trusted, until
from lab.hosts import Host
from workbench.cli import main
from workbench.errors import PongbenchError
from workbench.machines.profiles import Profile
from workbench.machines.runner_client import Command, Process
from workbench.machines.ssh import SshMachine, open_ssh

PROGRAM = Path(__file__).with_name("a_run.py")
LOST_WITHIN_S = 30.0
"""On a machine that is busy; on one at rest it is about 4 s."""
BROKE = (
    r"The machine 'h1' is gone: (the connection broke \(.*keepalive.*\)"
    r"|it has not answered for \d+ s)\."
)
SLEEPER = "import time; print('here', flush=True); time.sleep(600)"


@pytest.fixture
async def busy(machine: SshMachine) -> Process:
    """Something that runs on the machine."""
    process = await machine.start(Command([*machine.python, "-c", SLEEPER]))
    assert await anext(process.lines()) == b"here"
    return process


async def lost(machine: SshMachine) -> str:
    """The message when the machine is lost, within the allowed time."""
    try:
        async with asyncio.timeout(LOST_WITHIN_S):
            while True:
                await machine.read(["/proc/uptime"])
                await asyncio.sleep(0.05)
    except PongbenchError as error:
        return str(error)


async def gone_there(host: Host) -> list[str]:
    """Processes that are left when the lease is over."""
    await asyncio.to_thread(until, lambda: not host.processes(), CLEAN_WITHIN_S)
    return list(host.processes().values())


async def test_a_permanently_cut_link_is_noticed_and_the_host_cleans_up(
    host: Host, machine: SshMachine, busy: Process
) -> None:
    host.cut()
    try:
        assert re.fullmatch(BROKE, await lost(machine))
        assert await gone_there(host) == []
    finally:
        host.heal()


async def test_a_link_that_drops_everything_is_noticed_and_the_host_cleans_up(
    host: Host, machine: SshMachine, busy: Process
) -> None:
    host.black_hole()
    try:
        assert re.fullmatch(BROKE, await lost(machine))
        assert await gone_there(host) == []
    finally:
        host.end_black_hole()


async def test_a_short_link_interruption_does_not_end_the_run(
    host: Host, machine: SshMachine, busy: Process
) -> None:
    host.cut()
    await asyncio.sleep(0.5)  # the fault itself: a small part of the lease
    host.heal()
    assert await machine.read(["/etc/hostname"]) == ["h1\n"]
    assert list(host.processes())


async def test_a_link_that_drops_everything_during_an_upload_leaves_no_partial_file(
    host: Host, machine: SshMachine, tmp_path: Path
) -> None:
    large = tmp_path / "large"
    large.write_bytes(os.urandom(30 << 20))
    host.slow("5mbit")
    try:
        upload = asyncio.ensure_future(machine.put(large, "large"))
        assert await asyncio.to_thread(until, lambda: receiving(host))
        host.black_hole()
        with pytest.raises(PongbenchError, match=r"^The machine 'h1' is gone: "):
            await upload
        assert await gone_there(host) == []
    finally:
        host.end_black_hole()
        host.end_slow()


def receiving(host: Host) -> bool:
    return host.find([f"{host.work_dir}/runs"], "-name", "large") != []


async def test_a_reset_connection_gives_one_sentence(
    host: Host, machine: SshMachine, busy: Process
) -> None:
    host.reset("sport", "=", ":22")
    sentence = await lost(machine)
    assert sentence.startswith("The machine 'h1' is gone: ")
    assert await gone_there(host) == []


async def test_a_reboot_gives_one_sentence_and_the_next_run_works(
    host: Host, machine: SshMachine, busy: Process, profile: Profile
) -> None:
    host.reboot()
    assert (await lost(machine)).startswith("The machine 'h1' is gone: ")
    again = await open_ssh(profile)
    assert await (await again.start(Command(["true"]))).wait() == 0
    await again.close()


async def test_a_frozen_host_is_lost_and_cleans_up_when_it_resumes(
    host: Host, machine: SshMachine, busy: Process
) -> None:
    host.freeze()
    try:
        assert re.fullmatch(BROKE, await lost(machine))
    finally:
        host.thaw()
    assert await gone_there(host) == []


@pytest.mark.anywhere
async def test_sshd_may_stop_during_a_run(
    host: Host, machine: SshMachine, busy: Process, profile: Profile
) -> None:
    host.stop_sshd()
    try:
        assert await machine.read(["/proc/uptime"]) != [None]
        with pytest.raises(PongbenchError, match=r"cannot be reached at .* is sshd running there"):
            await open_ssh(profile)
    finally:
        host.start_sshd()


@pytest.mark.anywhere
@pytest.mark.parametrize("which", ["runner", "guardian", "both"])
async def test_killing_the_watchdog_of_a_run_leaves_nothing(
    host: Host, machine: SshMachine, busy: Process, profile: Profile, which: str
) -> None:
    guardian, runner = runners(host)
    kill_at_once({"runner": [runner], "guardian": [guardian], "both": [guardian, runner]}[which])
    assert (await lost(machine)).startswith("The machine 'h1' is gone: ")
    if which == "both":  # their work is left to the next connection
        again = await open_ssh(profile)
        await again.close()
    assert await gone_there(host) == []


def runners(host: Host) -> list[int]:
    """[guardian, runner]; our other programs there have no child of ours."""
    found = [pid for pid, command in host.processes().items() if "base64" in command]
    (pair,) = [[parent(pid), pid] for pid in found if parent(pid) in found]
    return pair


async def test_a_full_disk_gives_one_sentence(
    host: Host, machine: SshMachine, tmp_path: Path
) -> None:
    (tmp_path / "large").write_bytes(os.urandom(1 << 20))
    await asyncio.to_thread(host.fill, "/var/tmp")
    try:
        with pytest.raises(PongbenchError, match=r"^Cannot copy to 'h1' .*No space left on device"):
            await machine.put(tmp_path / "large", "large")
    finally:
        host.end_fill("/var/tmp")
    assert await machine.put(tmp_path / "large", "large")


async def test_a_full_disk_at_the_start_gives_one_sentence(host: Host, profile: Profile) -> None:
    await trusted(profile)
    host.run("rm", "-rf", "/home/bench/.cache")
    host.fill("/var/tmp")
    try:
        with pytest.raises(PongbenchError, match=r"No space left on device"):
            machine = await open_ssh(profile)
            await machine.put(PROGRAM, "program")
    finally:
        with contextlib.suppress(UnboundLocalError):
            await machine.close()
        host.end_fill("/var/tmp")


@pytest.mark.anywhere
async def test_unexpected_output_does_no_harm(host: Host, machine: SshMachine) -> None:
    program = (
        "import os; os.write(1, b'\\xff\\xfe\\n'); os.write(1, b'x' * (30 << 20) + b'\\n');"
        " os.write(1, b'end\\n')"
    )
    process = await machine.start(Command([*machine.python, "-c", program]))
    lines = [line async for line in process.lines()]
    assert lines[0] == b"\xff\xfe"
    assert len(lines[1]) == 1 << 20
    assert lines[-1] == b"end"


@pytest.mark.anywhere
async def test_a_slow_reader_loses_lines_and_knows_how_many(machine: SshMachine) -> None:
    program = "import sys; [sys.stdout.write('%099d\\n' % n) for n in range(300_000)]"
    process = await machine.start(Command([*machine.python, "-c", program]))
    assert await process.wait() == 0
    await machine.read(["/proc/uptime"])
    lines = [line async for line in process.lines()]
    assert process.dropped > 0
    assert len(lines) + process.dropped == 300_000


# -- the workbench itself


@pytest.fixture
def workbench(host: Host, profile: Profile) -> Iterator[subprocess.Popen[bytes]]:
    asyncio.run(trusted(profile))
    program = subprocess.Popen([sys.executable, PROGRAM, "h1"], stdout=subprocess.PIPE)
    assert program.stdout
    try:
        assert program.stdout.readline() == b"ready\n"
        assert until(lambda: len(host.processes()) >= 4)  # guardian, runner, it, its daemon
        yield program
    finally:
        program.kill()
        program.communicate()


@pytest.mark.anywhere
async def test_a_killed_workbench_leaves_nothing(
    host: Host, workbench: subprocess.Popen[bytes]
) -> None:
    workbench.kill()
    assert await gone_there(host) == []


@pytest.mark.anywhere
async def test_a_workbench_suspended_beyond_the_lease_loses_its_run(
    host: Host, workbench: subprocess.Popen[bytes]
) -> None:
    workbench.send_signal(signal.SIGSTOP)
    assert await gone_there(host) == []
    workbench.send_signal(signal.SIGCONT)
    assert workbench.stdout
    line = await asyncio.to_thread(workbench.stdout.readline)
    assert line.startswith(b"Pongbench itself was suspended for ")


@pytest.mark.anywhere
def test_the_command_shows_and_removes_leftovers_of_crashed_runs(
    host: Host, profile: Profile, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(trusted(profile))
    with subprocess.Popen([sys.executable, PROGRAM, "h1"], stdout=subprocess.PIPE) as program:
        try:
            assert program.stdout
            assert program.stdout.readline() == b"ready\n"
            assert main(["machines", "clean", "h1"]) == 0
            assert "still running: run " in capsys.readouterr().out
            kill_at_once(runners(host))
        finally:
            program.kill()
    # The daemon has survived them all, and nobody but the janitor knows of it.
    assert host.processes()
    assert main(["machines", "clean", "h1", "--cache"]) == 0
    printed = capsys.readouterr().out
    assert "removed leftover run " in printed and "import os, signal, time" in printed
    assert f"removed {host.work_dir}: " in printed
    assert list(host.processes().values()) == []
    assert host.run("sh", "-c", 'test -e "$0"; echo $?', host.work_dir).strip() == "1"
