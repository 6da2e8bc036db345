"""Who holds a machine is said by its kernel, whatever they say of themselves."""

from __future__ import annotations

import asyncio
import getpass
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from oracle import PATIENCE_S

from workbench.machines.runner_client import RUNNER, Link, MachineBusy

SQUATTER = """
import socket, sys
name, said = sys.argv[1:]
held = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
held.bind("\\0" + name)
if said != "deaf":
    held.listen(8)
print("held", flush=True)
while said not in ("silent", "deaf"):
    asking, _ = held.accept()
    asking.send(said.encode())
    asking.close()
sys.stdin.read()
"""


class Place:
    """A machine whose name to be held is its own, so that no other test is disturbed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = f"pongbench-{secrets.token_hex(8)}"
        self.runner = folder / "runner.py"
        self.runner.write_text(RUNNER.read_text().replace('"\\0pongbench"', f'"\\0{self.name}"'))
        self.squatters: list[subprocess.Popen[bytes]] = []

    def squat(self, said: str) -> int:
        """Its process."""
        command = [sys.executable, "-c", SQUATTER, self.name, said]
        made = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
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
            await link.open(str(self.folder), exclusive=True)
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
    said = await place.refusal()
    assert said.startswith("'box' is in use by process ")
    assert f"of user {getpass.getuser()} (" in said
    await link.close()
    await wait()


async def test_who_says_nothing_is_named_with_process_user_and_command(place: Place) -> None:
    pid = await asyncio.to_thread(place.squat, "silent")
    said = await place.refusal()
    assert said.startswith(
        f"'box' is held by process {pid} of user {getpass.getuser()} ({sys.executable} -c"
    )
    assert "which does not say for which run" in said


async def test_who_pretends_to_be_somebody_is_named_all_the_same(place: Place) -> None:
    pid = await asyncio.to_thread(place.squat, "root of the lab")
    said = await place.refusal()
    assert said.startswith(f"'box' is in use by root of the lab (there: process {pid} of user ")


async def test_of_who_does_not_even_listen_it_is_said_how_to_find_them(place: Place) -> None:
    await asyncio.to_thread(place.squat, "deaf")
    assert "`sudo ss -xlp` there shows it, as @pongbench" in await place.refusal()
