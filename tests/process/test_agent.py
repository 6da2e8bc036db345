"""The load agent against real servers: its schedule, its calls, and how it ends."""

from __future__ import annotations

import os
import signal as signals
import time
from pathlib import Path
from typing import Any

import pytest
from agents import HTTP, PONG, agent, outcome_of, target
from oracle import PATIENCE_S, eventually

from workbench.analysis.histogram import percentile, percentiles, total_us


def test_every_scheduled_connection_is_offered_and_answered() -> None:
    outcome = outcome_of("pong", rate_per_s=500, connections=500, **PONG)
    assert outcome.total("due") == outcome.total("replies") == 500
    assert sum(w["due"] for w in outcome.windows) == 500
    for name in ("latency", "service", "connect", "first_byte", "lateness"):
        times = percentiles(outcome.histogram(name))
        assert times is not None and times.count == 500, name


def test_windows_follow_the_schedule_of_200_ms() -> None:
    outcome = outcome_of("pong", rate_per_s=400, connections=400, **PONG)
    assert [w["i"] for w in outcome.windows] == list(range(len(outcome.windows)))
    assert [w["due"] for w in outcome.windows[:4]] == [80, 80, 80, 80]


def test_workers_share_the_schedule_without_gap_or_overlap() -> None:
    outcome = outcome_of("pong", workers=3, rate_per_s=500, connections=500, **PONG)
    assert sorted(r["due"] for r in outcome.reports) == [166, 167, 167]
    assert outcome.total("replies") == 500


@pytest.mark.parametrize("arrivals", ["uniform", "poisson"])
def test_calls_on_one_connection_are_counted_one_by_one(arrivals: str) -> None:
    outcome = outcome_of(
        "http",
        "10",
        rate_per_s=50,
        connections=50,
        calls_per_connection=10,
        arrivals=arrivals,
        **HTTP,
    )
    assert outcome.total("replies") == 500
    assert outcome.total("established") == 50


@pytest.mark.parametrize("calls", [3, 200])
def test_calls_of_a_connection_take_no_longer_than_all_of_them_together(calls: int) -> None:
    """They are made one after another, so their latencies add up to less than the point lasts."""
    outcome = outcome_of(
        "http",
        str(calls),
        mode="closed",
        concurrency=1,
        connections=1,
        calls_per_connection=calls,
        **HTTP,
    )
    assert outcome.total("replies") == calls
    together_us = total_us(outcome.histogram("latency"))
    assert together_us <= 1.001 * outcome.total("wall_us") + calls, "buckets are 0.1 % wide"


def test_pipelined_calls_are_all_answered() -> None:
    outcome = outcome_of(
        "http", "9", rate_per_s=50, connections=50, calls_per_connection=9, pipeline=3, **HTTP
    )
    assert outcome.total("replies") == 450


def test_calls_go_on_on_a_new_connection_where_the_server_closes() -> None:
    """The server closes after 4 of 10 calls, so each connection is made again twice."""
    outcome = outcome_of(
        "http",
        "4",
        on_close="reconnect",
        mode="closed",
        concurrency=5,
        connections=50,
        calls_per_connection=10,
        **HTTP,
    )
    assert outcome.total("replies") == 500
    assert outcome.errors == {}
    assert sum(report["figures"]["reconnects"] for report in outcome.reports) == 100
    assert outcome.total("established") == 150


def test_calls_are_not_made_again_after_a_timeout() -> None:
    """Each would take one more local port, and the point several times as long."""
    outcome = outcome_of(
        "hold",
        protocol="http/1.1",
        on_close="reconnect",
        rate_per_s=100,
        connections=20,
        calls_per_connection=10,
        timeout_s=0.5,
    )
    assert outcome.errors == {"client-timo": 200}
    assert outcome.total("established") == 20
    assert sum(report["figures"]["reconnects"] for report in outcome.reports) == 0


def test_http_1_0_waits_for_the_server_to_close() -> None:
    outcome = outcome_of(
        "http", "1", protocol="http/1.0", rate_per_s=200, connections=200, timeout_s=PATIENCE_S
    )
    assert outcome.total("replies") == 200


@pytest.mark.parametrize("more", [{}, {"think_times": "exponential", "addresses": 3}])
def test_think_time_spaces_the_calls_and_is_no_latency(more: dict[str, Any]) -> None:
    outcome = outcome_of(
        "http",
        "3",
        rate_per_s=20,
        connections=20,
        calls_per_connection=3,
        think_time_s=1.0,
        **more,
        **HTTP,
    )
    assert outcome.total("replies") == 60
    assert len(outcome.windows) >= 10, "two thinks of 1 s"
    # Two of three calls follow a think time: if it counted, at most one in three would be faster.
    quick = percentile(outcome.histogram("latency"), 0.4)
    assert quick is not None and quick < 1_000_000


def test_closed_loop_keeps_a_fixed_number_of_connections_busy() -> None:
    outcome = outcome_of("pong", mode="closed", concurrency=7, connections=500, **PONG)
    assert outcome.total("replies") == 500
    assert max(w["in_flight"] for w in outcome.windows) <= 7


def test_closed_loop_by_seconds_ends_when_they_are_over() -> None:
    outcome = outcome_of("pong", mode="closed", concurrency=5, seconds=3.0, **PONG)
    assert outcome.total("replies") > 0
    assert outcome.total("in_flight") == 0


