"""The method of 2010 on real hosts: three clients against one target, headless."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.conftest import in_the_middle, profile_of, ready, trusted
from lab.hosts import Host, Lab
from workbench.cli import main
from workbench.documents import AnyDocument, HostSample, Note, PointStop, RunStart, RunStop, Window
from workbench.machines.profiles import Profile
from workbench.messages.notes import notice
from workbench.messages.topics import read_note
from workbench.run.factory import Fleet
from workbench.sessions import read_session

CLIENTS = ("h2", "h3", "h4")
PLAN = """\
name: 2010 on hosts of the lab
servers: [{servers}]
rates: {rates}
seconds: {seconds}
workload: {{protocol: {protocol}, calls_per_connection: {calls}, timeout_s: 30}}
calibrate: {calibrate}
warm_up: null
looks: 1
"""


@pytest.fixture
def hosts(lab: Lab) -> Iterator[list[Host]]:
    """Target and clients, and each is as it was when the test is over."""
    yield from ready(lab.hosts)


def plan(folder: Path, servers: str, **changes: object) -> Path:
    usual = {"protocol": "http/1.0", "calls": 1, "seconds": 2, "calibrate": "false"}
    values = {**usual, "rates": [90, 180], **changes}
    path = folder / "plan.yaml"
    path.write_text(PLAN.format(servers=servers, **values))
    return path


def run(plan: Path, *more: str) -> list[AnyDocument]:
    """From the command line; the session's documents."""
    out = plan.with_suffix(".pong.yaml")
    clients = [word for name in CLIENTS for word in ("--client", name)]
    assert main(["run", str(plan), "--target", "h1", *clients, "-o", str(out), *more]) == 0
    return read_session(out).documents


