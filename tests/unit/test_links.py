"""What a plan needs of a link, and how a link is described."""

from __future__ import annotations

import pytest

from workbench.messages.base import Stated
from workbench.messages.notes import notice
from workbench.plan.model import Plan
from workbench.run.network_check import needed_bits, notes_of
from workbench.servers.gate import GateResult
from workbench.workloads.registry import workload as a_workload


def link(**measured: float) -> Stated:
    times = {"min_us": 180, "p50_us": 210, "p99_us": 400}
    rates = {"bits_per_s": 940e6, "to_target_bits_per_s": 0.0, **measured}
    return notice("link", client="bolt", target="atlas", **times, **rates)


LINK = link()
GATES = [
    GateResult(server="a", passed=True, sentences=[], bytes_on_wire=100, kept_bytes=90),
    GateResult(server="b", passed=True, sentences=[], bytes_on_wire=10_000, kept_bytes=9_000),
]


def plan(**workload: object) -> Plan:
    return Plan(name="x", servers=["a", "b"], rates=[100, 1000], workload=a_workload(**workload))


def test_a_link_shows_what_the_plan_needs_where_that_is_known() -> None:
    needed = link(needed_bits_per_s=88e6)
    assert needed.text().endswith("; the plan needs about 88 Mbit/s at most.")
    assert LINK.text() == "bolt reaches atlas in 210 µs (p99 400 µs) and at 940 Mbit/s."


def test_only_a_plan_that_needs_nearly_all_of_a_link_is_warned_of() -> None:
    assert notes_of(LINK, 700e6) == [link(needed_bits_per_s=700e6)]
    assert notes_of(LINK, 800e6) == [
        link(needed_bits_per_s=800e6),
        notice(
            "slow-link", client="bolt", target="atlas", bits_per_s=940e6, needed_bits_per_s=800e6
        ),
    ]


def test_a_link_too_slow_for_requests_is_warned_of_in_that_direction() -> None:
    uploads = plan(protocol="http/1.1", method="POST", body="x" * 60_000)
    needed = needed_bits(uploads, 1, GATES)[1]
    # 1,000 connections per second, each with one request of 60,100 bytes in 42 segments.
    assert needed == 8 * 1000 * (60_100 + 66 * 46)
    slow = link(to_target_bits_per_s=400e6)
    (_, warned) = notes_of(slow, 1e6, needed)
    assert warned.code == "slow-link" and warned.data()["to_target"]
    assert warned.text().startswith("The link from bolt to atlas carries 400 Mbit/s")
    assert len(notes_of(link(to_target_bits_per_s=940e6), 1e6, needed)) == 1
    assert len(notes_of(LINK, 1e6, needed)) == 1  # Not measured.
    assert needed_bits(plan(mode="closed"), 1, GATES)[1] == 0


def test_the_largest_reply_at_the_highest_rate_is_what_is_needed() -> None:
    # 1,000 connections of one reply: 10,000 bytes in seven segments, and four without any.
    assert needed_bits(plan(), 1, GATES)[0] == 8 * 1000 * (10_000 + 66 * 11)


def test_clients_share_the_load_and_keep_alive_opens_few_connections() -> None:
    kept = plan(protocol="http/1.1", calls_per_connection=10)
    per_s = max(kept.rates_per_s) * (1 if kept.unit == "requests" else 10)
    needed = needed_bits(kept, 2, GATES)[0]
    assert needed == pytest.approx(8 * per_s / 2 * (9_000 + 66 * 7.4))


def test_a_closed_loop_has_no_rate_to_budget_for() -> None:
    assert needed_bits(plan(mode="closed"), 1, GATES)[0] == 0
