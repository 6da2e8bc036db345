"""Which machines a run uses, and each client's share of a point."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from workbench.errors import BadInput
from workbench.load.base import LoadReport
from workbench.load.events import Done
from workbench.load.merge import client_part, merge_reports
from workbench.machines.profiles import make_profile, save_profile
from workbench.run.environment import Fleet, tightest

pytestmark = pytest.mark.usefixtures("home")


def test_by_default_this_computer_is_target_and_client() -> None:
    fleet = Fleet()
    assert fleet.loopback
    assert fleet.roles("localhost") == ["target", "client"]
    assert list(fleet.profiles()) == ["localhost"]


def test_a_machine_is_only_used_for_what_its_profile_says() -> None:
    values = {"name": "box", "connector": "ssh", "address": "box", "roles": ["client"]}
    save_profile(make_profile(values))
    fleet = Fleet("localhost", ("box", "localhost"))
    assert not fleet.loopback
    assert fleet.roles("box") == ["client"]
    assert list(fleet.profiles()) == ["localhost", "box"]
    with pytest.raises(BadInput, match="'box' is not to be a target: its profile says client"):
        Fleet("box").profiles()
    with pytest.raises(BadInput, match="There is no machine profile 'absent'"):
        Fleet("absent").profiles()


def test_the_client_with_the_fewest_ports_sets_the_limit() -> None:
    def facts(ports: str) -> dict[str, Any]:
        return {"sysctls": {"net.ipv4.ip_local_port_range": ports}}

    few = facts("40000 41000")
    assert tightest([facts("1024 65535"), few, {}]) is few


def report(due: int, late: int, cpu_us: int, began_late_us: int) -> Done:
    times = ("latency", "service", "connect", "first_byte", "lateness")
    histograms: dict[str, list[int]] = {name: [] for name in times}
    numbers = {"due": due, "sent": due, "late": late, "replies": due, "established": due}
    data = {
        "ev": "done",
        **numbers,
        "unsent": 0,
        "errors": {},
        "in_flight": 0,
        "histograms": histograms,
        "cpu_us": cpu_us,
        "began_late_us": began_late_us,
        "at_schedule_end": {"cpu_us": cpu_us, "wall_us": 1_000_000, "replies": due},
    }
    return msgspec.convert(data, Done)


def test_each_client_reports_its_counts_and_their_sum_is_the_point() -> None:
    first = [report(100, 1, 200_000, 300), report(100, 2, 500_000, 400)]
    second = [report(200, 0, 100_000, 1_500)]
    whole = merge_reports([*first, *second], [])
    parts = [client_part("c1", first, 10), client_part("c2", second, 20)]
    assert whole.counts.scheduled == sum(part.scheduled for part in parts) == 400
    assert [(part.late, part.cpu_pct, part.cpu_s) for part in parts] == [
        (3, 50.0, 0.7),
        (0, 10.0, 0.1),
    ]
    assert [part.clock_uncertainty_us for part in parts] == [10, 20]


def test_each_client_reports_its_own_response_times() -> None:
    def timed(us: int) -> Done:
        reported = report(100, 0, 100_000, 0)
        times = msgspec.structs.replace(
            reported.histograms, service=[us, 99], latency=[us + 50, 99]
        )
        return msgspec.structs.replace(reported, histograms=times)

    near = client_part("near", [timed(200), timed(210)], 10)
    far = client_part("far", [timed(1_200)], 10)
    assert near.service_us and far.service_us and far.latency_us
    assert (near.service_us.count, near.service_us.p50, near.service_us.max) == (198, 200, 210)
    assert (far.service_us.p50, far.latency_us.p50) == (1_200, 1_250)
    assert client_part("mute", [report(1, 0, 1, 0)], 1).service_us is None


def test_the_skew_is_that_between_the_first_and_the_last_to_start() -> None:
    parts = [
        client_part("c1", [report(1, 0, 1, 300)], 1),
        client_part("c2", [report(1, 0, 1, 900)], 1),
    ]
    whole = merge_reports([], [])
    assert whole.start_skew_us == 0
    assert LoadReport(**{**vars(whole), "clients": parts}).start_skew_us == 600
