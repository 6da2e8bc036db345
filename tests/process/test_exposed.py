"""An old server on an address that other machines reach: warning, question, record."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import msgspec
import pytest
from a_run import PONGBENCH, ROOT

from workbench.consent import Exposure
from workbench.documents import AnyDocument, Note
from workbench.plan.model import Plan
from workbench.run.engine import Consents, Engine
from workbench.run.environment import Fleet
from workbench.servers.catalogue import Catalogue
from workbench.servers.entry import ServerEntry
from workbench.workloads.registry import workload as a_workload

PLAN = """\
name: One that is old
servers: [cogen]
rates: [100]
seconds: 1
calibrate: false
warm_up: null
"""
WARNING = Exposure(("Cogen",), "localhost", "0.0.0.0").text


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """This computer as a target for another machine, which is this one, too."""
    profiles = tmp_path / "config" / "profiles"
    profiles.mkdir(parents=True)
    (profiles / "localhost.yaml").write_text("name: localhost\nbind: 0.0.0.0\nreach: 127.0.0.1\n")
    (profiles / "bolt.yaml").write_text("name: bolt\nroles: [client]\n")
    (tmp_path / "plan.yaml").write_text(PLAN)
    return tmp_path


def run(home: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Without a terminal."""
    return subprocess.run(
        [*PONGBENCH, "run", str(home / "plan.yaml"), "--client", "bolt", *options],
        cwd=ROOT,
        env={**os.environ, "PONGBENCH_HOME": str(home), "COLUMNS": "400"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )


def test_the_preview_names_servers_that_need_consent_to_fetch(home: Path) -> None:
    done = run(home, "--preview")
    assert done.stdout.count("Cogen needs programs or source code that the target lacks") == 1
    assert "that the target lacks" not in run(home, "--preview", "--install").stdout


def test_the_preview_warns(home: Path) -> None:
    done = run(home, "--preview")
    assert done.returncode == 0, done.stderr
    assert WARNING in done.stdout


def test_the_run_does_not_start_without_consent(home: Path) -> None:
    done = run(home)
    assert done.returncode == 2
    assert WARNING in done.stderr
    assert "--expose" in done.stderr
    assert not list(home.rglob("cogen-*"))
    # Agreed to that, it is asked about the next thing.
    done = run(home, "--expose")
    assert done.returncode == 1
    assert "Cogen needs Python 2.7. Say --install to fetch it from Debian 11" in done.stderr


class Old(ServerEntry, frozen=True, kw_only=True):
    """One of today that says it is old, for the old ones have to be fetched."""

    @property
    def heritage(self) -> bool:
        return True


async def test_the_consent_is_recorded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(home))
    today = Catalogue.load(extra_dirs=[])["asyncio-streams"]
    old = Old(**msgspec.structs.asdict(today))
    plan = Plan(
        servers=[old.id], rates=[300.0], seconds=1.0, calibrate=False, workload=a_workload()
    )
    documents: list[AnyDocument] = []
    asked: list[Exposure] = []

    async def agree(exposure: Exposure) -> bool:
        assert not documents
        asked.append(exposure)
        return True

    fleet = Fleet("localhost", ("bolt",))
    engine = Engine(plan, [old], documents.append, fleet=fleet, consents=Consents(expose=agree))
    assert (await engine.run()).status == "done"
    assert asked == [Exposure((old.name,), "localhost", "0.0.0.0")]
    (note,) = (d for d in documents if isinstance(d, Note) and d.topic == "exposed")
    assert (note.data["servers"], note.data["address"]) == ([old.name], "0.0.0.0")
