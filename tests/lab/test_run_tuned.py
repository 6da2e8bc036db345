"""A run that is tuned where its machines allow it, and says so in its session."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lab.conftest import eventually_nothing, in_the_middle, profile_of, trusted
from lab.hosts import Host, Lab
from workbench.cli import main
from workbench.documents import AnyDocument, Note, PointStart, RunStart, RunStop
from workbench.errors import PongbenchError
from workbench.plans import load_plan
from workbench.runs import Fleet, engine_for
from workbench.sessions import read_session
from workbench.tuneup import Tuning, TuningPlan

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
    used = lab.hosts[:3]
    before = [host.look() for host in used]
    for host, values in zip(
        used,
        (
            {"user": "ops", "sudo": "passwordless", "tuning": True},
            {"tuning": True},
            {"user": "ops", "sudo": "passwordless"},
        ),
        strict=True,
    ):
        asyncio.run(trusted(profile_of(host, **values)))
    yield used
    left = [eventually_nothing(host, look) for host, look in zip(used, before, strict=True)]
    assert left == [[], [], []]


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    return path


def notes(documents: Sequence[AnyDocument], topic: str) -> list[tuple[str, str]]:
    return [(d.machine, d.text) for d in documents if isinstance(d, Note) and d.topic == topic]


def test_a_run_is_tuned_where_that_is_allowed_and_its_session_says_so(
    hosts: list[Host], plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = plan.with_suffix(".pong.yaml")
    assert main(["run", str(plan), *WORDS, "--yes", "-o", str(out)]) == 0
    documents = read_session(out).documents
    ((machine, text),) = notes(documents, "tuned")
    assert machine == "h1"
    assert text.startswith("h1 is tuned for this run: ")
    assert "net.core.somaxconn 4096 -> 250000" in text
    assert notes(documents, "untuned") == [
        ("h2", "h2 is not tuned: its profile lets nobody become root there (sudo)."),
        ("h3", "h3 is not tuned: its profile does not allow it (tuning)."),
    ]
    ((machine, text),) = notes(documents, "restored")
    assert machine == "h1"
    assert text.startswith("h1 has its own kernel settings again: ")
    assert "net.core.somaxconn 4096" in text
    # Servers listened after it: the kernel did not clamp their backlog.
    assert {text for _, text in notes(documents, "backlog")} == {
        "Null server listens with a backlog of 20,000."
    }
    links = [text for _, text in notes(documents, "link")]
    assert [text[:13] for text in links] == ["h2 reaches h1", "h3 reaches h1"]
    assert all(text.endswith("bit/s at most.") for text in links)
    start = documents[0]
    assert isinstance(start, RunStart)
    sysctls = {record.name: record.facts["sysctls"] for record in start.machines}
    assert sysctls["h1"]["net.core.somaxconn"] == 250_000
    assert sysctls["h3"]["net.core.somaxconn"] == 4096
    shown = capsys.readouterr().err
    assert "h1, for the length of the run:" in shown
    assert "    net.core.somaxconn: 4096 -> 250000" in shown


def test_without_a_terminal_and_without_yes_nothing_is_begun(hosts: list[Host], plan: Path) -> None:
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
        "pongbench: There is no terminal to ask at whether kernel settings may be changed; say"
        " --yes, or leave out --tune."
    )


async def test_who_does_not_consent_has_no_run(hosts: list[Host], plan: Path) -> None:
    shown: list[TuningPlan] = []

    async def refuse(plans: Sequence[TuningPlan]) -> bool:
        shown.extend(plans)
        return False

    documents: list[AnyDocument] = []
    engine = engine_for(load_plan(str(plan)), documents.append, fleet=FLEET)
    engine.tuning = Tuning("piel-2010", refuse)
    with pytest.raises(PongbenchError, match="Nobody consented to changing kernel settings"):
        await engine.run()
    assert documents == []
    assert [bool(one.why_not) for one in shown] == [False, True, True]


def somaxconn(host: Host) -> str:
    return host.run("cat", "/proc/sys/net/core/somaxconn").strip()


def crash(host: Host) -> None:
    """As two tuners that were killed at once leave it."""
    host.run("mkdir", "-p", "/run/pongbench")
    journal = '{"net.core.somaxconn": {"old": "4096", "ours": "50000"}}'
    host.write("/run/pongbench/journal.json", journal)
    host.run("sh", "-c", "echo 50000 > /proc/sys/net/core/somaxconn")


def test_cleaning_a_machine_puts_its_settings_back(
    hosts: list[Host], capsys: pytest.CaptureFixture[str]
) -> None:
    crash(hosts[0])
    assert main(["machines", "clean", "h1"]) == 0
    assert "net.core.somaxconn is 4096 again on h1.\n" in capsys.readouterr().out
    assert main(["machines", "clean", "h1"]) == 0
    assert capsys.readouterr().out == "No dead run left anything.\n"


async def test_the_next_run_puts_back_what_a_crash_left_and_what_cannot_be_is_told(
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

    engine = engine_for(load_plan(str(plan)), take, fleet=FLEET)
    engine.tuning = Tuning("piel-2010", consent)
    try:
        await engine.run()
        assert somaxconn(target) == "777"
    finally:
        target.run("sh", "-c", "echo 4096 > /proc/sys/net/core/somaxconn")
    assert notes(documents, "restored") == [
        ("h1", "A run that crashed had left h1 tuned: net.core.somaxconn is 4096 again on h1."),
        (
            "h1",
            "net.core.somaxconn was changed by somebody else on h1 during the run; 777 stays.",
        ),
    ]
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
    documents = in_the_middle(plan, FLEET, begun, client.reboot, tuning)
    assert seen[0] == seen[-1] == "250000"
    (back,) = [d.text for d in documents if isinstance(d, Note) and d.topic == "client-back"]
    assert back.startswith("h2 is back; from here on 2 clients offer the rate")
    assert "h2 is tuned for this run: " in back
    assert not [text for name, text in notes(documents, "restored") if "by itself" in text]
    assert somaxconn(client) == "4096"
