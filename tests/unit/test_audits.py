"""Audits: each fails where something is planted in a run, names the points it affects, and passes
otherwise. Runs are the engine's own, with a scripted load tool on fake machines."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes.load import ALL, Script, fake_tool
from fakes.machine import FakeMachine
from fakes.run import a_plan, a_session
from synthetic import session

from workbench.analysis.audits import CHECKS, Audit, Auditor, audits_of, in_short, tainted
from workbench.analysis.summary import summarise
from workbench.documents import (
    AnyDocument,
    HostSample,
    Note,
    PointStart,
    PointStop,
    RunStart,
    RunStop,
    Window,
)
from workbench.load import registry
from workbench.messages import notes
from workbench.messages.notes import Notice
from workbench.messages.reasons import WindowsLost
from workbench.plan.model import Plan
from workbench.run.network_check import notes_of
from workbench.sessions import read_session
from workbench.workloads.registry import workload

ROOT = Path(__file__).parents[2]
PLAN = a_plan()
PROC = {
    "status": "Threads:\t1\nVmRSS:\t  8000 kB\nCpus_allowed_list:\t0\n",
    "limits": "Max open files            20000                524288               files     \n",
}


@pytest.fixture(autouse=True, scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PONGBENCH_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> list[AnyDocument]:
    """A run in which nothing is planted."""
    return run(tmp_path_factory.mktemp("sound"))


Sound = list[AnyDocument]


def run(
    folder: Path, script: Script | None = None, plan: Plan = PLAN, **more: Any
) -> list[AnyDocument]:
    """A session in which nothing is wrong but what is planted. Other programs of this machine are
    left out of it."""

    def opened(machine: FakeMachine) -> None:
        machine.proc |= PROC
        more.get("on_machine", lambda machine: None)(machine)

    documents = asyncio.run(a_session(plan, folder, script, **{**more, "on_machine": opened}))
    return [quiet(document) for document in documents]


def quiet(document: AnyDocument, others_pct: float = 3.0) -> AnyDocument:
    if not isinstance(document, PointStop):
        return document
    evidence = document.evidence | {"others_cpu_pct": others_pct}
    return msgspec.structs.replace(document, evidence=evidence)


def plus(documents: Iterable[AnyDocument], *notices: Notice, server: str = "") -> list[AnyDocument]:
    """With notes after the `RunStart`."""
    start, *rest = documents
    return [start, *(notice.note(0, server=server) for notice in notices), *rest]


def by_code(documents: Iterable[AnyDocument]) -> dict[str, Audit]:
    return {audit.code: audit for audit in audits_of(documents)}


def failed(documents: Iterable[AnyDocument]) -> list[str]:
    return [audit.code for audit in audits_of(documents) if audit.failed]


def places(documents: Iterable[AnyDocument], audit: Audit) -> list[tuple[str, float]]:
    """The points that an audit marks."""
    stops = [d for d in documents if isinstance(d, PointStop)]
    return [(stop.server, stop.x) for stop in stops if stop.point in audit.points]


def test_nothing_fails_in_a_valid_run(sound: Sound) -> None:
    found = by_code(sound)
    assert {code: audit.state for code, audit in found.items()} == {
        **dict.fromkeys((check.code for check in CHECKS), "passed"),
        "overlap": "does-not-apply",
        "clients-alike": "does-not-apply",
        "link": "does-not-apply",
        "client-limit": "not-known",
        # Servers of fakes have no files.
        "versions": "not-known",
        # Two points of a second have few windows.
        "steady-state": "not-known",
        "independence": "not-known",
        "memory-growth": "does-not-apply",
    }
    assert tainted(found.values()) == {}
    assert in_short([*found.values()]) == "11 passed, 4 not known"


def test_calls_that_do_not_add_up_fail_their_points_audit(tmp_path: Path, sound: Sound) -> None:
    documents = run(tmp_path, Script(conserved=False))
    found = by_code(documents)["conservation"]
    assert found.state == "failed" and len(found.points) == 4
    edited = [
        msgspec.structs.replace(d, counts=msgspec.structs.replace(d.counts, succeeded=7))
        if isinstance(d, PointStop) and (d.server, d.x) == ("two", 2_000)
        else d
        for d in sound
    ]
    assert places(edited, by_code(edited)["conservation"]) == [("two", 2_000)]


@pytest.mark.parametrize("share", [0.5, 0.9, 1.1, 3.0])
def test_calls_in_flight_must_be_rate_times_service_time(tmp_path: Path, share: float) -> None:
    documents = run(tmp_path, Script(service_us=20_000, in_flight=share))
    assert failed(documents) == ["littles-law"]
    found = by_code(documents)["littles-law"]
    assert len(found.points) == 4
    message = found.message
    assert getattr(message, "expected", 0) == pytest.approx(20 if share != 0.5 else 40, rel=1)
    assert getattr(message, "in_flight", 0) == pytest.approx(
        share * getattr(message, "expected", 0), rel=0.01
    )


def test_what_an_interrupted_client_could_not_count_fails_no_audit(tmp_path: Path) -> None:
    documents = run(tmp_path, Script(service_us=20_000, in_flight=0.8))

    def audited(within: float) -> str:
        known = [
            msgspec.structs.replace(d, pending_within=within * (d.pending or 0.0))
            if isinstance(d, Window)
            else d
            for d in documents
        ]
        return by_code(known)["littles-law"].state

    assert (audited(0.0), audited(0.1), audited(0.25)) == ("failed", "failed", "passed")


def test_calls_that_timed_out_were_in_flight_until_then(tmp_path: Path) -> None:
    overloaded = Script(capacity=lambda x: 1_500, service_us=20_000)
    assert by_code(run(tmp_path, overloaded))["littles-law"].state == "passed"
    reset = Script(capacity=lambda x: 100, service_us=20_000, error="connreset", in_flight=9.0)
    # For how long connections were open that were reset nobody knows.
    assert by_code(run(tmp_path, reset))["littles-law"].state == "not-known"


def test_a_tool_that_does_not_count_calls_in_flight_is_not_audited_by_them(tmp_path: Path) -> None:
    assert by_code(run(tmp_path, Script(in_flight=None)))["littles-law"].state == "not-known"
    unsure = msgspec.structs.replace(ALL, conservation=False, lateness=False)
    found = by_code(run(tmp_path, can=unsure))
    assert [found[code].state for code in ("conservation", "schedule")] == ["not-known"] * 2


def test_audits_speak_only_of_the_points_whose_tool_reports_what_they_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = msgspec.structs.replace(ALL, conservation=False, lateness=False)
    other, _ = fake_tool(Script(), program, name="other")
    monkeypatch.setitem(registry.TOOLS, "other", other)
    found = by_code(run(tmp_path, plan=a_plan(servers=["one"], with_=["other"])))
    calls, schedule = found["conservation"], found["schedule"]
    assert calls.state == schedule.state == "passed"
    assert "3,000 calls at both points" in calls.message.text()
    assert "on time" in schedule.message.text()
    for audit in (calls, schedule):
        assert audit.message.text().endswith("; 2 more cannot be checked.")


def test_late_clients_break_the_schedule(tmp_path: Path) -> None:
    assert failed(run(tmp_path, Script(lateness_us=40_000))) == ["schedule"]


def test_another_load_than_planned_breaks_the_schedule(sound: Sound) -> None:
    documents = [
        msgspec.structs.replace(d, offered_per_s=0.9 * d.x)
        if isinstance(d, PointStop) and d.server == "one"
        else d
        for d in sound
    ]
    assert failed(documents) == ["schedule"]
    found = by_code(documents)["schedule"]
    assert places(documents, found) == [("one", 1_000), ("one", 2_000)]


def test_a_closed_loop_has_no_schedule(tmp_path: Path) -> None:
    loop = workload(timeout_s=1.0, mode="closed")
    plan = msgspec.structs.replace(PLAN, rates=[], concurrency=[10, 20], workload=loop)
    found = by_code(run(tmp_path, plan=plan))
    assert [found[code].state for code in ("schedule", "client-limit", "littles-law")] == [
        "does-not-apply",
        "does-not-apply",
        "passed",
    ]


@pytest.mark.parametrize(("skew_us", "fails"), [(3_000, False), (200_000, True)])
def test_clients_must_offer_load_at_the_same_time(
    tmp_path: Path, skew_us: int, fails: bool
) -> None:
    documents = run(tmp_path, Script(skew_us=skew_us), clients=("c1", "c2"))
    found = by_code(documents)["overlap"]
    assert (found.state == "failed") is fails and len(found.points) == 4 * fails


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


def test_a_lost_client_takes_no_part(tmp_path: Path) -> None:
    documents = run(tmp_path, Script(lose={1: ["c2"]}), clients=("c1", "c2"))
    found = by_code(documents)["overlap"]
    assert getattr(found.message, "missing", ()) == ["c2"] and found.points


@pytest.mark.parametrize(("slower", "fails"), [(1.0, False), (1.05, False), (1.5, True)])
def test_a_slow_client_is_named(tmp_path: Path, slower: float, fails: bool) -> None:
    documents = run(tmp_path, Script(slow_client=slower), clients=("c1", "c2"))
    found = by_code(documents)["clients-alike"]
    assert (found.state == "failed") is fails
    assert list(getattr(found.message, "slow", {})) == ["c2"] * fails


def test_clients_without_response_times_are_not_compared(tmp_path: Path) -> None:
    documents = [
        msgspec.structs.replace(
            d, clients=[msgspec.structs.replace(part, service_us=None) for part in d.clients]
        )
        if isinstance(d, PointStop)
        else d
        for d in run(tmp_path, clients=("c1", "c2"))
    ]
    assert by_code(documents)["clients-alike"].state == "not-known"


def test_a_client_limit_is_reported_as_found_disturbed_or_not_found(
    tmp_path: Path, sound: Sound
) -> None:
    plan = msgspec.structs.replace(PLAN, calibrate=True)
    calibrated = run(tmp_path, plan=plan)
    assert by_code(calibrated)["client-limit"].state == "passed"
    uncalibrated = sound
    for ceiling in (
        notes.Ceiling(ceiling_per_s=0.0),
        notes.Ceiling(ceiling_per_s=1_500.0, others_cpu_pct=60.0, disturbed=True),
    ):
        assert failed(plus(uncalibrated, ceiling)) == ["client-limit"]


def test_servers_must_have_the_same_backlog(tmp_path: Path, sound: Sound) -> None:
    clamped = run(tmp_path, on_machine=lambda machine: setattr(machine, "backlog", 128))
    assert by_code(clamped)["backlog"].state == "passed", "the same for all"
    other = notes.Backlog(name="Two", backlog=5, asked=512)
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
    shared = notes.SharedCores(machine="localhost", cores=[0])
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
    shared = notes.SharedMachine(machine="localhost", there=["4711 runner"])
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
        times = {"min_us": 90, "p50_us": 100, "p99_us": 300, "bits_per_s": 1e9, "segments": 1_000}
        measured = notes.Link(client="c1", target="localhost", **{**times, **link})
        documents = [
            d for d in documents if not (isinstance(d, Note) and d.topic == "link-unchecked")
        ]
        documents = plus(documents, *notes_of(measured, needed))
    assert by_code(documents)["link"].state == state


def test_a_recording_must_be_whole(sound: Sound) -> None:
    documents = sound
    assert failed(documents[:-1]) == ["recording"]
    stop = documents[-1]
    assert isinstance(stop, RunStop)
    stopped = [*documents[:-1], msgspec.structs.replace(stop, status="stopped")]
    assert failed(stopped) == ["recording"]
    lost = WindowsLost(count=2)
    gap = [
        msgspec.structs.replace(d, reasons=[lost.text()], findings=[lost.record()])
        if isinstance(d, PointStop) and d.point == 2
        else d
        for d in documents
    ]
    assert failed(gap) == ["recording"] and by_code(gap)["recording"].points == (2,)
    unwatched = notes.SamplerLost(said="It ended.").note(0)
    assert failed([documents[0], unwatched, *documents[1:]]) == ["recording"]


def test_a_run_in_progress_is_not_reported_as_cut_off(sound: Sound) -> None:
    auditor = Auditor()
    documents = sound
    for number, document in enumerate(documents[:-1]):
        auditor(document)
        found = auditor.audits(over=False)
        assert [audit.code for audit in found if audit.failed] == [], number
    assert {audit.code: audit for audit in found}["recording"].state == "not-known"
    auditor(documents[-1])
    assert [audit.failed for audit in auditor.audits()] == [False] * len(CHECKS)


def test_another_session_starts_from_scratch(tmp_path: Path, sound: Sound) -> None:
    auditor = Auditor()
    for document in [*run(tmp_path, Script(conserved=False)), *sound]:
        auditor(document)
    assert not any(audit.failed for audit in auditor.audits())


def test_the_last_of_several_attempts_is_audited(sound: Sound) -> None:
    documents = sound
    again: list[AnyDocument] = []
    for document in documents:
        again.append(document)
        if isinstance(document, PointStop) and document.point == 1:
            again[-1] = quiet(document, 80.0)
            again.append(msgspec.structs.replace(document, point=99, look=2))
    assert by_code(again)["quiet-host"].state == "passed"


def test_earlier_sessions_say_what_was_not_recorded_then() -> None:
    old = ROOT / "resources" / "sessions" / "demo.pong.yaml"
    found = by_code(read_session(old).completed())
    unknown = {code for code, audit in found.items() if audit.state == "not-known"}
    assert unknown == {"littles-law", "schedule", "processes", "cores", "descriptors"}
    assert all(found[code].message.code == "not-recorded" for code in unknown)
    assert found["conservation"].state == "passed"


@pytest.mark.parametrize("length", [0, 1, 2, 40])
def test_any_part_of_a_session_is_audited(length: int) -> None:
    documents = session(2, 4)[:length]
    assert all(audit.message.text() for audit in audits_of(documents))


def test_windows_merged_keep_calls_in_flight(tmp_path: Path) -> None:
    """Long points are recorded in windows of a second."""
    plan = msgspec.structs.replace(PLAN, servers=["one"], rates=[100.0], seconds=61.0)
    documents = run(tmp_path, Script(service_us=20_000), plan)
    assert by_code(documents)["littles-law"].state == "passed"
    assert [d for d in documents if isinstance(d, Window) and d.pending == pytest.approx(2.0)]


def test_the_summary_has_audits_as_json_and_as_text(tmp_path: Path) -> None:
    summary = summarise(run(tmp_path, Script(lateness_us=40_000)))
    data = {audit["code"]: audit for audit in summary.to_data()["audits"]}
    points = {
        point["point"] for s in summary.to_data()["servers"].values() for point in s["points"]
    }
    assert data["schedule"]["state"] == "failed" and set(data["schedule"]["points"]) == points
    assert data["schedule"]["text"].startswith("The clients did not keep their schedule: ")
