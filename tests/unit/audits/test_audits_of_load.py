"""Audits of the load: each fails where something is planted, names the points it affects, and
passes otherwise."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from fakes.audited import PLAN, Sound, by_code, failed, places, plus, run
from fakes.load import ALL, Script, fake_tool
from fakes.run import a_plan

from workbench.documents import PointStop, Window
from workbench.load import registry
from workbench.messages import notes
from workbench.messages.reasons import reasons_of
from workbench.workloads.registry import workload

PLAN_LONG = msgspec.structs.replace(PLAN, rates=[1_000.0], seconds=5.0)


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
    about = found.message.data()
    assert about["expected"] == pytest.approx(20 if share != 0.5 else 40, rel=1)
    assert about["in_flight"] == pytest.approx(share * about["expected"], rel=0.01)


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
    unsure = msgspec.structs.replace(ALL, reports=ALL.reports - {"conservation", "lateness"})
    found = by_code(run(tmp_path, can=unsure))
    assert [found[code].state for code in ("conservation", "schedule")] == ["not-known"] * 2


def test_audits_speak_only_of_the_points_whose_tool_reports_what_they_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = msgspec.structs.replace(ALL, reports=ALL.reports - {"conservation", "lateness"})
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


def test_a_lost_client_takes_no_part(tmp_path: Path) -> None:
    documents = run(tmp_path, Script(lose={1: ["c2"]}), clients=("c1", "c2"))
    found = by_code(documents)["overlap"]
    assert found.message.data()["missing"] == ["c2"] and found.points


@pytest.mark.parametrize(("slower", "fails"), [(1.0, False), (1.05, False), (1.5, True)])
def test_a_slow_client_is_named(tmp_path: Path, slower: float, fails: bool) -> None:
    documents = run(tmp_path, Script(slow_client=slower), clients=("c1", "c2"))
    found = by_code(documents)["clients-alike"]
    assert (found.state == "failed") is fails
    assert list(found.message.data().get("slow", {})) == ["c2"] * fails


def test_a_client_that_is_far_away_is_named_at_the_point_and_is_no_drift(tmp_path: Path) -> None:
    far = Script(service_us=2_000, slow_client=40.0)
    documents = run(tmp_path, far, plan=PLAN_LONG, clients=("c1", "c2"))
    stops = [d for d in documents if isinstance(d, PointStop)]
    reasons = [reason for stop in stops for reason in reasons_of(stop)]
    assert {stop.verdict for stop in stops} == {"ok"}
    assert {r.data()["client"] for r in reasons if r.code == "client-slower"} == {"c2"}
    assert by_code(documents)["steady-state"].message.code == "of-network"


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
        notes.notice("ceiling", ceiling_per_s=0.0),
        notes.notice("ceiling", ceiling_per_s=1_500.0, others_cpu_pct=60.0, disturbed=True),
    ):
        assert failed(plus(uncalibrated, ceiling)) == ["client-limit"]


def test_windows_merged_keep_calls_in_flight(tmp_path: Path) -> None:
    """Long points are recorded in windows of a second."""
    plan = msgspec.structs.replace(PLAN, servers=["one"], rates=[100.0], seconds=61.0)
    documents = run(tmp_path, Script(service_us=20_000), plan)
    assert by_code(documents)["littles-law"].state == "passed"
    assert [d for d in documents if isinstance(d, Window) and d.pending == pytest.approx(2.0)]
