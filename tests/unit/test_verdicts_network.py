"""Verdicts where the network between the machines may be the cause."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from tests.evidence import CALM, HELD, LONG_QUEUE, case_id, counts, fault, lateness
from workbench.analysis.verdicts import judge
from workbench.documents import Percentiles
from workbench.messages.base import Said
from workbench.messages.reasons import reason

QUEUED = Percentiles(count=9_000, p50=200_000, p90=310_000, p99=400_000, p999=410_000, max=420_000)


def took(us: int) -> Percentiles:
    return Percentiles(count=3_000, p50=us, p90=us, p99=us, p999=us, max=us)


ONE_FAR = {"c1": took(1_000), "c2": took(81_000), "c3": took(900)}


@pytest.mark.parametrize(
    ("case", "changes", "verdict", "reasons"),
    [
        (
            "no route",
            {"counts": counts(other_ENETUNREACH=9_000)},
            "network-limited",
            [reason("unreachable", failed=9000, calls=9000)],
        ),
        (
            "a link that loses packets is not charged to the server",
            {"counts": counts(timo=600), "counters": {"RetransSegs": 412}},
            "network-limited",
            [
                reason("lossy-link", segments=412, calls=9000),
                reason("calls-failed", failed=600, calls=9000, errors={"client-timo": 600}),
            ],
        ),
        (
            "retransmissions of the clients count, too",
            {"counts": counts(timo=600), "resent_by_clients": 412},
            "network-limited",
            [
                reason("lossy-link", segments=412, calls=9000, by_clients=412),
                reason("calls-failed", failed=600, calls=9000, errors={"client-timo": 600}),
            ],
        ),
        (
            "a link that loses packets was in the way of the null server, too",
            {"counts": counts(timo=600), "counters": {"RetransSegs": 412}, "ceiling_per_s": 0.0},
            "network-limited",
            [
                reason("lossy-link", segments=412, calls=9000),
                reason("calls-failed", failed=600, calls=9000, errors={"client-timo": 600}),
                reason("no-client-limit", offered_per_s=6000),
            ],
        ),
        (
            "connections that are not established in time",
            {"counts": msgspec.structs.replace(counts(timo=9_000), established=0)},
            "network-limited",
            [
                reason("not-established", missing=9000, connections=9000),
                reason("calls-failed", failed=9000, calls=9000, errors={"client-timo": 9000}),
            ],
        ),
        (
            "packets that wait before a link too slow for them",
            {"counts": counts(timo=900), "connect_us": QUEUED, "timeout_s": 1.0},
            "network-limited",
            [
                reason("slow-connections", connect_p90_us=310_000),
                reason("calls-failed", failed=900, calls=9000, errors={"client-timo": 900}),
            ],
        ),
        (
            "packets that wait, and everything is answered in the end",
            {"queue": LONG_QUEUE, "connect_us": QUEUED, "timeout_s": 10.0},
            "network-limited",
            [
                reason("slow-connections", connect_p90_us=310_000),
                reason("fell-behind", replied=6000, calls=9000, waiting=3000),
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
                reason("clients-late", late_share=1.0, p99_us=250_000, relief="machine"),
                reason("calls-failed", failed=900, calls=9000, errors={"client-timo": 900}),
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
                reason("calls-failed", failed=900, calls=9000, errors={"client-timo": 900}),
                reason("accept-queue-overflowed", times=2000),
            ],
        ),
        (
            "a link that was found lossy before the run is a sign, too",
            {"counts": counts(timo=600), "link_lost_share": 0.031},
            "network-limited",
            [
                reason("lossy-link", segments=0, calls=9000, measured_share=0.031),
                reason("calls-failed", failed=600, calls=9000, errors={"client-timo": 600}),
            ],
        ),
        (
            "far more than a lossy link explains",
            {"counts": counts(timo=4_000), "link_lost_share": 0.031},
            "server-limited",
            [reason("calls-failed", failed=4000, calls=9000, errors={"client-timo": 4000})],
        ),
        (
            "a link that lost next to nothing",
            {"counts": counts(timo=600), "link_lost_share": 0.002},
            "server-limited",
            [reason("calls-failed", failed=600, calls=9000, errors={"client-timo": 600})],
        ),
        (
            "a few retransmissions are no sign",
            {"counts": counts(timo=600), "counters": {"RetransSegs": 80}},
            "server-limited",
            [reason("calls-failed", failed=600, calls=9000, errors={"client-timo": 600})],
        ),
        (
            "what a full accept queue drops is retransmitted, too",
            {
                "counts": counts(timo=600),
                "counters": {"RetransSegs": 412, "ListenOverflows": 300, "ListenDrops": 300},
            },
            "server-limited",
            [
                reason("calls-failed", failed=600, calls=9000, errors={"client-timo": 600}),
                reason("accept-queue-overflowed", times=300),
            ],
        ),
        (
            "loopback loses nothing",
            {"counts": counts(timo=600), "counters": {"RetransSegs": 412}, "loopback": True},
            "server-limited",
            [reason("calls-failed", failed=600, calls=9000, errors={"client-timo": 600})],
        ),
        (
            "no link gives unexpected responses",
            {"counts": counts(protocol=600), "counters": {"RetransSegs": 412}},
            "faulty",
            [reason("unexpected-replies", error="protocol", failed=600, calls=9000, agreed=1)],
        ),
        (
            "a lossy link where all was answered",
            {"counters": {"RetransSegs": 400}, "resent_by_clients": 12, "latency_us": QUEUED},
            "ok",
            [
                reason(
                    "sustained-over-lossy-link",
                    segments=412,
                    calls=9000,
                    by_clients=12,
                    p99_us=400_000,
                )
            ],
        ),
        (
            "what a full accept queue drops where all was answered",
            {"counters": {"RetransSegs": 412, "ListenOverflows": 300}},
            "ok",
            [reason("sustained-with-overflows", times=300)],
        ),
        (
            "a delay on the link of one client",
            {"clients": ONE_FAR},
            "ok",
            [reason("client-slower", client="c2", p50_us=81_000, others_p50_us=900)],
        ),
        (
            "a delay on the link of one client, beyond a limit that the others keep",
            {"clients": ONE_FAR, "latency_us": QUEUED, "p99_limit_ms": 50.0},
            "network-limited",
            [
                reason("client-slower", client="c2", p50_us=81_000, others_p50_us=900),
                reason("too-slow", p99_ms=400.0, limit_ms=50.0),
            ],
        ),
        (
            "a delay on the link of one client, beyond a limit that no other keeps",
            {"clients": ONE_FAR, "latency_us": QUEUED, "p99_limit_ms": 0.5},
            "server-limited",
            [reason("too-slow", p99_ms=400.0, limit_ms=0.5)],
        ),
        (
            "clients that are nearly alike",
            {"clients": {"c1": took(1_000), "c2": took(1_700), "c3": took(900)}},
            "ok",
            [],
        ),
    ],
    ids=case_id,
)
def test_verdict_when_the_network(
    case: str, changes: dict[str, Any], verdict: str, reasons: list[Said]
) -> None:
    assert judge(replace(HELD, **changes)) == (verdict, reasons), case


def test_resets_that_the_target_did_not_send_are_the_networks() -> None:
    resets = replace(CALM, counts=counts(reset=600), faults=fault(600))
    assert judge(resets) == (
        "network-limited",
        [
            reason("resets-from-elsewhere", failed=600, calls=9000, sent=0),
            reason("calls-failed", failed=600, calls=9000, errors={"connreset": 600}),
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
