"""What is run when: rates, points, the order of servers, and when a sweep ends."""

from __future__ import annotations

import msgspec
from sweeping import drive, plan

from workbench.messages import notes
from workbench.plan.model import GiveUp, Range, WarmUp
from workbench.plan.schedule import order, points, sweep
from workbench.workloads.registry import workload as a_workload


def test_rates_from_to_step_include_both_ends() -> None:
    rates = plan(rates=Range(from_=400, to=9000, step=100)).rates_per_s
    assert (len(rates), rates[0], rates[-1]) == (87, 400.0, 9000.0)


def test_a_fractional_step_does_not_lose_the_last_rate() -> None:
    assert plan(rates=Range(from_=0.1, to=0.3, step=0.1)).rates_per_s == [0.1, 0.2, 0.3]


def test_a_field_of_the_workload_is_varied_at_one_load() -> None:
    http = a_workload(protocol="http/1.1", calls_per_connection=8)
    varied = plan(workload=http, rates=[1000.0], vary={"pipeline": [1, 4, 8]})
    axis = varied.axis
    assert (axis.key, axis.label, axis.at(4), axis.has_limit) == (
        "pipeline",
        "Pipeline",
        "4 outstanding",
        False,
    )
    found = list(points(varied, "a"))
    assert [(p.x, p.load, p.workload.own["pipeline"]) for p in found] == [
        (1.0, "1 outstanding", 1),
        (4.0, "4 outstanding", 4),
        (8.0, "8 outstanding", 8),
    ]
    assert {p.connection_rate_per_s for p in found} == {125.0}
    closed = msgspec.structs.replace(http, mode="closed")
    sustained = plan(workload=closed, rates=[], concurrency=[50], vary={"pipeline": [1, 4]})
    assert [(p.x, p.concurrency) for p in points(sustained, "a")] == [(1.0, 50), (4.0, 50)]
    assert [block.rates_per_s for block in order(sustained, 1)] == [[], [], []]


def test_seconds_give_each_rate_its_connections() -> None:
    assert [p.connections for p in points(plan(), "a")] == [2000, 4000, 6000, 8000, 10000]


def test_connections_give_each_rate_its_seconds() -> None:
    sizes = [(p.connections, p.seconds) for p in points(plan(seconds=None, connections=4000), "a")]
    assert sizes == [(4000, 4.0), (4000, 2.0), (4000, 4 / 3), (4000, 1.0), (4000, 0.8)]


def test_short_points_are_lengthened_only_with_the_users_consent() -> None:
    short = plan(seconds=None, connections=4000, lengthen=True)
    assert [p.connections for p in points(short, "a")] == [4000, 4000, 4000, 4000, 5000]


def test_a_rate_of_requests_is_shared_out_over_the_calls_of_a_connection() -> None:
    keep_alive = a_workload(protocol="http/1.1", calls_per_connection=10)
    point = next(iter(points(plan(workload=keep_alive, rates=[8000.0]), "a")))
    assert (point.connection_rate_per_s, point.connections, point.samples) == (800.0, 1600, 16000)


def test_a_rate_of_connections_is_taken_as_it_is() -> None:
    keep_alive = a_workload(protocol="http/1.1", calls_per_connection=10)
    chosen = plan(workload=keep_alive, rates=[800.0], rate_of="connections")
    point = next(iter(points(chosen, "a")))
    assert (point.connection_rate_per_s, point.samples) == (800.0, 16000)


def test_all_servers_get_the_same_arrivals_and_every_pass_has_its_own() -> None:
    def seeds(server: str, **more: int) -> list[int]:
        return [p.seed for p in points(plan(), server, **more)]

    assert seeds("a", seed=3) == seeds("b", seed=3)
    assert seeds("a", seed=3) != seeds("a", seed=4)
    assert not set(seeds("a", seed=3)) & set(seeds("a", seed=3, pass_number=2))
    assert len(set(seeds("a", seed=3))) == 5


def test_a_closed_loop_runs_its_concurrencies_without_a_rate() -> None:
    closed = plan(workload=a_workload(mode="closed"), rates=[], concurrency=[50, 100])
    run = [(p.concurrency, p.x, p.connections, p.seconds) for p in points(closed, "a")]
    assert run == [(50, 50.0, 0, 2.0), (100, 100.0, 0, 2.0)]


def test_sequential_order_finishes_a_server_before_the_next() -> None:
    blocks = order(plan(repeats=2), seed=1)
    assert [(b.server, b.pass_number) for b in blocks] == [
        ("a", 1), ("a", 2), ("b", 1), ("b", 2), ("c", 1), ("c", 2),
    ]  # fmt: skip


def test_interleaved_order_visits_every_server_once_a_pass() -> None:
    blocks = order(plan(repeats=4, order="interleaved"), seed=1)
    for number in range(4):
        visited = blocks[3 * number : 3 * number + 3]
        assert {b.server for b in visited} == {"a", "b", "c"}
        assert {b.pass_number for b in visited} == {number + 1}


def test_interleaved_order_follows_its_seed() -> None:
    def servers(seed: int) -> list[str]:
        return [b.server for b in order(plan(repeats=6, order="interleaved"), seed)]

    assert servers(5) == servers(5)
    assert servers(5) != servers(6)


def test_a_sweep_warms_up_then_climbs_through_all_rates() -> None:
    run, reason = drive(sweep(plan(warm_up=WarmUp(rate_per_s=500, seconds=1)), "a"), 9e9)
    assert [(p.purpose, p.x) for p in run[:2]] == [("warm_up", 500.0), ("sweep", 1000.0)]
    assert [p.x for p in run[1:]] == plan().rates_per_s
    assert reason == []


def test_a_sweep_ends_early_when_the_server_has_clearly_died() -> None:
    rule = GiveUp(after_points=2, success_below_pct=50)
    run, reason = drive(sweep(plan(give_up=rule), "a"), 1000, succeeded=0.4)
    assert [p.x for p in run] == [1000.0, 2000.0, 3000.0]
    assert reason == [
        notes.notice("gave-up", x=3000.0, success_below_pct=50.0, points=2, left_out=2)
    ]


def test_a_server_that_still_answers_half_is_not_given_up() -> None:
    run, reason = drive(sweep(plan(give_up=GiveUp(after_points=1)), "a"), 1000, succeeded=0.5)
    assert (len(run), reason) == (5, [])


def test_calls_lost_by_the_clients_are_no_reason_to_give_up() -> None:
    generator = sweep(plan(give_up=GiveUp(after_points=1)), "a")
    run, _ = drive(generator, 1000, succeeded=0.3, client_lost=0.65)
    assert len(run) == 5


def test_giving_up_at_the_last_point_skips_nothing_and_needs_no_reason() -> None:
    _, reason = drive(sweep(plan(give_up=GiveUp(after_points=1)), "a"), 4000, succeeded=0.1)
    assert reason == []


def test_without_give_up_every_rate_is_run() -> None:
    run, _ = drive(sweep(plan(give_up=None), "a"), 0, succeeded=0.0)
    assert len(run) == 5
