"""A run that is tuned where its machines allow it, and says so in its session."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from lab.conftest import in_the_middle, profile_of, ready
from lab.hosts import Host, Lab
from workbench.cli import main
from workbench.documents import AnyDocument, Note, PointStart, RunStart, RunStop
from workbench.errors import PongbenchError
from workbench.messages.notes import notice
from workbench.messages.topics import read_note
from workbench.plan.reading import load_plan
from workbench.run.engine import Consents
from workbench.run.factory import Fleet, engine_for
from workbench.run.tuning import Tuning, TuningPlan
from workbench.sessions import read_session

PLAN = """\
name: tuned
servers: ['null']
rates: [50]
seconds: 2
backlog: 20000
workload: {protocol: pong, timeout_s: 30}
calibrate: false
warm_up: null
"""
FLEET = Fleet("h1", ("h2", "h3"))
WORDS = ("--target", "h1", "--client", "h2", "--client", "h3", "--tune", "piel-2010")


@pytest.fixture
def hosts(lab: Lab) -> Iterator[list[Host]]:
    """The target may be tuned; of the clients one has no root, one is not to be tuned."""
    yield from ready(
        lab.hosts[:3],
        {"user": "ops", "sudo": "passwordless", "tuning": True},
        {"tuning": True},
        {"user": "ops", "sudo": "passwordless"},
    )


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    return path


def notes(documents: Sequence[AnyDocument], topic: str) -> list[tuple[str, Any]]:
    """Their machines and messages."""
    found = [d for d in documents if isinstance(d, Note) and d.topic == topic]
    return [(note.machine, read_note(note)) for note in found]


def test_a_run_is_tuned_where_that_is_allowed_and_its_session_says_so(
    hosts: list[Host], plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = plan.with_suffix(".pong.yaml")
    assert main(["run", str(plan), *WORDS, "--yes", "-o", str(out)]) == 0
    documents = read_session(out).documents
    ((machine, tuned),) = notes(documents, "tuned")
    assert machine == tuned.data()["machine"] == "h1"
    (queue,) = [s for s in tuned.data()["settings"] if s["key"] == "net.core.somaxconn"]
    assert (queue["old"], queue["got"]) == ("4096", "250000")
    assert notes(documents, "untuned") == [
        ("h2", notice("untuned", machine="h2", why="sudo")),
        ("h3", notice("untuned", machine="h3", why="profile")),
    ]
    ((machine, restored),) = notes(documents, "restored")
    assert machine == restored.data()["machine"] == "h1"
    assert "net.core.somaxconn 4096" in restored.data()["settings"]
    # Servers listened after it: the kernel did not clamp their backlog.
    found = (each.data() for _, each in notes(documents, "backlog"))
    assert {(each["backlog"], each["asked"]) for each in found} == {(20_000, 20_000)}
    links = [link.data() for _, link in notes(documents, "link")]
    assert [(link["client"], link["target"]) for link in links] == [("h2", "h1"), ("h3", "h1")]
    assert all(link["needed_bits_per_s"] > 0 for link in links)
    start = documents[0]
    assert isinstance(start, RunStart)
    sysctls = {record.name: record.facts["sysctls"] for record in start.machines}
    assert sysctls["h1"]["net.core.somaxconn"] == 250_000
    assert sysctls["h3"]["net.core.somaxconn"] == 4096
    shown = capsys.readouterr().err
    assert "h1, for the length of the run:" in shown
    assert "    net.core.somaxconn: 4096 -> 250000" in shown


def test_without_a_terminal_and_without_yes_nothing_starts(hosts: list[Host], plan: Path) -> None:
    code = "import sys; from workbench.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "run", plan, *WORDS],
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        env=dict(os.environ),
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "pongbench: Changing kernel settings needs consent, and there is no terminal to ask at; use"
        " --yes, or leave out --tune."
    )


async def test_without_consent_there_is_no_run(hosts: list[Host], plan: Path) -> None:
    shown: list[TuningPlan] = []

    async def refuse(plans: Sequence[TuningPlan]) -> bool:
        shown.extend(plans)
        return False

    documents: list[AnyDocument] = []
    consents = Consents(tuning=Tuning("piel-2010", refuse))
    engine = engine_for(load_plan(str(plan)), documents.append, fleet=FLEET, consents=consents)
    with pytest.raises(PongbenchError, match="not agreed to"):
        await engine.run()
    assert documents == []
    assert [bool(one.why_not) for one in shown] == [False, True, True]


def somaxconn(host: Host) -> str:
    return host.run("cat", "/proc/sys/net/core/somaxconn").strip()


def crash(host: Host) -> None:
    """The state two tuners leave when both are killed at once."""
    host.run("mkdir", "-p", "/run/pongbench")
    journal = '{"net.core.somaxconn": {"old": "4096", "ours": "50000"}}'
    host.write("/run/pongbench/journal.json", journal)
    host.run("sh", "-c", "echo 50000 > /proc/sys/net/core/somaxconn")


def test_cleaning_a_machine_restores_its_settings(
    hosts: list[Host], capsys: pytest.CaptureFixture[str]
) -> None:
    crash(hosts[0])
    assert main(["machines", "clean", "h1"]) == 0
    assert "net.core.somaxconn is 4096 again on h1.\n" in capsys.readouterr().out
    assert main(["machines", "clean", "h1"]) == 0
    assert capsys.readouterr().out == "No leftovers of crashed runs.\n"


async def test_the_next_run_restores_what_a_crash_left_and_reports_what_it_cannot(
    hosts: list[Host], plan: Path
) -> None:
    target = hosts[0]
    crash(target)

    async def consent(plans: Sequence[TuningPlan]) -> bool:
        return True

    documents: list[AnyDocument] = []

    def take(document: AnyDocument) -> None:
        documents.append(document)
        if isinstance(document, RunStart):
            target.run("sh", "-c", "echo 777 > /proc/sys/net/core/somaxconn")

    consents = Consents(tuning=Tuning("piel-2010", consent))
    engine = engine_for(load_plan(str(plan)), take, fleet=FLEET, consents=consents)
    try:
        await engine.run()
        assert somaxconn(target) == "777"
    finally:
        target.run("sh", "-c", "echo 4096 > /proc/sys/net/core/somaxconn")
    ((machine, crashed),) = notes(documents, "crash-restored")
    assert (machine, crashed.data()["said"]) == ("h1", ["net.core.somaxconn is 4096 again on h1."])
    ((machine, changed),) = notes(documents, "not-restored")
    assert (machine, changed.data()["said"]) == (
        "h1",
        "net.core.somaxconn was changed by another program on h1 during the run; 777 stays.",
    )
    (stop,) = [d for d in documents if isinstance(d, RunStop)]
    assert stop.status == "done"


def test_a_client_that_was_rebooted_is_tuned_again_when_it_is_back(
    hosts: list[Host], plan: Path
) -> None:
    client = hosts[1]
    profile_of(client, user="ops", sudo="passwordless", tuning=True)
    plan.write_text(PLAN + "repeats: 2\n")
    seen: list[str] = []

    async def consent(plans: Sequence[TuningPlan]) -> bool:
        return True

    def begun(document: AnyDocument) -> bool:
        if isinstance(document, PointStart):
            seen.append(somaxconn(client))
        return bool(seen)

    tuning = Tuning("piel-2010", consent)
    documents = in_the_middle(plan, FLEET, begun, client.reboot, tuning=tuning)
    assert seen[0] == seen[-1] == "250000"
    ((machine, back),) = notes(documents, "client-back")
    assert (machine, back.data()["clients"], back.data()["left"]) == ("h2", ["h2"], 2)
    assert any(text.startswith("h2 is tuned for this run: ") for text in back.data()["said"])
    assert notes(documents, "not-restored") == []
    assert somaxconn(client) == "4096"
