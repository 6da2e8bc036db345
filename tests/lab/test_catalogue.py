"""Servers of the catalogue on a machine that has neither their runtimes nor a network.

What they are made of is fetched and built on this computer, and kept in `.tools/catalogue`.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from gate_checks import KEPT, LONGEST_BUILD, passed

from lab.conftest import trusted
from lab.hosts import Host
from workbench.cli import main
from workbench.machines.profiles import Profile
from workbench.machines.ssh import SshMachine
from workbench.servers import sources
from workbench.servers.catalogue import Catalogue
from workbench.servers.deploy import deploy
from workbench.servers.programs import MissingPrograms

GONE = Path(__file__).parents[1] / "cases" / "gone"
SHIPPED = Catalogue.load(extra_dirs=[])


@pytest.fixture(autouse=True)
def kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was fetched once is kept, as for the tests of runtimes on this computer."""
    cache = home.parent / "pongbench" / "cache"
    cache.unlink()
    (KEPT / "cache").mkdir(parents=True, exist_ok=True)
    cache.symlink_to(KEPT / "cache")
    monkeypatch.setattr(LONGEST_BUILD, 1700.0)


@pytest.fixture
def emptied(host: Host) -> Host:
    """The disks of the lab are small."""
    host.run("rm", "-rf", "/home/bench/.cache/pongbench")
    return host


@pytest.mark.parametrize(
    ("id", "runtime", "brought"),
    [
        ("cogen", "CPython 2.7.18", "programs/python2.7-"),  # old packages, built here
        ("go", "", "made/go-"),  # compiled here, and nothing else is needed there
        ("gunicorn-nginx", "nginx ", "programs/nginx-"),  # a program of the distribution
        ("uwsgi", "CPython 3.", "libraries/"),  # compiled here against libraries of here
    ],
)
async def test_what_an_offline_machine_lacks_is_built_here_and_uploaded(
    emptied: Host, machine: SshMachine, id: str, runtime: str, brought: str
) -> None:
    for program in ("gcc", "go", "nginx", "python2.7"):
        assert not emptied.run("sh", "-c", f"command -v {program}; true").strip()
    record, _ = await passed(machine, SHIPPED[id], host=machine.bind, reach=machine.reach)
    assert runtime in record.runtime
    there = emptied.run("find", "/home/bench/.cache/pongbench", "-maxdepth", "2")
    assert f"/home/bench/.cache/pongbench/{brought}" in there


async def test_a_source_of_this_computer_is_uploaded_to_an_offline_machine(
    emptied: Host, machine: SshMachine
) -> None:
    source = SHIPPED["multitask"].source_at
    assert source
    where = shutil.copytree(GONE / "multitask", sources.place(source))  # a stand-in
    record, _ = await passed(machine, SHIPPED["multitask"], host=machine.bind, reach=machine.reach)
    assert record.files["source"] == sources.digest(where)


async def test_nothing_is_uploaded_before_someone_consents(
    emptied: Host, machine: SshMachine
) -> None:
    with pytest.raises(MissingPrograms) as caught:
        await deploy(machine, SHIPPED["gunicorn-nginx"])
    assert str(caught.value).startswith("nginx is not on 'h1'. Say --install to fetch it from its")
    assert " nginx-light=" in caught.value.commands[0]
    programs = "/home/bench/.cache/pongbench/programs"
    assert emptied.run("sh", "-c", f"ls {programs} 2>/dev/null; true").strip() == ""


def test_the_command_tests_servers_on_another_machine(
    profile: Profile, emptied: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(trusted(profile))
    status = main(["catalogue", "check", "--on", "h1", "--json", "null", "tornado", "friendlyflow"])
    assert status == 0
    null, tornado, gone = json.loads(capsys.readouterr().out)["servers"]
    assert (null["status"], tornado["status"], gone["status"]) == (
        "passed",
        "passed",
        "unavailable",
    )
    assert tornado["gate"]["processes"] == 1
