"""The cost of a plan, stated before it runs."""

from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from workbench.errors import BadInput
from workbench.formatting import time_span
from workbench.machines.facts import limits_of
from workbench.messages.plans import warning
from workbench.messages.problems import problem
from workbench.plan.budget import assess
from workbench.plan.model import Plan, Range, WarmUp
from workbench.plan.reading import load_plan
from workbench.workloads.registry import workload as a_workload

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
    heritage: bool = False
    one_client: bool = False
    processes: int = 1
    rights: dict[str, str] = field(default_factory=dict)


POLITE = Entry(closes_first="client")


def plan(**changes: Any) -> Plan:
    settings: dict[str, Any] = {
        "servers": ["tornado"],
        "rates": [1000.0, 2000.0],
        "seconds": 2.0,
        "warm_up": None,
        "calibrate": False,
        "workload": a_workload(timeout_s=2.0),
    }
    return Plan(**(settings | changes))


def test_the_duration_is_a_range_from_no_timeouts_to_all_timeouts_and_one_repeat() -> None:
    budget = assess(plan(cool_down_s=0.5), [Entry()], FACTS)
    at_once, another_look = 2 * (2.5 + 2.0) + 3.0, 3.0 + 2 * 2.5
    assert budget.duration_s == (2 * 2.5 + 0.5, at_once + another_look)
    once = assess(plan(cool_down_s=0.5, looks=1), [Entry()], FACTS)
    assert once.duration_s == (2 * 2.5 + 0.5, at_once)
    cold = assess(plan(cool_down_s=0.5, looks=1), [Entry(warm_up_s=10)], FACTS)
    assert cold.duration_s == (10 + 2 * 2.5 + 0.5, at_once + 10)


def test_a_plan_that_takes_longer_than_a_run_may_is_refused() -> None:
    budget = assess(plan(seconds=3600.0, repeats=13, looks=1, cool_down_s=0.0), [Entry()], FACTS)
    assert budget.problems == [problem("run-too-long", "seconds", lasts="26 h", limit_h=24.0)]
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


def test_the_demo_takes_about_two_minutes_and_has_no_problem() -> None:
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
        ((2, 100), "2 s to 1.7 min"),
        ((60, 7200), "1 min to 2 h"),
    ],
)
def test_durations_are_shown_in_a_suitable_unit(span: tuple[float, float], text: str) -> None:
    assert time_span(span) == text


def test_samples_per_point_are_shown() -> None:
    assert assess(plan(), [Entry()], FACTS).samples_per_point == (2000, 4000)


def test_a_point_of_4_4_s_is_long_enough() -> None:
    source = plan(seconds=None, connections=40_000, rates=[9000.0])
    assert assess(source, [Entry()], FACTS).problems == []


def test_a_point_too_short_for_its_samples_is_refused() -> None:
    budget = assess(plan(seconds=None, connections=400, rates=[200.0, 9000.0]), [Entry()], FACTS)
    assert budget.problems == [
        problem(
            "point-too-short",
            "connections",
            seconds=400 / 9000,
            shortest_s=1.0,
            at="9,000/s",
            remedy="Set connections to 9,000 or more, or allow that by `lengthen: true`.",
        )
    ]
    with pytest.raises(BadInput, match="At 9,000/s a point lasts"):
        budget.check()


def test_with_consent_a_short_point_is_lengthened_and_reported() -> None:
    lengthened = plan(seconds=None, connections=400, lengthen=True, rates=[200.0, 9000.0])
    budget = assess(lengthened, [Entry()], FACTS)
    budget.check()
    assert budget.samples_per_point == (400, 9000)
    assert budget.warnings[0] == warning(
        "points-lengthened", "connections", lengthened=1, points=2, connections=400, most=9000
    )


def test_too_few_seconds_are_refused_even_with_extension_allowed() -> None:
    problems = assess(plan(seconds=0.5, lengthen=True), [Entry()], FACTS).problems
    assert problems == [
        problem(
            "point-too-short",
            "seconds",
            seconds=0.5,
            shortest_s=1.0,
            at="1,000/s",
            remedy="Set seconds to 1 or more.",
        )
    ]


def test_a_point_with_too_few_calls_is_refused() -> None:
    problems = assess(plan(rates=[20.0, 200.0]), [Entry()], FACTS).problems
    assert problems == [
        problem(
            "point-too-small",
            "seconds",
            calls=40,
            fewest=100,
            at="20/s",
            remedy="Set seconds to 5 or more.",
        )
    ]


def test_rates_that_do_not_divide_evenly_are_not_refused_for_their_rounding() -> None:
    assert assess(plan(rates=[333.3], seconds=1.0), [Entry()], FACTS).problems == []