@pytest.mark.parametrize("think_time_s", [0.0, 60.0])
def test_kept_connections_of_a_closed_loop_make_no_calls_after_its_seconds(
    think_time_s: float,
) -> None:
    outcome = outcome_of(
        "http",
        "1000000",
        mode="closed",
        concurrency=5,
        seconds=2.0,
        calls_per_connection=1_000_000,
        think_time_s=think_time_s,
        **HTTP,
    )
    assert outcome.total("established") == 5
    assert outcome.total("due") == outcome.total("replies") >= 5
    assert outcome.total("in_flight") == 0
    assert outcome.errors == {}


def test_each_call_of_a_closed_loop_by_seconds_is_lost_by_itself() -> None:
    outcome = outcome_of(
        "hold",
        protocol="http/1.1",
        mode="closed",
        concurrency=5,
        seconds=2.0,
        calls_per_connection=1_000_000,
        timeout_s=0.5,
    )
    assert outcome.errors == {"client-timo": outcome.total("established")}


@pytest.mark.parametrize("workload", [PONG, HTTP | {"calls_per_connection": 1_000_000}])
@pytest.mark.parametrize(
    "load",
    [
        {"rate_per_s": 100, "connections": 10_000},
        {"mode": "closed", "concurrency": 5, "seconds": 60.0},
        {"mode": "closed", "concurrency": 5, "connections": 10_000},
    ],
)
def test_a_point_stopped_early_accounts_for_what_was_open(
    workload: dict[str, Any], load: dict[str, Any]
) -> None:
    with target("hold") as server, agent() as it:

        def stop(window: dict[str, Any]) -> None:
            if window["i"] == 1:
                it.say(op="stop", id=1)

        outcome = it.run(server.port, stop, **load, **workload)
    assert 0 < outcome.total("in_flight") == outcome.total("due") - outcome.total("unsent")
    assert sum(window["due"] for window in outcome.windows) == outcome.total("due")
    assert all(window["due"] >= 0 for window in outcome.windows)


def test_latency_counts_from_the_scheduled_time_so_a_stall_cannot_hide() -> None:
    """Still for 0.4 s in every 1 s, connections evenly spread: by arithmetic 40 % of them wait,
    for 0 to 0.4 s, so the 80th percentile is at least 0.2 s and the 98th 0.38 s."""
    outcome = outcome_of("stall", "0.4/1.0", rate_per_s=200, connections=1000, **PONG)
    latency = outcome.histogram("latency")
    for share, at_least_us in ((0.80, 200_000), (0.98, 380_000)):
        waited = percentile(latency, share)
        assert waited is not None and waited > 0.85 * at_least_us


def test_service_time_is_never_less_than_what_the_server_took() -> None:
    outcome = outcome_of("pong", "0.005", rate_per_s=50, connections=100, **PONG)
    assert min(outcome.histogram("service")[::2]) >= 5_000 // 4, "bucket of 5 ms"
    quick = percentile(outcome.histogram("service"), 0.05)
    assert quick is not None and quick >= 5_000


def test_it_ends_when_its_stdin_is_closed() -> None:
    with agent() as load:
        assert load.process.stdin
        load.process.stdin.close()
        assert load.process.wait(PATIENCE_S) == 0
        load.process.stdin = None


@pytest.mark.parametrize("signal", ["SIGTERM", "SIGHUP", "SIGINT", "SIGKILL"])
def test_a_signal_ends_the_workers_too(signal: str) -> None:
    with agent(workers=2) as load:
        children = _children(load.process.pid)
        assert len(children) == 2
        load.process.send_signal(getattr(signals, signal))
        load.process.wait(PATIENCE_S)
        assert eventually(lambda: not any(map(_alive, children))), "workers are left"


def test_a_worker_that_is_killed_ends_it_with_the_signal() -> None:
    with agent(workers=2) as load:
        first, _ = _children(load.process.pid)
        os.kill(first, signals.SIGKILL)
        assert load.hear() == {"ev": "error", "text": "worker 0 ended by signal 9"}
        assert load.process.wait(PATIENCE_S) == 1


def test_an_invalid_request_is_answered_with_an_error() -> None:
    with agent() as load:
        load.say(op="point", id=1, load={"host": "127.0.0.1", "port": 1, "colour": "blue"})
        event = load.hear()
        assert event["ev"] == "error"
        assert "colour" in event["text"]
        load.say(op="point", id=2, load={"host": "127.0.0.1", "port": 1, "workload": "gopher"})
        assert "drivers.gopher" in load.hear()["text"]


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_point_stopped_before_it_begins_ends_with_nothing_scheduled() -> None:
    load = {"host": "127.0.0.1", "port": 9, "workload": "pong", "timeout_s": PATIENCE_S}
    load |= {"rate_per_s": 100, "connections": 100}
    began = time.monotonic()
    with agent() as it:
        it.say(op="point", id=1, load=load)
        assert it.hear()["ev"] == "armed"
        it.say(op="stop", id=1)
        events = [it.hear(), it.hear()]
    assert [event["ev"] for event in events] == ["window", "done"]
    assert (events[1]["due"], events[1]["in_flight"]) == (0, 0)
    assert events[1]["wall_us"] < (time.monotonic() - began) * 1e6
