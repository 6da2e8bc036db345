"""Every verdict, from evidence, with its reasons."""

import math
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.analysis.evidence import Evidence, Fault, Queue, conserved, queue_of
from workbench.analysis.verdicts import judge
from workbench.documents import ERROR_CLASSES, Counts, Percentiles, Window, error_class
from workbench.messages import reasons as said
from workbench.messages.base import Message

CLASSES = {"timo": "client-timo", "reset": "connreset", "refused": "connrefused"}


def counts(
    scheduled: int = 9_000, *, unsent: int = 0, late: int = 0, in_flight: int = 0, **lost: int
) -> Counts:
    """All that is not lost succeeded."""
    errors = {CLASSES.get(name, name.replace("_", "-")): n for name, n in lost.items()}
    assert all(error_class(name) in ERROR_CLASSES for name in errors)
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
QUEUED = Percentiles(count=9_000, p50=200_000, p90=310_000, p99=400_000, p999=410_000, max=420_000)
LOSS = st.one_of(st.just(0), st.integers(0, 200), st.integers(0, 50_000))
LONG_QUEUE = replace(HELD.queue, replied=6_000, open_halfway=1_500, open_at_end=3_000)


@pytest.mark.parametrize(
    ("case", "changes", "verdict", "reasons"),
    [
        ("all calls succeed", {}, "ok", []),
        ("one call in a hundred is lost", {"counts": counts(timo=90)}, "ok", []),
        (
            "more than one in a hundred is lost",
            {"counts": counts(timo=80, reset=11)},
            "server-limited",
            [said.CallsFailed(failed=91, calls=9000, errors={"client-timo": 80, "connreset": 11})],
        ),
        (
            "all kinds of losses",
            {
                "counts": counts(
                    timo=700,
                    socket_timo=60,
                    refused=50,
                    reset=40,
                    protocol=30,
                    other_EPIPE=20,
                    in_flight=10,
                )
            },
            "server-limited",
            [
                said.CallsFailed(
                    failed=910,
                    calls=9000,
                    errors={
                        "client-timo": 700,
                        "socket-timo": 60,
                        "connrefused": 50,
                        "connreset": 40,
                        "protocol": 30,
                        "other-EPIPE": 20,
                        "in flight": 10,
                    },
                )
            ],
        ),
        (
            "the kernel explains the losses",
            {"counts": counts(timo=900), "counters": {"ListenOverflows": 1_204}},
            "server-limited",
            [
                said.CallsFailed(failed=900, calls=9000, errors={"client-timo": 900}),
                said.AcceptQueueOverflowed(times=1204),
            ],
        ),
        (
            "the accept queue overflowed but every retry came through",
            {"counters": {"ListenOverflows": 1}},
            "ok",
            [said.SustainedWithOverflows(times=1)],
        ),
        (
            "everything is answered, but by working off a queue afterwards",
            {"queue": LONG_QUEUE},
            "server-limited",
            [said.FellBehind(replied=6000, calls=9000, waiting=3000)],
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
            [said.ClientsLate(late_share=0.444444, p99_us=31000, relief="worker")],
        ),
        (
            "the clients were late and all their cores are used",
            {"counts": counts(late=4_000), "lateness_us": lateness(31_000)},
            "client-limited",
            [said.ClientsLate(late_share=0.444444, p99_us=31000, relief="machine")],
        ),
        (
            "a hiccup of the clients shows in the latencies and is reported",
            {"counts": counts(late=200), "lateness_us": lateness(12_000)},
            "ok",
            [said.LatencyIncludesLateness(p99_us=12000)],
        ),
        (
            "slightly late with a minority of calls, all answered",
            {"counts": counts(late=2_000), "lateness_us": lateness(6_000)},
            "ok",
            [said.LatencyIncludesLateness(p99_us=6000)],
        ),
        (
            "slightly late with most calls",
            {"counts": counts(late=8_000), "lateness_us": lateness(6_000)},
            "client-limited",
            [said.ClientsLate(late_share=0.888889, p99_us=6000, relief="machine")],
        ),
        (
            "other programs take CPU and the rate is sustained",
            {"others_cpu_pct": 48.4},
            "ok",
            [said.SustainedUnderBackgroundLoad(cpu_pct=48.4)],
        ),
        ("other programs take a little CPU", {"others_cpu_pct": 20.0}, "ok", []),
        (
            "the server falls behind while other programs take CPU",
            {"queue": LONG_QUEUE, "others_cpu_pct": 30.0},
            "inconclusive",
            [
                said.BackgroundLoad(cpu_pct=30.0),
                said.FellBehind(replied=6000, calls=9000, waiting=3000),
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
                said.BackgroundLoad(cpu_pct=90.0),
                said.ClientsLate(late_share=0.444444, p99_us=31000, relief="machine"),
            ],
        ),
        (
            "ports run out, whatever other programs do",
            {"counts": counts(addrunavail=500), "others_cpu_pct": 90.0},
            "ports-limited",
            [said.OutOfPorts(times=500)],
        ),
        (
            "descriptors run out, whatever other programs do and however late clients are",
            {
                "counts": counts(fd_unavail=300, late=4_000),
                "lateness_us": lateness(31_000),
                "others_cpu_pct": 90.0,
                "ceiling_per_s": 5_000,
            },
            "client-limited",
            [said.OutOfDescriptors(times=300)],
        ),
        (
            "descriptors run out among other errors, while other programs take CPU",
            {"counts": counts(fd_unavail=300, timo=900), "others_cpu_pct": 90.0},
            "inconclusive",
            [
                said.BackgroundLoad(cpu_pct=90.0),
                said.OutOfDescriptors(times=300),
                said.CallsFailed(failed=900, calls=8700, errors={"client-timo": 900}),
            ],
        ),
        (
            "several signs of the clients, and the remedy is stated once",
            {
                "counts": counts(unsent=500, late=4_000),
                "lateness_us": lateness(100_000),
                "queue": LONG_QUEUE,
                "client_cpu_pct": 95.0,
            },
            "inconclusive",
            [
                said.CallsUnsent(unsent=500, calls=9000, relief=""),
                said.ClientsLate(late_share=0.444444, p99_us=100000, relief=""),
                said.ClientBusy(cpu_pct=95.0, relief="machine"),
                said.FellBehind(replied=6000, calls=9000, waiting=3000),
            ],
        ),
        (
            "the clients never started some calls",
            {"counts": counts(unsent=500)},
            "client-limited",
            [said.CallsUnsent(unsent=500, calls=9000, relief="machine")],
        ),
        (
            "the clients ran out of descriptors",
            {"counts": counts(fd_unavail=300, ftab_full=12)},
            "client-limited",
            [said.OutOfDescriptors(times=312)],
        ),
        (
            "the clients ran out of ports",
            {"counts": counts(addrunavail=812)},
            "ports-limited",
            [said.OutOfPorts(times=812)],
        ),
        (
            "ports and descriptors are both the clients' own",
            {"counts": counts(addrunavail=812, fd_unavail=300)},
            "ports-limited",
            [said.OutOfPorts(times=812), said.OutOfDescriptors(times=300)],
        ),
        (
            "no route",
            {"counts": counts(other_ENETUNREACH=9_000)},
            "network-limited",
            [said.Unreachable(failed=9000, calls=9000)],
        ),
        (
            "a link that loses packets is not charged to the server",
            {"counts": counts(timo=600), "counters": {"RetransSegs": 412}},
            "network-limited",
            [
                said.LossyLink(segments=412, calls=9000),
                said.CallsFailed(failed=600, calls=9000, errors={"client-timo": 600}),
            ],
        ),
        (
            "retransmissions of the clients count, too",
            {"counts": counts(timo=600), "resent_by_clients": 412},
            "network-limited",
            [
                said.LossyLink(segments=412, calls=9000, by_clients=412),
                said.CallsFailed(failed=600, calls=9000, errors={"client-timo": 600}),
            ],
        ),
        (
            "a link that loses packets was in the way of the null server, too",
            {
                "counts": counts(timo=600),
                "counters": {"RetransSegs": 412},
                "ceiling_per_s": 0.0,
            },
            "network-limited",
            [
                said.LossyLink(segments=412, calls=9000),
                said.CallsFailed(failed=600, calls=9000, errors={"client-timo": 600}),
                said.NoClientLimit(offered_per_s=6000),
            ],
        ),
        (
            "connections that are not established in time",
            {"counts": msgspec.structs.replace(counts(timo=9_000), established=0)},
            "network-limited",
            [
                said.NotEstablished(missing=9000, connections=9000),
                said.CallsFailed(failed=9000, calls=9000, errors={"client-timo": 9000}),
            ],
        ),
        (
            "packets that wait before a link too slow for them",
            {"counts": counts(timo=900), "connect_us": QUEUED, "timeout_s": 1.0},
            "network-limited",
            [
                said.SlowConnections(connect_p90_us=310_000),
                said.CallsFailed(failed=900, calls=9000, errors={"client-timo": 900}),
            ],
        ),
        (
            "packets that wait, and everything is answered in the end",
            {"queue": LONG_QUEUE, "connect_us": QUEUED, "timeout_s": 10.0},
            "network-limited",
            [
                said.SlowConnections(connect_p90_us=310_000),
                said.FellBehind(replied=6000, calls=9000, waiting=3000),
            ],
        ),
        (
            "late replies seen by late clients are their own",
            {
                "counts": counts(timo=900, late=9_000),
                "lateness_us": lateness(250_000),
                "connect_us": QUEUED,
                "timeout_s": 1.0,
            },
            "inconclusive",
            [
                said.ClientsLate(late_share=1.0, p99_us=250_000, relief="machine"),
                said.CallsFailed(failed=900, calls=9000, errors={"client-timo": 900}),
            ],
        ),
        (
            "connections that are not established because an accept queue is full",
            {
                "counts": msgspec.structs.replace(counts(timo=900), established=8_100),
                "counters": {"ListenOverflows": 2_000},
            },
            "server-limited",
            [
                said.CallsFailed(failed=900, calls=9000, errors={"client-timo": 900}),
                said.AcceptQueueOverflowed(times=2000),
            ],
        ),
        (
            "a link that was found lossy before the run is a sign, too",
            {"counts": counts(timo=600), "link_lost_share": 0.031},
            "network-limited",
            [
                said.LossyLink(segments=0, calls=9000, measured_share=0.031),
                said.CallsFailed(failed=600, calls=9000, errors={"client-timo": 600}),
            ],
        ),
        (
            "far more than a lossy link explains",
            {"counts": counts(timo=4_000), "link_lost_share": 0.031},
            "server-limited",
            [said.CallsFailed(failed=4000, calls=9000, errors={"client-timo": 4000})],
        ),
        (
            "a link that lost next to nothing",
            {"counts": counts(timo=600), "link_lost_share": 0.002},
            "server-limited",
            [said.CallsFailed(failed=600, calls=9000, errors={"client-timo": 600})],
        ),
        (
            "a few retransmissions are no sign",
            {"counts": counts(timo=600), "counters": {"RetransSegs": 80}},
            "server-limited",
            [said.CallsFailed(failed=600, calls=9000, errors={"client-timo": 600})],
        ),
        (
            "what a full accept queue drops is retransmitted, too",
            {
                "counts": counts(timo=600),
                "counters": {"RetransSegs": 412, "ListenOverflows": 300, "ListenDrops": 300},
            },
            "server-limited",
            [
                said.CallsFailed(failed=600, calls=9000, errors={"client-timo": 600}),
                said.AcceptQueueOverflowed(times=300),
            ],
        ),
        (
            "loopback loses nothing",
            {"counts": counts(timo=600), "counters": {"RetransSegs": 412}, "loopback": True},
            "server-limited",
            [said.CallsFailed(failed=600, calls=9000, errors={"client-timo": 600})],
        ),
        (
            "no link gives unexpected responses",
            {"counts": counts(protocol=600), "counters": {"RetransSegs": 412}},
            "faulty",
            [said.UnexpectedReplies(error="protocol", failed=600, calls=9000)],
        ),
        ("a lossy link where all was answered", {"counters": {"RetransSegs": 412}}, "ok", []),
        ("a busy client that kept its schedule is not blamed", {"client_cpu_pct": 97}, "ok", []),
        (
            "a busy client and a server that loses calls",
            {"client_cpu_pct": 97, "counts": counts(timo=900)},
            "inconclusive",
            [
                said.ClientBusy(cpu_pct=97, relief="machine"),
                said.CallsFailed(failed=900, calls=9000, errors={"client-timo": 900}),
            ],
        ),
        (
            "late clients and a server that falls behind",
            {
                "counts": counts(late=4_000),
                "lateness_us": lateness(100_000),
                "queue": LONG_QUEUE,
            },
            "inconclusive",
            [
                said.ClientsLate(late_share=0.444444, p99_us=100000, relief="machine"),
                said.FellBehind(replied=6000, calls=9000, waiting=3000),
            ],
        ),
        (
            "more calls wait than lateness can explain",
            {
                "counts": counts(late=4_000),
                "lateness_us": lateness(31_000),
                "queue": LONG_QUEUE,
            },
            "server-limited",
            [
                said.FellBehind(replied=6000, calls=9000, waiting=3000),
                said.ClientsLate(late_share=0.444444, p99_us=31000, relief=""),
            ],
        ),
        (
            "clients that are late with as many connections as wait",
            {
                "counts": counts(late=9_000),
                "lateness_us": lateness(250_000),
                "queue": LONG_QUEUE,
            },
            "client-limited",
            [said.ClientsLate(late_share=1.0, p99_us=250000, relief="machine")],
        ),
        (
            "calls that time out after a second, of clients that were late by hundredths",
            {
                "counts": counts(timo=900, late=4_000),
                "lateness_us": lateness(31_000),
                "timeout_s": 1.0,
            },
            "server-limited",
            [
                said.CallsFailed(failed=900, calls=9000, errors={"client-timo": 900}),
                said.ClientsLate(late_share=0.444444, p99_us=31000, relief=""),
            ],
        ),
        (
            "calls that time out of clients that were late by as much",
            {
                "counts": counts(timo=900, late=4_000),
                "lateness_us": lateness(310_000),
                "timeout_s": 1.0,
            },
            "inconclusive",
            [
                said.ClientsLate(late_share=0.444444, p99_us=310000, relief="machine"),
                said.CallsFailed(failed=900, calls=9000, errors={"client-timo": 900}),
            ],
        ),
        (
            "few connections of many calls, of which half were answered in time",
            {
                "queue": Queue(
                    due=216,
                    replied=110,
                    connections=43,
                    open_halfway=18,
                    open_at_end=34,
                    steady_share=0.55,
                )
            },
            "server-limited",
            [said.FellBehind(replied=110, calls=216, waiting=34)],
        ),
        (
            "losses beyond what the clients reach against the null server",
            {"counts": counts(timo=900), "ceiling_per_s": 5_000},
            "client-limited",
            [said.BeyondClientLimit(offered_per_s=6000, limit_per_s=5000, relief="machine")],
        ),
        (
            "losses where the clients reached no rate against the null server",
            {"counts": counts(timo=900), "ceiling_per_s": 0},
            "client-limited",
            [said.NoClientLimit(offered_per_s=6000, relief="machine")],
        ),
        (
            "losses beyond the client limit while other programs take CPU",
            {"counts": counts(timo=900), "ceiling_per_s": 5_000, "others_cpu_pct": 80},
            "inconclusive",
            [
                said.BackgroundLoad(cpu_pct=80),
                said.BeyondClientLimit(offered_per_s=6000, limit_per_s=5000, relief=""),
            ],
        ),
        (
            "losses beyond a client limit measured while other programs took CPU",
            {"counts": counts(timo=900), "ceiling_per_s": 5_000, "ceiling_others_pct": 80},
            "inconclusive",
            [
                said.BackgroundLoadAtCalibration(cpu_pct=80),
                said.BeyondClientLimit(offered_per_s=6000, limit_per_s=5000, relief=""),
            ],
        ),
        ("sustained beyond the measured client limit", {"ceiling_per_s": 5_000}, "ok", []),
        (
            "offered slightly more than the client limit, by rounding",
            {"counts": counts(timo=900), "ceiling_per_s": 5_995},
            "server-limited",
            [said.CallsFailed(failed=900, calls=9000, errors={"client-timo": 900})],
        ),
        (
            "a little lost on both sides",
            {"counts": counts(unsent=45, timo=50)},
            "inconclusive",
            [said.NoSingleCause(succeeded=8905, calls=9000, clients=45, server=50)],
        ),
        (
            "interrupted",
            {"complete": False, "counts": counts(timo=9_000)},
            "inconclusive",
            [said.Interrupted()],
        ),
        (
            "a call is missing from the sum",
            {"counts": msgspec.structs.replace(counts(), succeeded=8_990)},
            "inconclusive",
            [said.AuditFailed(scheduled=9000, found=8990)],
        ),
        (
            "a worker's audit failed",
            {"conserved": False},
            "inconclusive",
            [said.ClientAuditFailed()],
        ),
        (
            "too few calls",
            {"counts": counts(99)},
            "inconclusive",
            [said.TooFewCalls(calls=99, needed=100)],
        ),
        (
            "too short",
            {"seconds": 0.4},
            "inconclusive",
            [said.TooShort(seconds=0.4, needed_s=1.0)],
        ),
        (
            "no call is answered",
            {"counts": counts(refused=9_000)},
            "server-limited",
            [said.CallsFailed(failed=9000, calls=9000, errors={"connrefused": 9000})],
        ),
        (
            "a closed loop has no lateness, queue or rate",
            {"lateness_us": None, "queue": None, "offered_per_s": 0.0},
            "ok",
            [],
        ),
    ],
    ids=lambda value: value.replace(" ", "-") if isinstance(value, str) else "",
)
def test_verdict_when(
    case: str, changes: dict[str, Any], verdict: str, reasons: list[Message]
) -> None:
    assert judge(replace(HELD, **changes)) == (verdict, reasons), case