def test_points_too_small_for_a_steady_p99_are_reported() -> None:
    assert assess(plan(rates=[300.0, 400.0, 600.0]), [Entry()], FACTS).warnings == [
        warning("few-samples", "seconds", x=400.0, needed=1000)
    ]


def test_a_server_that_closes_first_leaves_the_clients_ports_free() -> None:
    busy = plan(rates=[5000.0, 6000.0, 7000.0], seconds=5.0)
    budget = assess(busy, [Entry()], FACTS)
    assert budget.problems == []
    assert budget.cool_down_s == {"tornado": [0.2, 0.2, 0.2]}
    assert "rests-for-ports" not in {each.code for each in budget.remarks}


def test_a_client_that_closes_first_waits_until_its_ports_are_free() -> None:
    busy = plan(rates=[5000.0, 6000.0], seconds=4.0)  # 20,000 ports, then 24,000 of 28,232
    budget = assess(busy, [POLITE], FACTS)
    assert budget.problems == []
    assert budget.cool_down_s == {"tornado": [60.0, 0.2]}
    assert warning("rests-for-ports", longest_s=60.0) in budget.remarks
    assert budget.ports_needed == 24_000
    assert budget.duration_s[0] > 60


def test_waits_between_points_are_only_as_long_as_needed() -> None:
    busy = plan(rates=[1000.0, 1001.0, 1002.0, 13_000.0], seconds=2.0)
    rests = assess(busy, [POLITE], FACTS).cool_down_s["tornado"]
    # 26,000 of 28,232 leave room for one earlier point: wait for the first two to expire.
    assert rests[:2] == [0.2, 0.2]
    assert rests[2] == pytest.approx(60 - 2.2)


def test_over_loopback_the_kernel_gives_ports_back_after_a_second() -> None:
    busy = plan(rates=[5000.0, 6000.0], seconds=4.0)
    assert assess(busy, [POLITE], FACTS, loopback=True).cool_down_s == {"tornado": [0.2, 0.2]}


def test_kept_alive_connections_are_closed_by_the_client() -> None:
    keep_alive = a_workload(protocol="http/1.1", calls_per_connection=10, timeout_s=2.0)
    budget = assess(plan(workload=keep_alive, rates=[60_000.0, 70_000.0]), [Entry()], FACTS)
    assert budget.ports_needed == 26_000  # 12,000 and 14,000 connections


def test_more_ports_than_available_are_refused() -> None:
    budget = assess(plan(seconds=None, connections=40_000, rates=[9000.0]), [POLITE], FACTS)
    assert budget.problems == [
        problem(
            "not-enough-ports",
            "connections",
            ports=28232,
            needed=40000,
            addresses=4,
            lacking=3,
            at="9,000/s",
        )
    ]


def test_connections_piling_up_beyond_the_descriptors_are_warned_of() -> None:
    slow = plan(workload=a_workload(timeout_s=60.0), rates=[400.0], seconds=60.0, nofile=10_000)
    assert assess(slow, [Entry()], FACTS).warnings == [
        warning(
            "timeouts-fill",
            "nofile",
            x=400.0,
            connections=24000,
            resource="descriptors",
            available=9936,
        )
    ]


THOUGHTFUL = a_workload(
    protocol="http/1.1", calls_per_connection=12, think_time_s=5.0, timeout_s=2.0
)


def test_think_time_keeps_connections_open_and_the_point_running() -> None:
    mayhem = plan(workload=THOUGHTFUL, rate_of="connections", rates=[500.0], seconds=300.0, looks=1)
    roomy = msgspec.structs.replace(mayhem, nofile=60_000)
    budget = assess(roomy, [Entry()], FACTS, clients=3)
    assert budget.open_at_worst == 500 * (11 * 5 + 2)
    assert budget.duration_s[0] == 300 + 11 * 5 + 0.5 + 0.2
    ports = {"addresses": 1, "wanted": 2, "needed": 19_167, "ports": 28_232}
    slow = warning("few-addresses", "seconds", x=500.0, **ports)
    assert (budget.problems, budget.warnings) == ([], [slow])


@pytest.mark.parametrize(("clients", "where"), [(1, "clients"), (3, "target")])
def test_more_users_than_there_are_descriptors_for_are_refused(clients: int, where: str) -> None:
    mayhem = plan(workload=THOUGHTFUL, rate_of="users", rates=[100.0, 500.0], seconds=300.0)
    budget = assess(mayhem, [Entry()], FACTS, loopback=clients == 1, clients=clients)
    (found,) = budget.problems
    about = [found.parameters[each] for each in ("where", "resource", "available", "fewer")]
    assert about == [where, "descriptors", 19_936, "lower the rate to 344/s at most"]
    assert "27,500 connections that think time keeps open at 500/s" in found.text()
    fitting = plan(workload=THOUGHTFUL, rate_of="users", rates=[344.0], seconds=300.0)
    budget = assess(fitting, [Entry()], FACTS, loopback=clients == 1, clients=clients)
    assert budget.problems == []


