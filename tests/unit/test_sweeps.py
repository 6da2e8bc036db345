"""What is run when."""

import contextlib
from collections.abc import Callable, Generator
from typing import Any

import msgspec
import pytest

from workbench.analysis.repeats import undecided
from workbench.documents import Counts, PointStop, Verdict
from workbench.messages import notes
from workbench.messages.reasons import BackgroundLoad, FellBehind, OfferedLess, Reason
from workbench.plan.calibration import Ceiling, calibration
from workbench.plan.model import GiveUp, Plan, Range, WarmUp
from workbench.plan.schedule import PointPlan, order, points, repeat_sweep, sweep
from workbench.workloads.registry import workload as a_workload


def plan(**changes: Any) -> Plan:
    settings: dict[str, Any] = {
        "servers": ["a", "b", "c"],
        "rates": [1000.0, 2000.0, 3000.0, 4000.0, 5000.0],
        "seconds": 2.0,
        "warm_up": None,
    }
    return Plan(**(settings | changes))


def answer(
    point: PointPlan, succeeded: float = 1.0, verdict: Verdict = "ok", client_lost: float = 0.0
) -> PointStop:
    """A point of which shares succeeded and were lost by the client."""
    scheduled = point.samples
    good, own = round(scheduled * succeeded), round(scheduled * client_lost)
    errors = {"client-timo": scheduled - good - own, "fd-unavail": own}
    counts = Counts(
        scheduled=scheduled,
        unsent=0,
        sent=scheduled,
        late=0,
        established=scheduled,
        succeeded=good,
        errors={name: n for name, n in errors.items() if n},
    )
    return PointStop(
        t_us=0,
        point=1,
        server=point.server,
        rate_per_s=point.x,
        purpose=point.purpose,
        look=point.attempt,
        complete=True,
        seconds=point.seconds,
        counts=counts,
        verdict=verdict,
    )


def drive(
    generator: Generator[PointPlan, PointStop, Any], holds_to: float, **below: Any
) -> tuple[list[PointPlan], Any]:
    """Run it against a server that sustains up to a rate; return the points and the result."""
    run: list[PointPlan] = []
    reply = None
    while True:
        try:
            point = next(generator) if reply is None else generator.send(reply)
        except StopIteration as end:
            return run, end.value
        run.append(point)
        sustained = point.x <= holds_to
        reply = (
            answer(point) if sustained else answer(point, **({"verdict": "server-limited"} | below))
        )


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
    assert reason == [notes.GaveUp(x=3000.0, success_below_pct=50.0, points=2, left_out=2)]


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


@pytest.mark.parametrize(
    ("holds_to", "ceiling", "tested"), [(9000, 5000.0, 1), (4000, 3750.0, 6), (0, 0.0, 6)]
)
def test_calibration_finds_the_client_limit(holds_to: float, ceiling: float, tested: int) -> None:
    run, found = drive(calibration(plan()), holds_to)
    assert (found.per_s, len(run)) == (ceiling, tested)
    assert {p.purpose for p in run} == {"ceiling"}
    assert all(p.seconds >= 1 for p in run)


@pytest.mark.parametrize(
    ("holds_to", "ceiling", "tested"),
    [(25_000, 25_000.0, 7), (1_500, 1_406.25, 9), (1, 0.0, 14)],
    ids=["above what is typical", "far below it", "below the first rate"],
)
def test_rates_to_the_client_limit_find_it_wherever_it_is(
    holds_to: float, ceiling: float, tested: int
) -> None:
    to_limit = plan(rates=Range(from_=50, to="ceiling", points=8))
    run, found = drive(calibration(to_limit), holds_to)
    assert (found.per_s, len(run)) == (ceiling, tested)


