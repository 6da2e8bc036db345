"""The kernel identifies the user of a machine, whatever they claim, and only the same user and root
lock a run out."""

from __future__ import annotations

import asyncio
import getpass
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from oracle import PATIENCE_S

from workbench.machines.runner_client import RUNNER, Link, MachineBusy

SQUATTER = """
import contextlib, socket, sys
name, said = sys.argv[1:]
held = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
held.bind("\\0" + name)
if said != "deaf":
    held.listen(8)
print("held", flush=True)
while said not in ("silent", "deaf"):
    asking, _ = held.accept()
    with contextlib.suppress(BrokenPipeError):  # it has seen enough
        asking.send(said.encode())
    asking.close()
sys.stdin.read()
"""


NOBODY = 65534


class Place:
    """A machine with a lock name of its own, so that no other test is disturbed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        name = f"test-{secrets.token_hex(8)}/"
        self.name = f"{name}{os.geteuid()}"
        self.runner = shutil.copytree(RUNNER, folder / "runner")
        claims = self.runner / "claims.py"
        claims.write_text(claims.read_text().replace('"pongbench/"', f'"{name}"'))
        self.squatters: list[subprocess.Popen[bytes]] = []

    def squat(self, said: str, user: int | None = None, more: str = "") -> int:
        """Its process."""
        # Not every user may enter this Python's folder.
        python = sys.executable if user is None else getattr(sys, "_base_executable", "python3")
        command = [python, "-I", "-c", SQUATTER, self.name + more, said]
        made = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, user=user, cwd="/"
        )
        self.squatters.append(made)
        assert made.stdout and made.stdout.readline() == b"held\n"
        return made.pid

    async def open(self) -> Link:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(self.runner)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdin and process.stdout
        link = Link("box", process.stdout, process.stdin)
        try:
            self.ready = await link.open(str(self.folder), exclusive=True)
        except BaseException:
            await link.close()
            raise
        finally:
            self.wait = process.wait
        return link

    async def refusal(self) -> str:
        with pytest.raises(MachineBusy) as caught:
            await self.open()
        await self.wait()
        return str(caught.value)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    for squatter in made.squatters:
        squatter.kill()
        squatter.communicate(timeout=PATIENCE_S)


async def test_another_run_says_whose_it_is_and_the_kernel_says_by_which_process(
    place: Place,
) -> None:
    link = await place.open()
    wait = place.wait
    message = await place.refusal()
    assert message.startswith("'box' is in use by process ")
    assert f"of user {getpass.getuser()} (" in message
    await link.close()
    await wait()


async def test_a_silent_holder_is_named_with_process_user_and_command(place: Place) -> None:
    pid = await asyncio.to_thread(place.squat, "silent")
    message = await place.refusal()
    assert message.startswith(
        f"'box' is in use by process {pid} of user {getpass.getuser()} ({sys.executable} -I"
    )
    assert "for an unknown run" in message


async def test_a_holder_with_a_false_name_is_still_identified(place: Place) -> None:
    pid = await asyncio.to_thread(place.squat, "root of the lab")
    message = await place.refusal()
    assert message.startswith(f"'box' is in use by root of the lab (there: process {pid} of user ")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
@pytest.mark.parametrize("message", ["somebody important", "silent", "deaf"])
async def test_another_users_run_locks_nobody_out_and_is_reported(
    place: Place, message: str
) -> None:
    pid = await asyncio.to_thread(place.squat, message, NOBODY)
    link = await place.open()
    wait = place.wait
    (there,) = place.ready.beside
    if message == "deaf":
        assert there.startswith("a process that does not answer; `sudo ss -xlp` shows it, as @test")
    else:
        assert there.startswith(f"process {pid} of user nobody (")
    # Who is of the same user is still kept out.
    assert (await place.refusal()).startswith("'box' is in use by process ")
    await link.close()
    await wait()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
async def test_a_holder_of_many_machine_names_is_reported_briefly(place: Place) -> None:
    for number in range(5):
        await asyncio.to_thread(place.squat, "silent", NOBODY, f"/{number:016x}")
    link = await place.open()
    assert len(place.ready.beside) == 3
    await link.close()
    await place.wait()


async def test_names_that_no_run_has_are_not_asked(place: Place) -> None:
    await asyncio.to_thread(place.squat, "silent", None, "/\udcff\n0")
    link = await place.open()
    assert place.ready.beside == []
    await link.close()
    await place.wait()