@pytest.mark.parametrize(
    ("most", "nofile", "resource"), [(25_000, 20_000, "descriptors"), (30_000, 60_000, "ports")]
)
def test_a_concurrency_beyond_ports_and_descriptors_is_refused(
    most: int, nofile: int, resource: str
) -> None:
    workload = a_workload(mode="closed", timeout_s=2.0)
    closed = plan(workload=workload, rates=[], concurrency=[10, most], nofile=nofile)
    (found,) = assess(closed, [Entry()], FACTS).problems
    assert (found.code, found.parameters["resource"]) == ("too-many-open", resource)
    assert found.parameters["what"] == f"{most:,} concurrent connections"


def test_a_connection_holds_its_port_during_think_time_and_time_wait() -> None:
    users = plan(
        workload=THOUGHTFUL, rate_of="connections", rates=[500.0], seconds=300.0, nofile=60_000
    )
    budget = assess(users, [Entry()], FACTS)
    assert budget.problems == [
        problem(
            "not-enough-ports",
            "seconds",
            ports=28232,
            needed=57500,
            addresses=5,
            lacking=4,
            at="500/s",
        )
    ]


def test_a_client_with_several_addresses_uses_as_many_as_it_needs() -> None:
    users = plan(workload=THOUGHTFUL, rate_of="users", rates=[500.0], seconds=300.0, nofile=60_000)
    few = assess(users, [Entry()], FACTS | {"addresses": 3})
    (warned,) = few.warnings
    assert (few.problems, few.addresses) == ([], 3)
    assert warning("several-addresses", addresses=3, ports=28232) in few.remarks
    said = warned.data()
    assert (warned.code, said["wanted"], said["x"]) == ("few-addresses", 5, 500)
    budget = assess(users, [Entry()], FACTS | {"addresses": 5})
    assert budget.warnings == []
    assert (budget.problems, budget.addresses, budget.ports_free) == ([], 5, 141_160)
    assert warning("several-addresses", addresses=5, ports=28232) in budget.remarks
    # Over loopback, ports are free again after a second, and there are addresses enough.
    budget = assess(users, [Entry()], FACTS, loopback=True)
    assert (budget.problems, budget.addresses, budget.ports_needed) == ([], 3, 28_500)
    assert assess(plan(), [POLITE], FACTS, loopback=True).addresses == 1
    # They are shared by clients.
    assert assess(users, [Entry()], FACTS, loopback=True, clients=3).addresses == 1


def test_users_to_the_ceiling_end_at_the_descriptors_that_their_stay_needs() -> None:
    rates = Range(from_=10.0, to="ceiling", points=4)
    users = plan(workload=THOUGHTFUL, rate_of="users", rates=rates, seconds=300.0, calibrate=True)
    budget = assess(users, [Entry()], FACTS, loopback=True)
    # 19,936 descriptors of agent and server, less 5 % to spare, each for 11 think times of 5 s.
    assert (budget.ceiling_per_s, budget.problems, budget.warnings) == (344.0, [], [])
    assert budget.most_per_s == pytest.approx(0.95 * 19_936 / 55)
    assert budget.addresses == 2
    # One address has fewer ports than that.
    assert assess(users, [Entry()], FACTS).ceiling_per_s == 110.0


def test_random_think_times_make_a_longer_ramp_but_no_more_connections() -> None:
    workload = a_workload(
        protocol="http/1.1", calls_per_connection=13, think_time_s=5.0, think_times="exponential"
    )
    mayhem = plan(workload=workload, rate_of="users", rates=[500.0], seconds=90.0, nofile=65_000)
    budget = assess(mayhem, [Entry()], FACTS, loopback=True)
    # The mean of twelve think times is 60 s, their standard deviation 17.3 s.
    assert [each.code for each in budget.problems] == ["no-steady-part"]
    assert budget.problems[0].text().endswith("Set seconds to 95.7 or more.")
    longer = assess(msgspec.structs.replace(mayhem, seconds=300.0), [Entry()], FACTS, loopback=True)
    assert longer.problems == [] and longer.open_at_worst == 32_500


def test_a_point_that_ends_before_its_first_connections_do_is_refused() -> None:
    users = plan(workload=THOUGHTFUL, rate_of="connections", rates=[50.0], seconds=55.0)
    (found,) = assess(users, [Entry()], FACTS).problems
    assert found.code == "no-steady-part"
    assert found.text().endswith("Set seconds to 56 or more.")
    longer = plan(workload=THOUGHTFUL, rate_of="connections", rates=[50.0], seconds=56.0)
    assert assess(longer, [Entry()], FACTS).problems == []