WRONG = {
    "a wrong body": {"protocol_body": 8_000},
    "500": {"protocol_500": 8_000},
    "503": {"protocol_503": 8_000},
    "404": {"protocol_404": 8_000},
    "replies cut short": {"protocol_cut": 8_000},
    "closed after 3 of 10 calls": {"protocol_closed": 6_300},
    "resets": {"reset": 8_000},
    "no HTTP": {"protocol_malformed": 8_000},
    "one of fifty": {"protocol_500": 180},
}
CALM = replace(HELD, server_cpu_pct=6.0)
BUSY = replace(CALM, others_cpu_pct=97.0)
SATURATED: dict[str, dict[str, Any]] = {
    "its core is full": {"server_cpu_pct": 93.0},
    "what others leave of its core is used": {"server_cpu_pct": 34.0, "others_cpu_pct": 97.0},
    "connections pile up": {"queue": LONG_QUEUE},
    "the accept queue overflows": {"counters": {"ListenOverflows": 800, "OutRsts": 8_000}},
}


@pytest.mark.parametrize("lost", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("evidence", [HELD, CALM, BUSY], ids=["unwatched", "calm", "busy"])
def test_a_server_with_unexpected_responses_is_faulty(
    evidence: Evidence, lost: dict[str, int]
) -> None:
    counters = {"OutRsts": 8_000}
    verdict, reasons = judge(replace(evidence, counts=counts(**lost), counters=counters))
    ((_, failed),) = lost.items()
    assert verdict == "faulty"
    (reason,) = reasons
    assert isinstance(reason, said.UnexpectedReplies) and reason.failed == failed


@pytest.mark.parametrize(
    "changes",
    [
        {"counts": counts(late=4_000, protocol_500=8_000), "lateness_us": lateness(31_000)},
        {"counts": counts(unsent=400, protocol_500=8_000)},
        {"counts": counts(protocol_500=8_000), "client_cpu_pct": 99.0},
        {"counts": counts(protocol_500=8_000), "counters": {"RetransSegs": 412}},
        {"counts": counts(protocol_500=8_000), "ceiling_per_s": None},
    ],
    ids=["late clients", "unsent calls", "busy clients", "a lossy link", "no client limit"],
)
def test_no_other_cause_excuses_a_wrong_response(changes: dict[str, Any]) -> None:
    assert judge(replace(CALM, **changes))[0] == "faulty"


def test_no_server_is_faulty_beyond_the_client_limit() -> None:
    wrong = replace(CALM, counts=counts(protocol_500=8_000), ceiling_per_s=5_000)
    assert judge(wrong)[0] == "client-limited"


@pytest.mark.parametrize("signs", SATURATED.values(), ids=SATURATED)
@pytest.mark.parametrize("kind", ["protocol_503", "protocol_502", "reset", "protocol_closed"])
def test_load_shed_by_a_saturated_server_is_a_limit(kind: str, signs: dict[str, Any]) -> None:
    lost: dict[str, int] = {kind: 3_000}
    verdict, reasons = judge(replace(CALM, counts=counts(**lost), **signs))
    assert verdict == ("inconclusive" if "others_cpu_pct" in signs else "server-limited")
    assert not any(isinstance(reason, said.UnexpectedReplies) for reason in reasons)


def test_refusals_together_with_timeouts_are_a_limit() -> None:
    evidence = replace(CALM, counts=counts(protocol_503=2_000, timo=100))
    assert judge(evidence)[0] == "server-limited"


@pytest.mark.parametrize("signs", SATURATED.values(), ids=SATURATED)
@pytest.mark.parametrize("kind", ["protocol_body", "protocol_malformed", "protocol_404"])
def test_no_load_makes_a_healthy_server_answer_differently(
    kind: str, signs: dict[str, Any]
) -> None:
    lost: dict[str, int] = {kind: 3_000}
    assert judge(replace(CALM, counts=counts(**lost), **signs))[0] == "faulty"


def test_a_server_that_refuses_excess_load_is_at_its_limit() -> None:
    """4,000 of 6,000 a second are answered, without a sign of stress."""
    refusing = replace(CALM, counts=counts(protocol_503=3_000), clean_per_s=3_000.0)
    assert judge(refusing)[0] == "server-limited"
    answers_less = replace(refusing, clean_per_s=5_000.0)
    assert judge(answers_less)[0] == "faulty"
    fails = replace(refusing, counts=counts(protocol_500=3_000))
    assert judge(fails)[0] == "faulty"


def test_a_response_wrong_at_a_lower_rate_is_wrong_at_saturation_too() -> None:
    full = replace(CALM, counts=counts(protocol_500=3_000), server_cpu_pct=99.0)
    assert judge(full)[0] == "server-limited"
    assert judge(replace(full, faulty_before=frozenset({"protocol-500"})))[0] == "faulty"


def fault(connections: int) -> dict[str, Fault]:
    first = Fault(connections=connections, first_us=1, answered=0, received=0, example="")
    return {"connreset": first}


def test_a_server_that_ends_connections_early_is_reported_once_however_they_end() -> None:
    three = msgspec.structs.replace(fault(10)["connreset"], answered=3)
    both = counts(protocol_closed=4_200, reset=2_100)
    found = {"connreset": three, "protocol-closed": three}
    sent = {"OutRsts": 10}
    (reason,) = judge(
        replace(CALM, counts=both, faults=found, counters=sent, calls_per_connection=10)
    )[1]
    assert isinstance(reason, said.UnexpectedReplies)
    assert (reason.error, reason.failed) == ("protocol-closed", 6_300)
    assert reason.what() == "ends connections after 3 of 10 calls"


def test_resets_that_the_target_did_not_send_are_the_networks() -> None:
    resets = replace(CALM, counts=counts(reset=600), faults=fault(600))
    assert judge(resets) == (
        "network-limited",
        [
            said.ResetsFromElsewhere(failed=600, calls=9000, sent=0),
            said.CallsFailed(failed=600, calls=9000, errors={"connreset": 600}),
        ],
    )
    assert judge(replace(resets, counters={"OutRsts": 600}))[0] == "faulty"
    assert judge(replace(resets, server_cpu_pct=None))[0] == "faulty", "nobody looked"


def test_resets_that_follow_lost_replies_are_the_networks() -> None:
    """A server that closes with the request unread resets; its reply was lost."""
    sent = {"OutRsts": 9_000, "RetransSegs": 420}
    resets = replace(CALM, counts=counts(reset=400), faults=fault(400), counters=sent)
    assert judge(resets)[0] == "network-limited"
    assert judge(replace(resets, loopback=True))[0] == "faulty"
    assert judge(replace(resets, counts=counts(reset=4_000)))[0] == "faulty", "far too many"


def test_a_few_refusals_in_bursts_of_late_clients_are_not_blamed_on_the_server() -> None:
    late = {"lateness_us": lateness(31_000)}
    few = replace(CALM, counts=counts(late=2_000, protocol_503=900), **late)
    assert judge(few)[0] == "inconclusive"
    assert judge(replace(few, counts=counts(late=2_000, protocol_503=6_000)))[0] == "faulty"
    slow = {"lateness_us": lateness(16_000, count=200), "offered_per_s": 200, "seconds": 1.0}
    all_late = replace(few, counts=counts(200, late=200, protocol_503=160), queue=None, **slow)
    assert judge(all_late)[0] == "faulty", "late with three at a time"


def test_a_connection_that_was_idle_for_long_may_be_closed() -> None:
    assert judge(replace(CALM, counts=counts(protocol_idle=6_000)))[0] == "server-limited"


def test_a_404_may_be_the_expected_reply_where_none_is_declared() -> None:
    unknown = replace(CALM, counts=counts(protocol_404=9_000), reply_known=False)
    assert judge(unknown)[0] == "server-limited"
    assert judge(replace(unknown, counts=counts(protocol_500=9_000)))[0] == "faulty"


def test_a_faulty_verdict_quotes_the_first_reply_with_control_bytes_escaped() -> None:
    first = Fault(
        connections=8_000, first_us=212_000, answered=3, received=9, example='\x1b[2J"<b>\xff\n'
    )
    wrong = counts(protocol_body=8_000)
    evidence = replace(CALM, counts=wrong, faults={"protocol-body": first}, calls_per_connection=10)
    (reason,) = judge(evidence)[1]
    assert isinstance(reason, said.UnexpectedReplies)
    assert (reason.first_s, reason.answered, reason.agreed) == (0.212, 3, 10)
    assert reason.example == '\\x1b[2J"<b>\\xff\\n'


@example(succeeded=10_000, unsent=60, in_flight=0, errors={}, cpu=0, ceiling=None)
@given(
    succeeded=LOSS,
    unsent=LOSS,
    in_flight=LOSS,
    errors=st.dictionaries(st.sampled_from([*ERROR_CLASSES, "other-EHOSTUNREACH"]), LOSS),
    cpu=st.floats(0, 120),
    ceiling=st.none() | st.floats(0, 20_000),
)
def test_ok_always_means_sustained_and_every_other_verdict_has_a_reason(
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
    sustained = scheduled >= 100 and succeeded >= 0.99 * scheduled
    assert (verdict == "ok") == sustained
    assert reasons or verdict == "ok"
    assert all(math.isfinite(figure) for figure in evidence.figures().values())


def test_the_figures_of_the_evidence_are_recorded_with_the_verdict() -> None:
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
def test_an_oscillating_queue_is_not_growing(halfway: int, end: int) -> None:
    queue = Queue(due=150, replied=150, connections=150, open_halfway=halfway, open_at_end=end)
    assert not queue.growing


def test_a_schedule_of_a_single_window_shows_no_queue() -> None:
    assert queue_of([window(0, 100)], seconds=0.39) is None


def test_connections_held_open_by_think_time_are_no_queue() -> None:
    windows = [window(i, 100 * i) for i in range(50)]
    assert queue_of(windows, 10.0, calls_per_connection=12, ramp_s=55.0) is None
    assert queue_of(windows, 10.0, calls_per_connection=12, ramp_s=1.1) is not None
