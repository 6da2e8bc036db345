"""Servers of the catalogue on a machine that has neither their runtimes nor a network.

What they are made of is fetched and built on this computer, and kept in `.tools/catalogue`.
"""

from __future__ import annotations

import asyncio
import json
import os
import pwd
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from chosen import WHOLE
from gate_checks import KEPT, LONGEST_BUILD, passed

from lab.conftest import trusted
from lab.hosts import DISK_MB, Host
from workbench.cli import main
from workbench.documents import PointStop
from workbench.machines.profiles import Profile
from workbench.machines.ssh import SshMachine
from workbench.servers import sources
from workbench.servers.catalogue import Catalogue
from workbench.servers.deploy import deploy
from workbench.servers.entry import ServerEntry
from workbench.servers.programs import MissingPrograms
from workbench.sessions import read_session
from workbench.workloads.registry import MESSAGES

CACHE = "/home/bench/.cache/pongbench"
PLAN = """\
name: Offline
servers: [{id}]
rates: [100]
seconds: 1
workload: {{protocol: {protocol}, timeout_s: 60{path}}}
calibrate: false
warm_up: null
looks: 1
"""
OUTSIDE = """
import errno, socket
try:
    socket.create_connection(("192.0.2.1", 80), 30)
except OSError as error:
    print(errno.errorcode[error.errno])
try:
    socket.getaddrinfo("pypi.org", 80)
except socket.gaierror:
    print("no name")
"""
GONE = Path(__file__).parents[1] / "cases" / "gone"
SHIPPED = Catalogue.load(extra_dirs=[])


@pytest.fixture(autouse=True)
def kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was fetched once is kept, as for the tests of runtimes on this computer."""
    cache = home.parent / "pongbench" / "cache"
    cache.unlink()
    (KEPT / "cache").mkdir(parents=True, exist_ok=True)
    cache.symlink_to(KEPT / "cache")
    # The Rust of this user, who has another home here, if it is rustup's.
    rustup = Path(pwd.getpwuid(os.getuid()).pw_dir, ".rustup")
    (home / ".rustup").symlink_to(rustup)
    monkeypatch.setattr(LONGEST_BUILD, 1700.0)


@pytest.fixture
def emptied(host: Host) -> Host:
    """The disks of the lab are small."""
    host.run("rm", "-rf", CACHE)
    return host


@pytest.fixture
def roomy(emptied: Host) -> Iterator[Host]:
    """A JVM, PostgreSQL and the libraries of an application take more."""
    emptied.resize(1500)
    yield emptied
    emptied.run("rm", "-rf", CACHE)
    emptied.resize(DISK_MB)


def kinds() -> list[ServerEntry]:
    """One server for each way in which servers are made and spoken to."""
    found: dict[tuple[object, ...], ServerEntry] = {}
    for entry in SHIPPED.contestants():
        if not entry.unavailable and not entry.source_at:
            plain = not (entry.programs or entry.build)
            made = (entry.runtime, entry.build, *entry.programs, plain and entry.framework)
            found.setdefault((entry.family, *made), entry)
    return list(found.values())


def brought(entry: ServerEntry) -> list[str]:
    """What has to be in the cache of a machine that had nothing."""
    made = [f"made/{entry.id}-"] if entry.make else []
    python = [f"runtimes/{'' if entry.runtime == 'python' else entry.runtime}"]
    return [
        *made,
        *(f"programs/{name}-" for name in entry.programs_at_run),
        *([] if entry.runtime == "none" else python),
        *(["bundles/libraries-"] if entry.framework == "uwsgi" else []),
    ]


def test_an_offline_machine_has_nothing_that_servers_need(host: Host) -> None:
    """Neither a network nor a program, so that what is there afterwards was brought."""
    for program in ("gcc", "go", "nginx", "python2.7", "node", "java", "ruby", "erl", "postgres"):
        assert not host.run("sh", "-c", f"command -v {program}; true").strip()
    assert host.run("/usr/bin/python3", "-c", OUTSIDE).splitlines() == ["ENETUNREACH", "no name"]


FEW = [SHIPPED[id] for id in ("cogen", "gunicorn-3w-nginx", "uvicorn")]


@pytest.mark.parametrize(
    "entry", kinds() if os.environ.get(WHOLE) else FEW, ids=lambda entry: entry.id
)
def test_an_offline_machine_gets_every_kind_of_server_from_here(
    roomy: Host, profile: Profile, tmp_path: Path, entry: ServerEntry
) -> None:
    """Deployed, through the gate, and a point of a second, which messages have not."""
    asyncio.run(trusted(profile))
    if MESSAGES in entry.protocols:
        assert main(["catalogue", "check", "--on", "h1", "--install", "--expose", entry.id]) == 0
    else:
        plan, session = tmp_path / "plan.yaml", tmp_path / "run.pong.yaml"
        path = "" if entry.path == "/" else f", path: {entry.path}"
        plan.write_text(PLAN.format(id=entry.id, protocol=entry.protocols[0], path=path))
        words = ("--target", "h1", "--install", "--expose", "-o", str(session))
        assert main(["run", str(plan), *words]) == 0
        (point,) = [d for d in read_session(session).documents if isinstance(d, PointStop)]
        assert point.complete and point.counts.scheduled == point.counts.succeeded > 0
    there = roomy.run("find", CACHE, "-maxdepth", "2")
    assert [part for part in brought(entry) if f"{CACHE}/{part}" not in there] == []


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
    programs = f"{CACHE}/programs"
    assert emptied.run("sh", "-c", f"ls {programs} 2>/dev/null; true").strip() == ""


def test_the_command_tests_servers_on_another_machine(
    profile: Profile, emptied: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(trusted(profile))
    status = main(["catalogue", "check", "--on", "h1", "--json", "null", "tornado", "friendlyflow"])
    assert status == 1  # one that was named could not be tested
    null, tornado, gone = json.loads(capsys.readouterr().out)["servers"]
    assert (null["status"], tornado["status"], gone["status"]) == (
        "passed",
        "passed",
        "unavailable",
    )
    assert tornado["gate"]["processes"] == 1