def test_three_clients_against_one_target(
    hosts: list[Host], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    documents = run(plan(tmp_path, "gevent-pywsgi, cherrypy", protocol="http/1.1", calls=10))
    (start,) = [d for d in documents if isinstance(d, RunStart)]
    machines = {machine.name: machine for machine in start.machines}
    assert {name: machine.roles for name, machine in machines.items()} == {
        "h1": ["target"],
        **{name: ["client"] for name in CLIENTS},
    }
    assert len({machine.clock_offset_us // 1_000_000 for machine in machines.values()}) == 4
    assert all("sysctls" in machine.facts for machine in machines.values())
    points = [d for d in documents if isinstance(d, PointStop)]
    assert len(points) == 4
    for point in points:
        assert point.complete and point.conserved
        assert point.counts.succeeded == point.counts.scheduled
        assert [part.machine for part in point.clients] == list(CLIENTS)
        assert sum(part.scheduled for part in point.clients) == point.counts.scheduled
        assert point.offered_per_s == pytest.approx(point.rate_per_s, rel=0.005)
        assert all(0 < part.clock_uncertainty_us < 1_000_000 for part in point.clients)
    # By their own clocks they are 100,000 s apart. How well they begin together is a benchmark's.
    assert min(point.start_skew_us for point in points) < 1_000_000
    # Samples of all four are on the session's axis.
    samples = [d for d in documents if isinstance(d, HostSample)]
    assert {sample.machine for sample in samples} == {"h1", *CLIENTS}
    (stop,) = [d for d in documents if isinstance(d, RunStop)]
    assert stop.status == "done"
    assert all(-60_000_000 < sample.t_us < stop.t_us + 60_000_000 for sample in samples)
    capsys.readouterr()
    assert main(["summary", str(tmp_path / "plan.pong.yaml")]) == 0
    output = capsys.readouterr().out
    assert re.search(r"^Clients started within [\d.]+ ms of each other \(median", output, re.M)
    assert all(re.search(rf"^ ?{name} .* ± [\d.]+ [mµ]?s", output, re.M) for name in CLIENTS)


def test_https_on_another_machine_leaves_no_key_there(hosts: list[Host], tmp_path: Path) -> None:
    keys: list[str] = []

    def find_keys() -> None:
        keys.extend(hosts[0].find(["/home/bench"], "-path", "*/tls/key.pem", "-printf", "%u %m\\n"))

    path = plan(tmp_path, "gevent-pywsgi")
    path.write_text(path.read_text().replace("timeout_s: 30", "timeout_s: 30, tls: full"))
    documents = watched(path, find_keys)
    points = [d for d in documents if isinstance(d, PointStop)]
    assert points and all(point.complete and point.conserved for point in points)
    assert all(point.counts.succeeded == point.counts.scheduled for point in points)
    assert set(keys) == {"bench 600"}


def watched(plan: Path, act: Callable[[], object]) -> list[AnyDocument]:
    """Run on all four, and do something in the middle of the first point."""

    def middle(document: AnyDocument) -> bool:
        return isinstance(document, Window) and document.index == 3

    return in_the_middle(plan, Fleet("h1", CLIENTS), middle, act)


def test_a_client_that_can_be_reached_again_joins_the_next_server(
    hosts: list[Host], tmp_path: Path
) -> None:
    """It was rebooted: its processes and uploaded files are gone."""
    path = plan(tmp_path, "gevent-pywsgi, cherrypy", seconds=6)
    documents = watched(path, hosts[3].reboot)
    first, second, *others = [d for d in documents if isinstance(d, PointStop)]
    assert not first.complete
    assert [part.machine for part in second.clients] == ["h2", "h3"]
    (back,) = [d for d in documents if isinstance(d, Note) and d.topic == "client-back"]
    assert read_note(back) == notice("client-back", clients=["h4"], left=3)
    later = [point for point in others if point.server == "cherrypy"]
    assert later and all(point.complete for point in later)
    assert all([part.machine for part in point.clients] == list(CLIENTS) for point in later)
    assert all(part.scheduled for point in later for part in point.clients)
    # It is sampled as before, and on the session's time axis.
    (stop,) = [d for d in documents if isinstance(d, RunStop)]
    samples = [d for d in documents if isinstance(d, HostSample) and d.machine == "h4"]
    assert back.t_us < samples[-1].t_us <= stop.t_us
    assert stop.status == "done"


def test_a_client_whose_host_key_has_changed_is_not_taken_back(
    hosts: list[Host], tmp_path: Path
) -> None:
    def another_machine_in_its_place() -> None:
        hosts[3].new_host_key()
        hosts[3].reboot()

    path = plan(tmp_path, "gevent-pywsgi, cherrypy", seconds=6, rates=[90])
    documents = watched(path, another_machine_in_its_place)
    found = [read_note(d) for d in documents if isinstance(d, Note) and d.machine == "h4"]
    lost, refused = [e for e in found if e.code in ("client-lost", "client-not-back")]
    assert (lost.code, lost.data()["left"]) == ("client-lost", 2)
    assert refused.code == "client-not-back"
    assert refused.data()["said"].startswith("The host key of 'h4' at ")
    last = [d for d in documents if isinstance(d, PointStop)][-1]
    assert last.complete and [part.machine for part in last.clients] == ["h2", "h3"]


def test_a_wrong_address_for_the_others_is_named_and_no_server_accused(
    hosts: list[Host], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, client, other, _ = hosts
    nobody = other.address.rpartition(".")[0] + ".250"
    for address, why in ((other.address, "connection refused"), (nobody, "no route|timed out")):
        profile_of(target, reach=address)
        path = plan(tmp_path, "gevent-pywsgi")
        words = ["--target", target.name, "--client", client.name]
        assert main(["run", str(path), *words, "-o", str(tmp_path / "none.yaml")]) == 1
        output = capsys.readouterr().err
        assert re.search(
            rf"'h2' cannot connect to 'h1' at {address} \(.*({why}).*\); check", output
        )
        assert "gate" not in output and not (tmp_path / "none.yaml").exists()


@pytest.mark.anywhere
def test_this_computer_offers_load_to_a_target_over_ssh(
    host: Host, profile: Profile, tmp_path: Path
) -> None:
    asyncio.run(trusted(profile))
    out = tmp_path / "out.pong.yaml"
    path = plan(tmp_path, "'null'", protocol="pong")
    assert main(["run", str(path), "--target", "h1", "-o", str(out)]) == 0
    points = [d for d in read_session(out).documents if isinstance(d, PointStop)]
    assert points and all(point.counts.succeeded for point in points)
    assert {part.machine for point in points for part in point.clients} == {"localhost"}
