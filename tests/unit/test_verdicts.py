"""Every verdict, from evidence, with its sentence."""

import math
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.analysis.evidence import Evidence, Queue, conserved, queue_of
from workbench.analysis.verdicts import judge
from workbench.documents import ERROR_CLASSES, Counts, Percentiles, Window, error_class

CLASSES = {"timo": "client-timo", "reset": "connreset", "refused": "connrefused"}


def counts(
    scheduled: int = 9_000, *, unsent: int = 0, late: int = 0, in_flight: int = 0, **lost: int
) -> Counts:
    """All that is not lost succeeded."""
    errors = {CLASSES.get(name, name.replace("_", "-")): n for name, n in lost.items()}
    assert all(error_class(name) == name or name.startswith("other") for name in errors)
    return Counts(
        scheduled=scheduled,
        unsent=unsent,
        sent=scheduled - unsent,
        late=late,
        established=scheduled - unsent,
        succeeded=scheduled - unsent - in_flight - sum(errors.values()),
        errors=errors,
        in_flight=in_flight,
    )


def lateness(p99: int, count: int = 9_000) -> Percentiles:
    return Percentiles(count=count, p50=20, p90=60, p99=p99, p999=p99, max=p99)


HELD = Evidence(
    server="Tornado",
    counts=counts(),
    seconds=1.5,
    offered_per_s=6_000,
    lateness_us=lateness(400),
    client_cpu_pct=40,
    workers=1,
    client_cores=1,
    queue=Queue(due=9_000, replied=8_990, connections=9_000, open_halfway=12, open_at_end=10),
    ceiling_per_s=12_000,
)
STEADY_QUEUE = replace(HELD.queue, replied=8_600, open_halfway=380, open_at_end=400)
LOSS = st.one_of(st.just(0), st.integers(0, 200), st.integers(0, 50_000))
LONG_QUEUE = replace(HELD.queue, replied=6_000, open_halfway=1_500, open_at_end=3_000)


