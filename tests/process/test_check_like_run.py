"""A check finds what a run would fail on and says so in one sentence.

The SSH server is of this process, on loopback; its host is this computer.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sshd import Running, SshHost, answer, run_command

from tests.elsewhere import open_folder
from workbench.commands.machines import clean_up
from workbench.errors import PongbenchError
from workbench.machines import ssh
from workbench.machines.checking import Step, check_machine
from workbench.machines.profiles import Cpus, Profile
from workbench.machines.ssh import (
    ERRANDS,
    LEAST_PROCESSES,
    Survey,
    cache_size,
    fit,
    open_shell,
    open_ssh,
    survey_machine,
)


async def steps_of(profile: Profile) -> list[Step]:
    return [step async for step in check_machine(profile, ask=answer)]


def but(profile: Profile, **values: Any) -> Profile:
    return msgspec.structs.replace(profile, **values)


async def test_a_check_that_passes_has_checked_everything(box: Profile) -> None:
    steps = await steps_of(box)
    assert [step.text for step in steps if step.state == "failed"] == []
    assert {"Limits", "Sessions", "Cores"} <= {step.name for step in steps}


@pytest.mark.parametrize("most", [1, 2])
async def test_too_few_sessions_are_found(host: SshHost, box: Profile, most: int) -> None:
    host.sessions = most
    last = (await steps_of(box))[-1]
    assert (last.name, last.state) == ("Sessions", "failed")
    assert "raise MaxSessions in its sshd_config to 3 or more" in last.text


async def test_a_core_that_is_not_there_is_found(box: Profile) -> None:
    last = (await steps_of(but(box, cpus=Cpus(server=[4095]))))[-1]
    assert (last.name, last.state) == ("Cores", "failed")
    assert "there is no core 4095 to use" in last.text


async def test_a_python_that_cannot_be_used_is_not_replaced_by_another(box: Profile) -> None:
    steps = await steps_of(but(box, python="/opt/none/python3"))
    assert (steps[-1].name, steps[-1].state) == ("Python", "failed")
    assert "cannot use the Python that its profile names, /opt/none/python3: " in steps[-1].text
    assert "not found" in steps[-1].text
    old = Path(box.work_dir).parent / "old-python"
    old.write_text('#!/bin/sh\ntest "$1" = -V && echo Python 3.6.8\nexit 1\n')
    old.chmod(0o755)
    with pytest.raises(PongbenchError, match=r"names, .*old-python: Python 3\.6\.8; name one of"):
        await open_ssh(but(box, python=str(old)), ask=answer)


def noexec(folder: Path) -> list[str]:
    """For a command that sees the folder mounted so."""
    folder.mkdir()
    mounting = f'mount -t tmpfs -o noexec none {folder} && exec "$0" "$@"'
    around = ["unshare", "--mount", "sh", "-c", mounting]
    if subprocess.run([*around, "true"], capture_output=True, check=False).returncode:
        pytest.skip("Nothing may be mounted here.")
    return around


async def test_a_work_directory_that_nothing_may_run_from_is_found(
    host: SshHost, box: Profile, tmp_path: Path
) -> None:
    host.run = partial(run_command, around=noexec(tmp_path / "work"))
    last = (await steps_of(box))[-1]
    assert (last.name, last.state) == ("Limits", "failed")
    assert f"{tmp_path}/work is mounted noexec; set another directory in the" in last.text
    with pytest.raises(PongbenchError, match="mounted noexec"):
        await open_ssh(box, ask=answer)


def test_too_few_processes_are_found() -> None:
    """As an ordinary user: root has no such limit."""
    work = open_folder("pongbench-work-")
    work.chmod(0o777)
    python, errands = shlex.quote(sys.executable), shlex.quote(str(ERRANDS))
    program = f"exec {python} -I -S - nonce survey {shlex.quote(str(work))} < {errands}"
    limit = ["prlimit", "--nproc=20:20", "sh", "-c", program]
    nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    done = subprocess.run(limit, capture_output=True, text=True, check=False, **nobody)  # type: ignore[call-overload]
    shutil.rmtree(work)
    if "Permission denied" in done.stderr:
        pytest.skip("nobody else may run this Python")
    survey = msgspec.json.decode(done.stdout.rpartition("nonce\n")[2], type=Survey)
    assert survey.processes_left is not None and survey.processes_left <= 20
    with pytest.raises(
        PongbenchError, match=r"^.* may start only \d+ more processes on 'box', but"
    ):
        fit("box", survey)
    enough = msgspec.structs.replace(survey, processes_left=LEAST_PROCESSES + survey.cores)
    fit("box", enough)


# -- what hides no cause


@pytest.mark.parametrize(
    ("shell", "words"),
    [
        (
            "echo This account is currently not available.; exit 1",
            "ended with status 1, and it said: This account",
        ),
        ("exit 3", "it ended with status 3, and no output"),
        ("kill -9 $$", "was ended there by SIGKILL"),
    ],
)
async def test_a_shell_that_runs_nothing_is_quoted(
    host: SshHost, box: Profile, shell: str, words: str
) -> None:
    async def run(process: Running) -> None:
        started = await asyncio.create_subprocess_exec(
            *("/bin/sh", "-c", shell), stdout=asyncio.subprocess.PIPE
        )
        message, _ = await started.communicate()
        process.stdout.write(message)
        status = started.returncode or 0
        process.exit_with_signal("KILL") if status < 0 else process.exit(status)

    host.run = run
    shell_there = await open_shell(box, answer)
    try:
        with pytest.raises(PongbenchError, match=f"^'box' failed to survey it: .*{words}"):
            await survey_machine(shell_there, box)
    finally:
        await shell_there.close()


async def test_an_ssh_session_closed_at_once_is_reported_with_the_likely_cause(
    host: SshHost, box: Profile
) -> None:
    async def run(process: Running) -> None:
        process.close()

    host.run = run
    last = (await steps_of(box))[-1]
    assert (last.name, last.state) == ("Python", "failed")
    assert (
        "the session was closed before anything ran in it (perhaps no more processes" in last.text
    )


# -- what a clean-up keeps


def is_there(path: str | Path) -> bool:
    return Path(path).exists()


async def test_a_work_directory_that_is_removed_leaves_no_folder(
    box: Profile, tmp_path: Path
) -> None:
    work = tmp_path / ".cache" / "pongbench"
    here = but(box, work_dir=str(work), tuning=True, sudo="passwordless")
    machine = await open_ssh(here, ask=answer)
    await machine.close()
    fixed = work / "runtimes" / "one" / "lib"
    fixed.mkdir(parents=True)
    (fixed / "file").write_text("...")
    fixed.chmod(0o500)
    for kind in ("made", "building", "packages", "libraries"):
        (work / kind).mkdir()
    shell = await open_shell(here, answer)
    try:
        survey = await survey_machine(shell, here)
        assert await cache_size(shell, survey, remove=True) == 3
    finally:
        await shell.close()
    assert not is_there(work.parent)


async def test_settings_are_restored_before_the_work_directory_is_removed(
    box: Profile,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """That needs a run there, which creates the folders again."""
    journal = tmp_path / "tuned" / "journal.json"
    journal.parent.mkdir()
    journal.write_text('{"net.core.somaxconn": {"old": "128", "ours": "4096"}}')
    looking = tmp_path / "errands.py"
    source = ERRANDS.read_text().replace("/run/pongbench", str(journal.parent))
    looking.write_text(source)
    monkeypatch.setattr(ssh, "ERRANDS", looking)
    await (await open_ssh(box, ask=answer)).close()
    for tuning in (False, True):
        await clean_up(but(box, tuning=tuning), cache=True)
        assert not is_there(box.work_dir)
        printed = capsys.readouterr().out
        assert "net.core.somaxconn 4096" in printed
        assert ("this profile does not allow tuning" in printed) is not tuning