def calibrated(tries: list[tuple[float, float]]) -> tuple[list[PointPlan], Ceiling]:
    """Calibrate clients that reach a rate, beside programs that take percent of a core."""
    generator, run = calibration(plan()), list[PointPlan]()
    try:
        point = next(generator)
        while True:
            reaches, taken = tries[min(len(run) // 6, len(tries) - 1)]
            stop = answer(point, verdict="ok" if point.x <= reaches else "inconclusive")
            run.append(point)
            point = generator.send(
                msgspec.structs.replace(stop, evidence={"others_cpu_pct": taken})
            )
    except StopIteration as end:
        return run, end.value


@pytest.mark.parametrize(
    ("tries", "points", "found"),
    [
        ([(4000, 10.0)], 6, Ceiling(3750.0, 10.0)),
        ([(1000, 180.0), (9000, 0.0)], 7, Ceiling(5000.0)),
        ([(1000, 180.0), (4000, 10.0)], 12, Ceiling(3750.0, 10.0)),
        ([(4000, 180.0), (2000, 10.0)], 12, Ceiling(3750.0, 180.0)),
        ([(1000, 180.0), (4000, 90.0), (2000, 60.0)], 18, Ceiling(3750.0, 90.0)),
    ],
    ids=["quiet", "all at the second", "more at the second", "less at the second", "never quiet"],
)
def test_a_disturbed_calibration_is_repeated_and_the_highest_limit_counts(
    tries: list[tuple[float, float]], points: int, found: Ceiling
) -> None:
    run, ceiling = calibrated(tries)
    assert (ceiling, len(run)) == (found, points)


def disturbed(stop: PointStop, *others: Reason) -> PointStop:
    """Judged while other programs ran."""
    found = (BackgroundLoad(cpu_pct=90.0), *others)
    findings = [reason.record() for reason in found]
    return msgspec.structs.replace(stop, verdict="inconclusive", findings=findings)


@pytest.mark.parametrize(
    ("succeeded", "others", "per_s"),
    [
        (1.0, (), 5000.0),
        (0.97, (), 0.0),
        (1.0, (FellBehind(replied=60, calls=100, waiting=30),), 0.0),
        (1.0, (OfferedLess(offered_per_s=142, planned_per_s=200),), 0.0),
    ],
    ids=["all was answered", "not all was", "it was answered later", "less was offered"],
)
def test_rates_answered_by_the_null_server_are_reached_whatever_else_ran(
    succeeded: float, others: tuple[Reason, ...], per_s: float
) -> None:
    generator = calibration(plan())
    point = next(generator)
    with pytest.raises(StopIteration) as end:
        while True:
            point = generator.send(disturbed(answer(point, succeeded), *others))
    assert end.value.value.per_s == per_s


OK: Verdict = "ok"
GONE: Verdict = "server-limited"
UNSURE: Verdict = "inconclusive"


def run_with_looks(
    judge: Callable[[PointPlan], PointStop],
    looks: int = 3,
    ceiling_per_s: float = 0.0,
    **changes: Any,
) -> list[list[PointPlan]]:
    """One server's turns in the order of a run: its sweep, then repeats while it is undecided."""
    settings, turns, stops = plan(**changes), list[list[PointPlan]](), list[PointStop]()
    sweeping = sweep(settings, "a")
    while True:
        turns.append([])
        with contextlib.suppress(StopIteration):
            point = next(sweeping)
            while True:
                turns[-1].append(point)
                stops.append(judge(point))
                point = sweeping.send(stops[-1])
        if len(turns) == looks or undecided(stops, ceiling_per_s) is None:
            return turns
        sweeping = repeat_sweep(settings, "a", list(stops), ceiling_per_s=ceiling_per_s)


def climb_to(*at_3000: Verdict, above: Verdict = "ok") -> Callable[[PointPlan], PointStop]:
    verdicts = iter(at_3000)

    def judge(point: PointPlan) -> PointStop:
        at, higher = point.x == 3000, point.x > 3000
        return answer(point, verdict=next(verdicts) if at else above if higher else OK)

    return judge


@pytest.mark.parametrize(
    ("case", "at_3000", "attempts"),
    [
        ("sustained at once", [OK], 1),
        ("lost twice is lost", [GONE, GONE], 2),
        ("a hiccup is outvoted", [GONE, OK, OK], 3),
        ("a lucky attempt is outvoted", [GONE, OK, GONE], 3),
        ("an inconclusive rate is repeated", [UNSURE, OK], 2),
        ("an always inconclusive rate costs no more than the plan allows", [UNSURE] * 3, 3),
    ],
)
def test_the_deciding_rate_is_repeated(case: str, at_3000: list[Verdict], attempts: int) -> None:
    turns = run_with_looks(climb_to(*at_3000))
    at = [[point for point in turn if point.x == 3000] for turn in turns]
    assert [[point.attempt for point in turn] for turn in at] == [
        [n + 1] for n in range(attempts)
    ], case
    assert len({turn[0].seed for turn in at}) == attempts
    assert [len(turn) for turn in turns] == [5] + [1] * (attempts - 1)


def test_a_slow_spell_that_failed_all_higher_rates_is_corrected_by_one_more_turn() -> None:
    spell = iter([GONE, GONE, GONE])
    turns = run_with_looks(
        lambda point: answer(point, verdict=next(spell, OK) if point.x >= 3000 else OK)
    )
    assert [point.x for point in turns[1]] == [3000, 4000, 5000]
    assert [point.attempt for point in turns[1]] == [2, 2, 2]


def test_rates_a_sweep_had_not_reached_are_offered_when_the_doubtful_one_is_sustained() -> None:
    rule = GiveUp(after_points=1, success_below_pct=50)
    first = iter([0.1])

    def judge(point: PointPlan) -> PointStop:
        share = next(first, 1.0) if point.x == 3000 else 1.0
        return answer(point, share, verdict=OK if share == 1 else GONE)

    turns = run_with_looks(judge, give_up=rule)
    assert [point.x for point in turns[0]] == [1000, 2000, 3000]
    assert [(point.x, point.attempt) for point in turns[1]] == [
        (3000, 2),
        (4000, 1),
        (5000, 1),
    ]


def test_nothing_above_the_lost_rate_is_repeated() -> None:
    turns = run_with_looks(climb_to(GONE, GONE, above=GONE))
    assert [[point.x for point in turn] for turn in turns] == [
        [1000, 2000, 3000, 4000, 5000],
        [3000],
    ]


def test_a_rate_the_clients_cannot_reach_is_not_repeated() -> None:
    def beyond(point: PointPlan) -> PointStop:
        return msgspec.structs.replace(
            answer(point, verdict="client-limited"),
            offered_per_s=point.x,
            evidence={"ceiling_per_s": 500.0},
        )

    assert len(run_with_looks(beyond)) == 1
    assert len(run_with_looks(beyond, ceiling_per_s=900.0)) == 1


def test_points_judged_by_too_low_a_client_limit_are_repeated() -> None:
    def beyond(point: PointPlan) -> PointStop:
        if point.attempt > 1 or point.x < 3000:
            return answer(point)
        return msgspec.structs.replace(
            answer(point, verdict="client-limited"),
            offered_per_s=point.x,
            evidence={"ceiling_per_s": 2500.0},
        )

    turns = run_with_looks(beyond, ceiling_per_s=5000.0)
    assert [point.x for point in turns[1]] == [3000, 4000, 5000]


def test_an_attempt_that_lost_a_client_does_not_count() -> None:
    lost = iter([False, True, False])

    def judge(point: PointPlan) -> PointStop:
        if point.x < 3000:
            return answer(point)
        stop = answer(point, verdict=GONE)
        return msgspec.structs.replace(stop, complete=not next(lost, False))

    turns = run_with_looks(judge, rates=[1000, 2000, 3000])
    assert [[p.attempt for p in turn if p.x == 3000] for turn in turns] == [[1], [2], [3]]


def test_a_rate_that_lost_a_client_does_not_hide_the_doubtful_one_above_it() -> None:
    lost = iter([True])

    def judge(point: PointPlan) -> PointStop:
        stop = answer(point, verdict=GONE if point.x >= 3000 else OK)
        hurt = point.x == 2000 and next(lost, False)
        return msgspec.structs.replace(stop, complete=not hurt)

    turns = run_with_looks(judge)
    assert [(p.x, p.attempt) for p in turns[1]] == [(2000, 2), (3000, 2)]
    assert len(turns) == 2


def test_a_repeat_warms_up_first() -> None:
    turns = run_with_looks(climb_to(GONE, GONE), warm_up=WarmUp(rate_per_s=100, seconds=1))
    assert [point.purpose for point in turns[1]] == ["warm_up", "sweep"]