@pytest.mark.parametrize(
    ("case", "changes", "verdict", "sentences"),
    [
        ("all calls succeed", {}, "ok", []),
        ("one call in a hundred is lost", {"counts": counts(timo=90)}, "ok", []),
        (
            "more than one in a hundred is lost",
            {"counts": counts(timo=80, reset=11)},
            "server-limited",
            ["Tornado lost 91 of 9,000 calls (1.0 %): 80 timed out, 11 were reset."],
        ),
        (
            "all kinds of losses",
            {
                "counts": counts(
                    timo=700, socket_timo=60, refused=50, reset=40, protocol=30, other_EPIPE=20,
                    in_flight=10,
                )
            },
            "server-limited",
            [
                "Tornado lost 910 of 9,000 calls (10.1 %): 700 timed out, 60 timed out while "
                "connecting, 50 were refused, 40 were reset, 30 got a wrong answer, 20 failed "
                "otherwise, 10 were never answered."
            ],
        ),
        (
            "the kernel explains the losses",
            {"counts": counts(timo=900), "counters": {"ListenOverflows": 1_204}},
            "server-limited",
            [
                "Tornado lost 900 of 9,000 calls (10.0 %): 900 timed out.",
                "Its accept queue overflowed 1,204 times.",
            ],
        ),
        (
            "the accept queue overflowed but every retry came through",
            {"counters": {"ListenOverflows": 1}},
            "ok",
            [
                "Tornado held, but its accept queue overflowed once; those clients waited a second "
                "or more."
            ],
        ),
        (
            "everything is answered, but by working off a queue afterwards",
            {"queue": LONG_QUEUE},
            "server-limited",
            [
                "Tornado fell behind: it answered 6,000 of 9,000 calls while they came in, and "
                "3,000 connections were waiting at the end."
            ],
        ),
        ("a slow server whose queue does not grow keeps up", {"queue": STEADY_QUEUE}, "ok", []),
        (
            "the clients were late and another core is free",
            {
                "counts": counts(late=4_000),
                "lateness_us": lateness(31_000),
                "client_cores": 2,
            },
            "client-limited",
            [
                "The clients started 44.4 % of their connections more than 5 ms late (p99 31 ms). "
                "Give them another worker."
            ],
        ),
        (
            "the clients were late and all their cores are used",
            {"counts": counts(late=4_000), "lateness_us": lateness(31_000)},
            "client-limited",
            [
                "The clients started 44.4 % of their connections more than 5 ms late (p99 31 ms). "
                "Add a client machine."
            ],
        ),
        (
            "a hiccup of the clients shows in the latencies, and is told",
            {"counts": counts(late=200), "lateness_us": lateness(12_000)},
            "ok",
            [
                "The latency includes the clients' own lateness (p99 12 ms), the service time "
                "does not."
            ],
        ),
        (
            "other programs take CPU and the point holds",
            {"others_cpu_pct": 48.4},
            "ok",
            [
                "Tornado held this although other programs took 48 % of a core; response times "
                "may be longer for it."
            ],
        ),
        ("other programs take a little CPU", {"others_cpu_pct": 20.0}, "ok", []),
        (
            "the server falls behind while other programs take CPU",
            {"queue": LONG_QUEUE, "others_cpu_pct": 30.0},
            "inconclusive",
            [
                "Other programs took 30 % of a core from server and clients. Run it again when "
                "the machine is quiet.",
                "Tornado fell behind: it answered 6,000 of 9,000 calls while they came in, and "
                "3,000 connections were waiting at the end.",
            ],
        ),
        (
            "the clients are late while other programs take CPU",
            {
                "counts": counts(late=4_000),
                "lateness_us": lateness(31_000),
                "others_cpu_pct": 90.0,
            },
            "inconclusive",
            [
                "Other programs took 90 % of a core from server and clients. Run it again when "
                "the machine is quiet.",
                "The clients started 44.4 % of their connections more than 5 ms late (p99 31 ms). "
                "Add a client machine.",
            ],
        ),
        (
            "ports run out, whatever other programs do",
            {"counts": counts(addrunavail=500), "others_cpu_pct": 90.0},
            "ports-limited",
            [
                "The clients ran out of local ports 500 times. Widen their port range, add a "
                "client, or cool down longer."
            ],
        ),
        (
            "several signs of the clients, and what helps against them is told once",
            {
                "counts": counts(unsent=500, late=4_000),
                "lateness_us": lateness(31_000),
                "queue": LONG_QUEUE,
                "client_cpu_pct": 95.0,
            },
            "inconclusive",
            [
                "The clients never started 500 of 9,000 calls.",
                "The clients started 44.4 % of their connections more than 5 ms late (p99 31 ms).",
                "The busiest client worker used 95 % of its core. Add a client machine.",
                "Tornado fell behind: it answered 6,000 of 9,000 calls while they came in, and "
                "3,000 connections were waiting at the end.",
            ],
        ),
        (
            "the clients never started some calls",
            {"counts": counts(unsent=500)},
            "client-limited",
            ["The clients never started 500 of 9,000 calls. Add a client machine."],
        ),
        (
            "the clients ran out of descriptors",
            {"counts": counts(fd_unavail=300, ftab_full=12)},
            "client-limited",
            [
                "The clients ran out of descriptors 312 times. Raise nofile, or shorten the "
                "timeout."
            ],
        ),
        (
            "the clients ran out of ports",
            {"counts": counts(addrunavail=812)},
            "ports-limited",
            [
                "The clients ran out of local ports 812 times. Widen their port range, add a "
                "client, or cool down longer."
            ],
        ),
        (
            "ports and descriptors are both the clients' own",
            {"counts": counts(addrunavail=812, fd_unavail=300)},
            "ports-limited",
            [
                "The clients ran out of local ports 812 times. Widen their port range, add a "
                "client, or cool down longer.",
                "The clients ran out of descriptors 300 times. Raise nofile, or shorten the "
                "timeout.",
            ],
        ),
        (
            "no route",
            {"counts": counts(other_ENETUNREACH=9_000)},
            "network-limited",
            [
                "The network could not reach Tornado for 9,000 of 9,000 calls. Check the route "
                "between the machines."
            ],
        ),
        ("a busy client that kept its schedule is not blamed", {"client_cpu_pct": 97}, "ok", []),
        (
            "a busy client and a server that loses calls",
            {"client_cpu_pct": 97, "counts": counts(timo=900)},
            "inconclusive",
            [
                "The busiest client worker used 97 % of its core. Add a client machine.",
                "Tornado lost 900 of 9,000 calls (10.0 %): 900 timed out.",
            ],
        ),
        (
            "late clients and a server that falls behind",
            {
                "counts": counts(late=4_000),
                "lateness_us": lateness(31_000),
                "queue": LONG_QUEUE,
            },
            "inconclusive",
            [
                "The clients started 44.4 % of their connections more than 5 ms late (p99 31 ms). "
                "Add a client machine.",
                "Tornado fell behind: it answered 6,000 of 9,000 calls while they came in, and "
                "3,000 connections were waiting at the end.",
            ],
        ),
        (
            "losses beyond what the clients reach against the null server",
            {"counts": counts(timo=900), "ceiling_per_s": 5_000},
            "client-limited",
            [
                "The clients reached no more than 5,000/s against the null server, so 6,000/s says "
                "nothing about Tornado. Add a client machine."
            ],
        ),
        (
            "losses where the clients held no rate against the null server",
            {"counts": counts(timo=900), "ceiling_per_s": 0},
            "client-limited",
            [
                "The clients held no rate against the null server, so 6,000/s says nothing about "
                "Tornado. Add a client machine."
            ],
        ),
        (
            "losses beyond the ceiling while other programs take CPU",
            {"counts": counts(timo=900), "ceiling_per_s": 5_000, "others_cpu_pct": 80},
            "inconclusive",
            [
                "Other programs took 80 % of a core from server and clients. Run it again when "
                "the machine is quiet.",
                "The clients reached no more than 5,000/s against the null server, so 6,000/s says "
                "nothing about Tornado.",
            ],
        ),
        (
            "losses beyond a ceiling that was found while other programs took CPU",
            {"counts": counts(timo=900), "ceiling_per_s": 5_000, "ceiling_others_pct": 80},
            "inconclusive",
            [
                "Other programs took 80 % of a core while the clients' own ceiling was looked for;"
                " it may be higher. Run it again when the machine is quiet.",
                "The clients reached no more than 5,000/s against the null server, so 6,000/s says "
                "nothing about Tornado.",
            ],
        ),
        ("held beyond the measured ceiling", {"ceiling_per_s": 5_000}, "ok", []),
        (
            "offered a hair more than the ceiling, by rounding",
            {"counts": counts(timo=900), "ceiling_per_s": 5_995},
            "server-limited",
            ["Tornado lost 900 of 9,000 calls (10.0 %): 900 timed out."],
        ),
        (
            "a little lost on both sides",
            {"counts": counts(unsent=45, timo=50)},
            "inconclusive",
            [
                "98.9 % of the calls succeeded: the clients lost 45, Tornado 50, neither enough "
                "to be called the cause. Run it again."
            ],
        ),
        (
            "interrupted",
            {"complete": False, "counts": counts(timo=9_000)},
            "inconclusive",
            ["The point was interrupted; its figures count for nothing."],
        ),
        (
            "a call is missing from the sum",
            {"counts": msgspec.structs.replace(counts(), succeeded=8_990)},
            "inconclusive",
            [
                "The audit failed: 9,000 calls were scheduled and 8,990 are accounted for. Please "
                "report this."
            ],
        ),
        (
            "a worker's audit failed",
            {"conserved": False},
            "inconclusive",
            ["The audit failed: a client's own figures do not add up. Please report this."],
        ),
        (
            "too few calls",
            {"counts": counts(99)},
            "inconclusive",
            [
                "The point holds 99 calls; a verdict needs 100. Give it more connections or more "
                "seconds."
            ],
        ),
        (
            "too short",
            {"seconds": 0.4},
            "inconclusive",
            [
                "The point lasted 0.4 s; a verdict needs 1 s. Give it more connections or more "
                "seconds."
            ],
        ),
        (
            "nobody answers",
            {"counts": counts(refused=9_000)},
            "server-limited",
            ["Tornado lost 9,000 of 9,000 calls (100.0 %): 9,000 were refused."],
        ),
        (
            "a closed loop has no lateness, queue or rate",
            {"lateness_us": None, "queue": None, "offered_per_s": 0.0},
            "ok",
            [],
        ),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)  # fmt: skip
def test_verdict_when(
    case: str, changes: dict[str, Any], verdict: str, sentences: list[str]
) -> None:
    assert judge(replace(HELD, **changes)) == (verdict, sentences), case


@example(succeeded=10_000, unsent=60, in_flight=0, errors={}, cpu=0, ceiling=None)
@given(
    succeeded=LOSS,
    unsent=LOSS,
    in_flight=LOSS,
    errors=st.dictionaries(st.sampled_from([*ERROR_CLASSES, "other-EHOSTUNREACH"]), LOSS),
    cpu=st.floats(0, 120),
    ceiling=st.none() | st.floats(0, 20_000),
)
def test_whatever_happens_ok_means_held_and_all_else_has_a_reason(
    *,
    succeeded: int,
    unsent: int,
    in_flight: int,
    errors: dict[str, int],
    cpu: float,
    ceiling: float | None,
) -> None:
    scheduled = succeeded + unsent + in_flight + sum(errors.values())
    counted = Counts(
        scheduled=scheduled,
        unsent=unsent,
        sent=scheduled - unsent,
        late=0,
        established=0,
        succeeded=succeeded,
        errors=errors,
        in_flight=in_flight,
    )
    evidence = replace(HELD, counts=counted, client_cpu_pct=cpu, ceiling_per_s=ceiling)
    verdict, reasons = judge(evidence)
    held = scheduled >= 100 and succeeded >= 0.99 * scheduled
    assert (verdict == "ok") == held
    assert reasons or verdict == "ok"
    assert all(math.isfinite(figure) for figure in evidence.figures().values())


def test_the_figures_of_the_evidence_are_kept_with_the_verdict() -> None:
    figures = replace(HELD, counts=counts(timo=900, late=90), counters={"ListenDrops": 7}).figures()
    assert figures["success_share"] == 0.9
    assert figures["server_errors_share"] == 0.1
    assert figures["late_share"] == 0.01
    assert figures["lateness_p99_us"] == 400.0
    assert figures["ListenDrops"] == 7.0
    assert all(isinstance(value, float) for value in figures.values())


def test_the_audit_accounts_for_every_call() -> None:
    assert conserved(counts(timo=3, unsent=4, in_flight=5))


@pytest.mark.parametrize("change", [{"succeeded": 8_999}, {"unsent": 1}, {"in_flight": -1}])
def test_the_audit_fails_when_a_call_is_missing_or_counted_twice(change: dict[str, int]) -> None:
    assert not conserved(msgspec.structs.replace(counts(), **change))


def test_the_audit_is_not_fooled_by_a_negative_count() -> None:
    assert not conserved(msgspec.structs.replace(counts(timo=2), in_flight=-2, succeeded=9_000))


def test_a_queue_is_read_from_the_windows_of_the_schedule() -> None:
    # 1,000 due a window, 900 answered: 100 more wait after each. The last one drains.
    open_after = [100, 200, 300, 400, 500, 0]
    windows = [window(i, n) for i, n in enumerate(open_after)]
    queue = queue_of(windows, seconds=1.0)
    assert queue is not None
    assert (queue.due, queue.replied, queue.connections) == (5000, 4500, 5000)
    assert (queue.open_halfway, queue.open_at_end) == (200, 500)
    assert queue.growing


def window(index: int, open_after: int) -> Window:
    return Window(
        t_us=index * 200_000,
        point=1,
        index=index,
        due=1000,
        sent=1000,
        late=0,
        established=1000,
        replies=900,
        in_flight=open_after,
    )


@pytest.mark.parametrize(("halfway", "end"), [(3, 9), (30, 45), (400, 400), (900, 0)])
def test_a_queue_that_sways_does_not_grow(halfway: int, end: int) -> None:
    queue = Queue(due=150, replied=150, connections=150, open_halfway=halfway, open_at_end=end)
    assert not queue.growing


def test_a_schedule_of_a_single_window_tells_no_queue() -> None:
    assert queue_of([window(0, 100)], seconds=0.39) is None


def test_connections_kept_open_by_thinking_are_no_queue() -> None:
    windows = [window(i, 100 * i) for i in range(50)]
    assert queue_of(windows, 10.0, calls_per_connection=12, think_time_s=5.0) is None
    assert queue_of(windows, 10.0, calls_per_connection=12, think_time_s=0.1) is not None
