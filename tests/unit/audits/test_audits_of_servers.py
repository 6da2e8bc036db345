"""Audits of servers and machines: what has to be the same for all, and quiet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes.audited import PLAN, Sound, by_code, failed, places, plus, quiet, run

from workbench.documents import AnyDocument, HostSample, Note, PointStart, PointStop, RunStart
from workbench.messages import notes
from workbench.messages.notes import notice
from workbench.run.network_check import notes_of


@pytest.mark.parametrize("think_times", ["constant", "exponential"])
def test_memory_of_connections_that_build_up_is_no_leak(sound: Sound, think_times: str) -> None:
    """Users stay for most of the point; a load tool without windows does not say for how long."""
    start, first, stop = (
        next(d for d in sound if isinstance(d, kind) and getattr(d, "judged", True))
        for kind in (RunStart, PointStart, PointStop)
    )
    stays = {"calls_per_connection": 5, "think_time_s": 10.0, "think_times": think_times}
    ramp_s = 40.0 if think_times == "constant" else 80.0
    seconds = 1.5 * ramp_s

    def found(leak_per_s: float) -> str:
        """The memory grows with the connections, and then at this pace."""
        samples = [
            HostSample(
                t_us=first.t_us + 200_000 * n,
                machine="localhost",
                server=first.server,
                rss_bytes=round(2e7 + 2e5 * min(n / 5, ramp_s) + leak_per_s * n / 5),
            )
            for n in range(round(5 * seconds))
        ]
        plan = start.plan | {"workload": start.plan["workload"] | stays}
        point = msgspec.structs.replace(stop, seconds=seconds, measured_s=[])
        opening = msgspec.structs.replace(start, plan=plan)
        return by_code([opening, first, *samples, point])["memory-growth"].state

    assert (found(0.0), found(2e5)) == ("passed", "failed")


def test_servers_must_have_the_same_backlog(tmp_path: Path, sound: Sound) -> None:
    clamped = run(tmp_path, on_machine=lambda machine: setattr(machine, "backlog", 128))
    assert by_code(clamped)["backlog"].state == "passed", "the same for all"
    other = notes.notice("backlog", name="Two", backlog=5, asked=512)
    documents = plus([d for d in sound if not about(d, "backlog", "two")], other, server="two")
    found = by_code(documents)["backlog"]
    assert (found.state, found.servers) == ("failed", ("two",))


def about(document: AnyDocument, topic: str, server: str) -> bool:
    return isinstance(document, Note) and (document.topic, document.server) == (topic, server)


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    """Two passes."""
    plan = msgspec.structs.replace(PLAN, repeats=2)
    return run(tmp_path_factory.mktemp("twice"), plan=plan)


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("processes", {"processes": 4}),
        ("cores", {"cores": [0, 1]}),
        ("descriptors", {"nofile": 1_024}),
    ],
)
def test_servers_must_have_the_same_resources(
    twice: Sound, code: str, change: dict[str, Any]
) -> None:
    """In every pass."""
    documents = list(twice)
    place = next(n for n, d in enumerate(documents) if about(d, "resources", "two"))
    note = documents[place]
    assert isinstance(note, Note)
    documents[place] = msgspec.structs.replace(note, data=note.data | change)
    assert failed(twice) == [] and failed(documents) == [code]
    assert by_code(documents)[code].servers == ("two",)


def test_cores_shared_with_the_clients_fail_the_cores_audit(sound: Sound) -> None:
    shared = notice("shared-cores", machine="localhost", cores=[0])
    found = by_code(plus(sound, shared))["cores"]
    assert (found.state, found.points, found.servers) == ("failed", (), ())


def test_an_unequal_condition_fails_the_servers_audit(tmp_path: Path) -> None:
    documents = run(tmp_path, unequal=["Its backlog is its own."])
    assert failed(documents) == ["set-up"]
    assert by_code(documents)["set-up"].servers == ("one", "two")


def test_several_processes_are_an_unequal_condition(tmp_path: Path) -> None:
    assert failed(run(tmp_path / "alike", processes=16)) == []
    documents = run(tmp_path, processes=lambda id_: 16 if id_ == "one" else 1)
    assert failed(documents) == ["set-up"]
    texts = [document.text for document in documents if isinstance(document, Note)]
    assert "One: Serves in 16 processes." in texts


def test_what_is_unequal_over_tls_counts_only_there(tmp_path: Path) -> None:
    assert failed(run(tmp_path, tls_unequal=["It resumes no session."])) == []


def test_versions_and_files_are_recorded_or_unknown(sound: Sound) -> None:
    start, *rest = sound
    assert isinstance(start, RunStart)
    known = [
        msgspec.structs.replace(s, version="v 1", runtime="R 2", files={"server.py": "ab"})
        for s in start.servers
    ]
    documents = [msgspec.structs.replace(start, servers=known), *rest]
    assert by_code(documents)["versions"].state == "passed"


def test_background_load_fails_the_audit_of_the_points_it_overlaps(sound: Sound) -> None:
    documents = [quiet(d, 60.0) if isinstance(d, PointStop) and d.x == 2_000 else d for d in sound]
    assert failed(documents) == ["quiet-host"]
    assert places(documents, by_code(documents)["quiet-host"]) == [("one", 2_000), ("two", 2_000)]


def test_another_users_run_fails_the_quiet_host_audit(sound: Sound) -> None:
    shared = notice("shared-machine", machine="localhost", there=["4711 runner"])
    assert failed(plus(sound, shared)) == ["quiet-host"]


@pytest.mark.parametrize(
    ("link", "needed", "state"),
    [
        ({}, 1e6, "passed"),
        ({"resent": 30}, 1e6, "failed"),
        ({"bits_per_s": 1e6}, 9e6, "failed"),
        (None, 0.0, "not-known"),
    ],
)
def test_a_link_must_lose_little_and_carry_enough(
    tmp_path: Path, link: dict[str, Any] | None, needed: float, state: str
) -> None:
    # The link of a fake machine cannot be measured, which is noted.
    documents = run(tmp_path, clients=("c1",))
    if link is not None:
        rates = {"bits_per_s": 1e9, "to_target_bits_per_s": 0.0}
        times = {"min_us": 90, "p50_us": 100, "p99_us": 300, "segments": 1_000}
        measured = notice("link", client="c1", target="localhost", **{**times, **rates, **link})
        documents = [
            d for d in documents if not (isinstance(d, Note) and d.topic == "link-unchecked")
        ]
        documents = plus(documents, *notes_of(measured, needed))
    assert by_code(documents)["link"].state == state
