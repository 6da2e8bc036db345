"""The lab for a test session, and a home of its own for each test."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from lab.base import TOOLS, NoLab, check
from lab.hosts import Host, Lab
from lab.loopback import Loopback
from lab.snapshots import Snapshot
from workbench.documents import AnyDocument
from workbench.machines import secrets
from workbench.machines.hostkeys import UnknownHostKey, trust
from workbench.machines.profiles import Cpus, Profile, save_profile
from workbench.machines.secrets import Secrets, never_ask
from workbench.machines.ssh import SshMachine, open_ssh
from workbench.machines.sshconnect import connect
from workbench.plan.reading import load_plan
from workbench.run.engine import Consents
from workbench.run.factory import Fleet, engine_for
from workbench.run.tuning import Tuning

PATIENCE_S = 60.0
"""For what is bound to come, on however busy a machine."""
CLEAN_WITHIN_S = 30.0
"""For a host to be as it was; on a machine at rest it takes the lease and a little."""
CACHES = ("/home/bench/.cache", "/home/ops/.cache", "/root/.cache")
"""The work directories stay; what lies in them is looked at apart."""
LONG = ("test_window.py", "test_run.py", "test_run_faults.py", "test_catalogue.py")
"""Files that begin first, so that none of them is left when the others have ended."""


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """Where there can be none, OpenSSH on loopback replaces its first host."""
    opened: Any
    try:
        check()
        opened = Lab()
    except NoLab as reason:
        try:
            opened = Loopback(str(reason))
        except NoLab as second:
            without = "tests/process/test_ssh.py does what can be done without"
            pytest.skip(f"{reason} {second} {without}.")
    try:
        if isinstance(opened, Lab):
            opened.add(4)
        yield opened
    finally:
        opened.close()


@pytest.fixture(autouse=True)
def own_hosts(request: pytest.FixtureRequest) -> None:
    """Skip what makes no sense on loopback, with the reason."""
    if "lab" in request.fixturenames and not request.node.get_closest_marker("anywhere"):
        found = request.getfixturevalue("lab")
        if isinstance(found, Loopback):
            pytest.skip(
                f"{found.why} This needs hosts with a network, files and users of their own."
            )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "anywhere: makes sense with sshd on loopback, too")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The first makes the base of the hosts, and fetches what the servers need."""
    items.sort(key=lambda item: item.path.name not in LONG)
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(1800))


@pytest.fixture
def host(lab: Lab) -> Iterator[Host]:
    """The first host, and it is as it was when the test is over."""
    with as_they_were(lab.hosts[:1]):
        yield lab.hosts[0]


def ready(hosts: Sequence[Host], *changes: dict[str, Any]) -> Iterator[list[Host]]:
    """With profiles, changed for the first, the second, ...; their keys are trusted. Each is as it
    was when it is over."""
    with as_they_were(hosts):
        for host, values in zip_longest(hosts, changes, fillvalue={}):
            asyncio.run(trusted(profile_of(host, **values)))
        yield list(hosts)


@contextmanager
def as_they_were(hosts: Sequence[Host]) -> Iterator[None]:
    before = [host.snapshot() for host in hosts]
    yield
    left = [eventually_nothing(host, attempt) for host, attempt in zip(hosts, before, strict=True)]
    assert left == [[] for _ in hosts]


def eventually_nothing(host: Host, before: Snapshot, within_s: float = CLEAN_WITHIN_S) -> list[str]:
    """What is left of a run after a while; what may stay aside."""
    left: list[str] = []

    def clean() -> bool:
        left[:] = host.snapshot().since(before, allowed=CACHES)
        left.extend(host.runs())
        return not left

    until(clean, within_s)
    return left


def until(condition: Callable[[], Any], within_s: float = PATIENCE_S) -> Any:
    """Its first true value, or its last when time is up."""
    deadline = time.monotonic() + within_s
    while not (value := condition()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return value


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without keys, agent, known hosts or keyring."""
    folder = tmp_path / "home"
    (folder / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "pongbench"))
    # What was fetched once is kept, as the base of the hosts is.
    (tmp_path / "pongbench").mkdir()
    (TOOLS / "cache").mkdir(parents=True, exist_ok=True)
    (tmp_path / "pongbench" / "cache").symlink_to(TOOLS / "cache")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setattr(secrets, "SECRETS", Secrets())
    return folder


@pytest.fixture
def profile(lab: Lab, host: Host) -> Profile:
    return profile_of(host)


def profile_of(host: Host, **changes: Any) -> Profile:
    """Logs in with the lab's key, as bench where it is a host of its own."""
    given = {
        "address": host.address,
        "user": host.user,
        "port": host.port,
        "work_dir": host.work_dir,
    }
    values = {**given, "key": str(host.lab.key), **changes}
    if values["user"] != host.user:
        values.pop("work_dir")
    made = Profile(host.name, connector="ssh", **values)
    save_profile(made)
    return made


@contextmanager
def configured(host: Host, line: str) -> Iterator[None]:
    """Another line in the configuration of its sshd."""
    host.sshd_config = line
    host.restart_sshd()
    try:
        yield
    finally:
        host.sshd_config = ""
        host.restart_sshd()


def measuring(lab: Lab) -> Iterator[list[Host]]:
    """A target and a client, each with a core of its own, as they were when it is over."""
    yield from ready(lab.hosts[:2], {"cpus": Cpus(server=[0])}, {"cpus": Cpus(agent=[1])})


def in_the_middle(
    plan: Path,
    fleet: Fleet,
    when: Callable[[AnyDocument], bool],
    act: Callable[[], object],
    *,
    tuning: Tuning | None = None,
    install: bool = False,
) -> list[AnyDocument]:
    """The documents of a run in which something happens once, with the first document of which
    `when` is true. It happens in a thread, for a workbench that waited for it would lose its
    machines, and the run pauses after the point until it is over."""
    documents: list[AnyDocument] = []
    acting: list[asyncio.Future[object]] = []

    def take(document: AnyDocument) -> None:
        documents.append(document)
        if when(document) and not acting:
            engine.control.pause()
            acting.append(asyncio.get_running_loop().run_in_executor(None, act))
            acting[0].add_done_callback(lambda _: engine.control.resume())

    consents = Consents(tuning=tuning, install=install)
    engine = engine_for(load_plan(str(plan)), take, fleet=fleet, consents=consents)
    asyncio.run(engine.run())
    acting[0].result()
    return documents


async def trusted(profile: Profile, ask: Any = never_ask) -> None:
    """Trust whatever key it shows."""
    try:
        connection = await connect(profile, ask)
    except UnknownHostKey as problem:
        trust(problem.host, problem.port, problem.key)
    else:
        await connection.close()


@pytest.fixture
async def machine(profile: Profile) -> AsyncIterator[SshMachine]:
    await trusted(profile)
    opened = await open_ssh(profile)
    yield opened
    await opened.close()
