"""Machines for tests with processes: this computer, and one over SSH."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from gate_checks import KEPT
from oracle import files_below
from sshd import SshHost, at_home, ssh_host

from workbench.machines.base import Machine
from workbench.machines.local import LocalMachine, open_local
from workbench.machines.profiles import Profile


@pytest.fixture
async def machine(tmp_path: Path) -> AsyncIterator[Machine]:
    """This computer, on which nothing may be left."""
    opened = await open_local(cache_dir=tmp_path / "cache")
    yield opened
    await opened.close()
    assert files_below(tmp_path / "cache") == []


@pytest.fixture
async def kept_machine(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LocalMachine]:
    """This computer, with what earlier tests fetched and built."""
    monkeypatch.setenv("PONGBENCH_HOME", str(KEPT))
    opened = await open_local(cache_dir=KEPT / "cache")
    yield opened
    await opened.close()
    assert files_below(Path(opened.run_dir)) == []


@pytest.fixture
def ssh_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home without anything of SSH's."""
    at_home(tmp_path, monkeypatch)


@pytest.fixture
async def host(ssh_home: None) -> AsyncIterator[SshHost]:
    """An SSH server, and a home in which its key is trusted."""
    async with ssh_host() as host:
        host.trusted()
        yield host


@pytest.fixture
def box(host: SshHost, tmp_path: Path) -> Profile:
    """That machine."""
    return host.profile(tmp_path / "work")
