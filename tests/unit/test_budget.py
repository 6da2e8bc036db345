"""What a plan costs, told before it is run."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from workbench.budget import assess, duration_text
from workbench.errors import BadInput
from workbench.plans import Plan, Range, WarmUp, Workload, load_plan
from workbench.ports import limits_of

FACTS = {
    "sysctls": {"net.ipv4.ip_local_port_range": "32768 60999", "net.ipv4.tcp_tw_reuse": 2},
    "descriptor_limits": {"soft": 1024, "hard": 1_048_576},
}


@dataclass
class Entry:
    id: str = "tornado"
    name: str = "Tornado"
    closes_first: str = "server"
    protocols: list[str] = field(default_factory=lambda: ["pong", "http/1.0", "http/1.1"])
    warm_up_s: float = 0.0


POLITE = Entry(closes_first="client")


def plan(**changes: Any) -> Plan:
    settings: dict[str, Any] = {
        "servers": ["tornado"],
        "rates": [1000.0, 2000.0],
        "seconds": 2.0,
        "warm_up": None,
        "calibrate": False,
        "workload": Workload(timeout_s=2.0),
    }
    return Plan(**(settings | changes))


def test_the_duration_is_told_as_a_range_from_no_timeout_to_all_and_one_more_look() -> None:
    budget = assess(plan(cool_down_s=0.5), [Entry()], FACTS)
    at_once, another_look = 2 * (2.5 + 2.0) + 3.0, 3.0 + 2 * 2.5
    assert budget.duration_s == (2 * 2.5 + 0.5, at_once + another_look)
    once = assess(plan(cool_down_s=0.5, looks=1), [Entry()], FACTS)
    assert once.duration_s == (2 * 2.5 + 0.5, at_once)
    cold = assess(plan(cool_down_s=0.5, looks=1), [Entry(warm_up_s=10)], FACTS)
    assert cold.duration_s == (10 + 2 * 2.5 + 0.5, at_once + 10)


def test_a_plan_that_takes_longer_than_a_run_may_is_refused() -> None:
    budget = assess(plan(seconds=3600.0, repeats=13, looks=1, cool_down_s=0.0), [Entry()], FACTS)
    assert budget.problems == [
        "It takes 26 h, but a run is ended after 24 h. Take fewer servers, rates or repeats, or"
        " shorter points."
    ]
    assert budget.keys[budget.problems[0]] == "seconds"
    assert not assess(plan(seconds=3600.0, repeats=11, looks=1), [Entry()], FACTS).problems


def test_warm_up_calibration_servers_and_repeats_cost_time() -> None:
    def shortest(**changes: Any) -> float:
        entries = [Entry(id=i) for i in changes.get("servers", ["tornado"])]
        return assess(plan(cool_down_s=0.0, **changes), entries, FACTS).duration_s[0]

    alone = shortest()
    assert shortest(repeats=3) == 3 * alone
    assert shortest(servers=["a", "b"]) == 2 * alone
    assert shortest(warm_up=WarmUp(seconds=1.0)) == alone + 1.0
    assert shortest(calibrate=True) > alone


def test_the_demo_takes_about_two_minutes_and_has_no_complaint() -> None:
    demo = load_plan("demo")
    budget = assess(demo, [Entry(id=i, name=i) for i in demo.servers], FACTS, loopback=True)
    assert budget.problems == []
    assert budget.warnings == []
    assert 80 < budget.duration_s[0] < 150


@pytest.mark.parametrize(
    ("span", "text"),
    [
        ((20, 55), "20 to 55 s"),
        ((28, 92), "0.5 to 1.5 min"),
        ((84, 210), "1.4 to 3.5 min"),
        ((120, 250), "2 to 4.2 min"),
        ((60, 7200), "0.02 to 2 h"),
    ],
)
def test_durations_are_told_in_a_unit_that_fits(span: tuple[float, float], text: str) -> None:
    assert duration_text(span) == text


def test_samples_per_point_are_told() -> None:
    assert assess(plan(), [Entry()], FACTS).samples_per_point == (2000, 4000)


def test_a_point_of_4_4_s_is_long_enough() -> None:
    source = plan(seconds=None, connections=40_000, rates=[9000.0])
    assert assess(source, [Entry()], FACTS).problems == []


def test_a_point_too_short_for_its_samples_is_refused() -> None:
    budget = assess(plan(seconds=None, connections=400, rates=[200.0, 9000.0]), [Entry()], FACTS)
    assert budget.problems == [
        "At 9,000/s a point lasts 0.044 s: too short to judge, which takes 1 s. Set connections to "
        "9,000 or more, or allow that by `lengthen: true`."
    ]
    with pytest.raises(BadInput, match="At 9,000/s a point lasts"):
        budget.check()


def test_with_the_users_word_a_short_point_is_lengthened_and_told() -> None:
    lengthened = plan(seconds=None, connections=400, lengthen=True, rates=[200.0, 9000.0])
    budget = assess(lengthened, [Entry()], FACTS)
    budget.check()
    assert budget.samples_per_point == (400, 9000)
    assert budget.warnings[0] == (
        "1 of 2 points get more than 400 connections, up to 9,000, to be long enough."
    )


def test_seconds_too_few_are_refused_whatever_the_word() -> None:
    problems = assess(plan(seconds=0.5, lengthen=True), [Entry()], FACTS).problems
    assert problems == [
        "At 1,000/s a point lasts 0.5 s: too short to judge, which takes 1 s. Set seconds to 1 or "
        "more."
    ]


def test_a_point_with_too_few_calls_is_refused() -> None:
    problems = assess(plan(rates=[20.0, 200.0]), [Entry()], FACTS).problems
    assert problems == [
        "At 20/s a point has 40 calls: too few to judge, which takes 100. Set seconds to 5 or more."
    ]


def test_rates_that_do_not_divide_evenly_are_not_refused_for_their_rounding() -> None:
    assert assess(plan(rates=[333.3], seconds=1.0), [Entry()], FACTS).problems == []


def test_points_too_small_for_a_steady_p99_are_told() -> None:
    assert assess(plan(rates=[300.0, 400.0, 600.0]), [Entry()], FACTS).warnings == [
        "Up to 400/s a point has fewer than 1,000 calls: too few for a steady p99."
    ]


def test_a_server_that_closes_first_leaves_the_clients_ports_free() -> None:
    busy = plan(rates=[5000.0, 6000.0, 7000.0], seconds=5.0)
    budget = assess(busy, [Entry()], FACTS)
    assert budget.problems == []
    assert budget.cool_down_s == {"tornado": [0.2, 0.2, 0.2]}


def test_where_the_client_closes_first_it_rests_until_its_ports_are_free() -> None:
    busy = plan(rates=[5000.0, 6000.0], seconds=4.0)  # 20,000 ports, then 24,000 of 28,232
    budget = assess(busy, [POLITE], FACTS)
    assert budget.problems == []
    assert budget.cool_down_s == {"tornado": [60.0, 0.2]}
    assert budget.ports_needed == 24_000
    assert budget.duration_s[0] > 60


def test_rests_are_only_as_long_as_the_next_point_needs() -> None:
    busy = plan(rates=[1000.0, 1001.0, 1002.0, 13_000.0], seconds=2.0)
    rests = assess(busy, [POLITE], FACTS).cool_down_s["tornado"]
    # 26,000 of 28,232 leave room for one earlier point: wait for the first two to expire.
    assert rests[:2] == [0.2, 0.2]
    assert rests[2] == pytest.approx(60 - 2.2)


def test_over_loopback_the_kernel_gives_ports_back_after_a_second() -> None:
    busy = plan(rates=[5000.0, 6000.0], seconds=4.0)
    assert assess(busy, [POLITE], FACTS, loopback=True).cool_down_s == {"tornado": [0.2, 0.2]}


def test_kept_alive_connections_are_closed_by_the_client() -> None:
    keep_alive = Workload(protocol="http/1.1", calls_per_connection=10, timeout_s=2.0)
    budget = assess(plan(workload=keep_alive, rates=[60_000.0, 70_000.0]), [Entry()], FACTS)
    assert budget.ports_needed == 26_000  # 12,000 and 14,000 connections


def test_more_ports_than_there_are_is_refused() -> None:
    budget = assess(plan(seconds=None, connections=40_000, rates=[9000.0]), [POLITE], FACTS)
    assert budget.problems == [
        "The client has 28,232 free ports and needs 40,000 at 9,000/s, because it closes first. "
        "Widen its range (net.ipv4.ip_local_port_range), or give the point fewer connections."
    ]


def test_connections_piling_up_beyond_the_descriptors_are_warned_of() -> None:
    slow = plan(workload=Workload(timeout_s=60.0), rates=[400.0], seconds=60.0, nofile=10_000)
    assert assess(slow, [Entry()], FACTS).warnings == [
        "From 400/s on a server that stops answering leaves up to 24,000 connections open until "
        "the timeout; the client has 9,936 descriptors. Such points will count as the client's "
        "limit, not the server's."
    ]


THOUGHTFUL = Workload(protocol="http/1.1", calls_per_connection=12, think_time_s=5.0, timeout_s=2.0)


def test_thinking_keeps_connections_open_and_a_point_going() -> None:
    mayhem = plan(workload=THOUGHTFUL, rate_of="connections", rates=[500.0], seconds=300.0, looks=1)
    budget = assess(mayhem, [Entry()], FACTS, clients=3)
    assert budget.open_at_worst == 500 * (11 * 5 + 2)
    assert budget.duration_s[0] == 300 + 11 * 5 + 0.5 + 0.2
    assert (budget.problems, budget.warnings) == ([], [])
    alone = assess(mayhem, [Entry()], FACTS, loopback=True)
    assert alone.warnings == [
        "From 500/s on up to 27,500 connections are open at once, because thinking keeps each for "
        "55 s; the client has 19,936 descriptors. Such points will count as the client's limit, "
        "not the server's.",
        "From 500/s on a server that stops answering leaves up to 28,500 connections open until "
        "the timeout; the client has 28,232 local ports. Such points will count as the client's "
        "limit, not the server's.",
    ]


def test_a_connection_holds_its_port_while_it_thinks_and_in_time_wait() -> None:
    users = plan(workload=THOUGHTFUL, rate_of="connections", rates=[500.0], seconds=300.0)
    budget = assess(users, [Entry()], FACTS)
    assert budget.problems == [
        "The client has 28,232 free ports and needs 57,500 at 500/s, because it closes first. "
        "Widen its range (net.ipv4.ip_local_port_range), or give the point fewer connections."
    ]


def test_of_two_reasons_to_lengthen_a_point_the_longer_is_told() -> None:
    both = assess(plan(rates=[300.0], seconds=0.1), [Entry()], FACTS)
    assert [text.partition(":")[0] for text in both.problems] == ["At 300/s a point lasts 0.1 s"]
    rare = assess(plan(rates=[30.0], seconds=0.9), [Entry()], FACTS)
    assert rare.problems[-1].endswith("Set seconds to 3.4 or more.")


def test_a_machine_with_few_descriptors_is_told() -> None:
    poor = FACTS | {"descriptor_limits": {"soft": 1024, "hard": 4096}}
    assert assess(plan(rates=[500.0]), [Entry()], poor).warnings == [
        "The client allows 4,096 descriptors a process, not the 20,000 of the plan. Raise its hard "
        "limit, or lower nofile."
    ]


def test_a_server_that_does_not_speak_the_protocol_is_refused() -> None:
    raw = Entry(protocols=["pong"])
    spoken = plan(workload=Workload(protocol="http/1.1"))
    assert assess(spoken, [raw], FACTS).problems == [
        "Tornado speaks pong, not http/1.1. Leave it out of the plan."
    ]


def test_the_cost_is_told_in_sentences() -> None:
    budget = assess(plan(rates=Range(from_=1000, to=2000, step=1000)), [Entry()], FACTS)
    assert budget.describe() == [
        "It takes 4.9 to 19 s.",
        "A point has 2,000 to 4,000 calls.",
        "It holds at most 4,000 of 28,232 local ports.",
    ]


def test_more_ports_than_there_are_are_not_said_to_be_held() -> None:
    slow = plan(workload=Workload(timeout_s=60.0), rates=[1000.0], seconds=60.0)
    told = assess(slow, [Entry()], FACTS).describe()
    assert told[-1] == "At worst it would hold 60,000 local ports; there are 28,232."


def test_a_machine_that_tells_nothing_is_taken_for_an_untouched_linux() -> None:
    limits = limits_of({})
    assert (limits.ports, limits.port_held_s) == (28_232, 60.0)


def test_a_closed_loop_needs_a_port_for_each_connection_at_a_time() -> None:
    closed = plan(workload=Workload(mode="closed"), rates=[], concurrency=[50, 100])
    budget = assess(closed, [Entry()], FACTS)
    assert budget.problems == []
    assert budget.ports_needed == 100
    assert budget.describe()[1] == "A point has as many calls as fit."