def test_the_longer_of_two_reasons_to_lengthen_a_point_is_reported() -> None:
    both = assess(plan(rates=[300.0], seconds=0.1), [Entry()], FACTS)
    assert [each.code for each in both.problems] == ["point-too-short"]
    rare = assess(plan(rates=[30.0], seconds=0.9), [Entry()], FACTS)
    assert rare.problems[-1].text().endswith("Set seconds to 3.4 or more.")


def test_a_machine_with_few_descriptors_is_reported() -> None:
    poor = FACTS | {"descriptor_limits": {"soft": 1024, "hard": 4096}}
    assert assess(plan(rates=[500.0]), [Entry()], poor).warnings == [
        warning("few-descriptors", "nofile", where=["client"], allowed=4096, wanted=20000)
    ]
    roomy = poor | {"descriptor_limits": {"soft": 1024, "hard": 8192}}
    assert assess(plan(rates=[500.0]), [Entry()], poor, target_facts=roomy).warnings == [
        warning("few-descriptors", "nofile", where=["client"], allowed=4096, wanted=20000),
        warning("few-descriptors", "nofile", where=["target"], allowed=8192, wanted=20000),
    ]
    here = assess(plan(rates=[500.0]), [Entry()], poor, loopback=True).warnings
    assert [each.text().partition(" allow")[0] for each in here] == ["The client and the target"]


def test_a_target_with_fewer_descriptors_than_connections_is_refused() -> None:
    poor = FACTS | {"descriptor_limits": {"soft": 1024, "hard": 4096}}
    workload = a_workload(mode="closed", timeout_s=2.0)
    crowded = plan(workload=workload, rates=[], concurrency=[10, 6_000])

    def refused(*servers: Entry, **target: Any) -> list[str]:
        return [each.text() for each in assess(crowded, servers, FACTS, **target).problems]

    assert refused(Entry(), target_facts=poor) == [
        "6,000 concurrent connections need as many file descriptors; the target has 4,032. Raise"
        " nofile and the machine's hard limit, or lower concurrency."
    ]
    # Each process of a server has descriptors of its own; those of the smallest server count.
    assert refused(Entry(processes=2), target_facts=poor) == []
    assert refused(Entry(processes=2), Entry(), target_facts=poor)
    # A machine that was never checked may allow any number.
    assert refused(Entry(), target_facts={}) == []


def test_a_server_that_does_not_speak_the_protocol_is_refused() -> None:
    raw = Entry(protocols=["pong"])
    spoken = plan(workload=a_workload(protocol="http/1.1"))
    assert assess(spoken, [raw], FACTS).problems == [
        problem(
            "protocol-not-supported", servers=["Tornado"], protocols=["pong"], wanted="http/1.1"
        )
    ]


def test_the_cost_is_described_in_sentences() -> None:
    budget = assess(plan(rates=Range(from_=1000, to=2000, step=1000)), [Entry()], FACTS)
    assert budget.describe() == [
        "Takes 4.9 to 19 s.",
        "A point has 2,000 to 4,000 calls.",
        "It uses at most 4,000 of 28,232 local ports.",
        "At worst it has 4,000 connections open at once; the clients have 19,936 descriptors for"
        " that.",
        "One pass cannot show significance; 5 passes resolve 10 % in CPU per call (typical"
        " spread).",
    ]


def test_a_single_connection_is_described_in_the_singular() -> None:
    alone = plan(workload=a_workload(mode="closed"), rates=[], concurrency=[1], seconds=5.0)
    sentences = assess(alone, [Entry()], FACTS).describe()
    assert sentences[3].startswith("At worst it has 1 connection open at once;")


def test_needing_more_ports_than_available_is_described_as_the_worst_case() -> None:
    slow = plan(workload=a_workload(timeout_s=60.0), rates=[1000.0], seconds=60.0)
    message = assess(slow, [Entry()], FACTS).describe()
    assert message[2] == "It would use up to 60,000 local ports; there are 28,232."


def test_a_machine_without_facts_is_assumed_to_have_linux_defaults() -> None:
    limits = limits_of({})
    assert (limits.ports, limits.port_reuse_s) == (28_232, 60.0)


def test_a_closed_loop_needs_a_port_for_each_concurrent_connection() -> None:
    closed = plan(workload=a_workload(mode="closed"), rates=[], concurrency=[50, 100])
    budget = assess(closed, [Entry()], FACTS)
    assert budget.problems == []
    assert budget.ports_needed == 100
    assert budget.describe()[1] == "The number of calls per point is not fixed."
