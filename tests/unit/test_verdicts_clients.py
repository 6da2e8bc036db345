"""Verdicts where the clients, their machine or other programs there may be the cause."""

from dataclasses import replace
from typing import Any

import pytest

from tests.evidence import HELD, LONG_QUEUE, case_id, counts, lateness
from workbench.analysis.verdicts import judge
from workbench.messages.base import Said
from workbench.messages.reasons import reason


@pytest.mark.parametrize(
    ("case", "changes", "verdict", "reasons"),
    [
        (
            "the clients were late and another core is free",
            {"counts": counts(late=4_000), "lateness_us": lateness(31_000), "client_cores": 2},
            "client-limited",
            [reason("clients-late", late_share=0.444444, p99_us=31000, relief="worker")],
        ),
        (
            "the clients were late and all their cores are used",
            {"counts": counts(late=4_000), "lateness_us": lateness(31_000)},
            "client-limited",
            [reason("clients-late", late_share=0.444444, p99_us=31000, relief="machine")],
        ),
        (
            "a hiccup of the clients shows in the latencies and is reported",
            {"counts": counts(late=200), "lateness_us": lateness(12_000)},
            "ok",
            [reason("latency-includes-lateness", p99_us=12000)],
        ),
        (
            "slightly late with a minority of calls, all answered",
            {"counts": counts(late=2_000), "lateness_us": lateness(6_000)},
            "ok",
            [reason("latency-includes-lateness", p99_us=6000)],
        ),
        (
            "slightly late with most calls",
            {"counts": counts(late=8_000), "lateness_us": lateness(6_000)},
            "client-limited",
            [reason("clients-late", late_share=0.888889, p99_us=6000, relief="machine")],
        ),
        (
            "other programs take CPU and the rate is sustained",
            {"others_cpu_pct": 48.4},
            "ok",
            [reason("sustained-under-background-load", cpu_pct=48.4)],
        ),
        ("other programs take a little CPU", {"others_cpu_pct": 20.0}, "ok", []),
        (
            "a load tool that keeps rates roughly offered much less than the plan's",
            {"offered_per_s": 131.0, "planned_per_s": 200.0},
            "client-limited",
            [reason("offered-less", offered_per_s=131, planned_per_s=200)],
        ),
        (
            "it offered much less because of other programs",
            {"offered_per_s": 131.0, "planned_per_s": 200.0, "others_cpu_pct": 48.4},
            "inconclusive",
            [
                reason("background-load", cpu_pct=48.4),
                reason("offered-less", offered_per_s=131, planned_per_s=200),
            ],
        ),
        ("it offered nearly as much", {"offered_per_s": 189.0, "planned_per_s": 200.0}, "ok", []),
        (
            "the server falls behind while other programs take CPU",
            {"queue": LONG_QUEUE, "others_cpu_pct": 30.0},
            "inconclusive",
            [
                reason("background-load", cpu_pct=30.0),
                reason("fell-behind", replied=6000, calls=9000, waiting=3000),
            ],
        ),
        (
            "the clients are late while other programs take CPU",
            {"counts": counts(late=4_000), "lateness_us": lateness(31_000), "others_cpu_pct": 90.0},
            "inconclusive",
            [
                reason("background-load", cpu_pct=90.0),
                reason("clients-late", late_share=0.444444, p99_us=31000, relief="machine"),
            ],
        ),
        (
            "ports run out, whatever other programs do",
            {"counts": counts(addrunavail=500), "others_cpu_pct": 90.0},
            "ports-limited",
            [reason("out-of-ports", times=500)],
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
            [reason("out-of-descriptors", times=300)],
        ),
        (
            "descriptors run out among other errors, while other programs take CPU",
            {"counts": counts(fd_unavail=300, timo=900), "others_cpu_pct": 90.0},
            "inconclusive",
            [
                reason("background-load", cpu_pct=90.0),
                reason("out-of-descriptors", times=300),
                reason("calls-failed", failed=900, calls=8700, errors={"client-timo": 900}),
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
                reason("calls-unsent", unsent=500, calls=9000, relief=""),
                reason("clients-late", late_share=0.444444, p99_us=100000, relief=""),
                reason("client-busy", cpu_pct=95.0, relief="machine"),
                reason("fell-behind", replied=6000, calls=9000, waiting=3000),
            ],
        ),
        (
            "the clients never started some calls",
            {"counts": counts(unsent=500)},
            "client-limited",
            [reason("calls-unsent", unsent=500, calls=9000, relief="machine")],
        ),
        (
            "the clients ran out of descriptors",
            {"counts": counts(fd_unavail=300, ftab_full=12)},
            "client-limited",
            [reason("out-of-descriptors", times=312)],
        ),
        (
            "the clients ran out of ports",
            {"counts": counts(addrunavail=812)},
            "ports-limited",
            [reason("out-of-ports", times=812)],
        ),
        (
            "ports and descriptors are both the clients' own",
            {"counts": counts(addrunavail=812, fd_unavail=300)},
            "ports-limited",
            [reason("out-of-ports", times=812), reason("out-of-descriptors", times=300)],
        ),
        ("a busy client that kept its schedule is not blamed", {"client_cpu_pct": 97}, "ok", []),
        (
            "a busy client and a server that loses calls",
            {"client_cpu_pct": 97, "counts": counts(timo=900)},
            "inconclusive",
            [
                reason("client-busy", cpu_pct=97, relief="machine"),
                reason("calls-failed", failed=900, calls=9000, errors={"client-timo": 900}),
            ],
        ),
        (
            "late clients and a server that falls behind",
            {"counts": counts(late=4_000), "lateness_us": lateness(100_000), "queue": LONG_QUEUE},
            "inconclusive",
            [
                reason("clients-late", late_share=0.444444, p99_us=100000, relief="machine"),
                reason("fell-behind", replied=6000, calls=9000, waiting=3000),
            ],
        ),
        (
            "more calls wait than lateness can explain",
            {"counts": counts(late=4_000), "lateness_us": lateness(31_000), "queue": LONG_QUEUE},
            "server-limited",
            [
                reason("fell-behind", replied=6000, calls=9000, waiting=3000),
                reason("clients-late", late_share=0.444444, p99_us=31000, relief=""),
            ],
        ),
        (
            "clients that are late with as many connections as wait",
            {"counts": counts(late=9_000), "lateness_us": lateness(250_000), "queue": LONG_QUEUE},
            "client-limited",
            [reason("clients-late", late_share=1.0, p99_us=250000, relief="machine")],
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
                reason("calls-failed", failed=900, calls=9000, errors={"client-timo": 900}),
                reason("clients-late", late_share=0.444444, p99_us=31000, relief=""),
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
                reason("clients-late", late_share=0.444444, p99_us=310000, relief="machine"),
                reason("calls-failed", failed=900, calls=9000, errors={"client-timo": 900}),
            ],
        ),
        (
            "losses beyond what the clients reach against the null server",
            {"counts": counts(timo=900), "ceiling_per_s": 5_000},
            "client-limited",
            [reason("beyond-client-limit", offered_per_s=6000, limit_per_s=5000, relief="machine")],
        ),
        (
            "losses where the clients reached no rate against the null server",
            {"counts": counts(timo=900), "ceiling_per_s": 0},
            "client-limited",
            [reason("no-client-limit", offered_per_s=6000, relief="machine")],
        ),
        (
            "losses beyond the client limit while other programs take CPU",
            {"counts": counts(timo=900), "ceiling_per_s": 5_000, "others_cpu_pct": 80},
            "inconclusive",
            [
                reason("background-load", cpu_pct=80),
                reason("beyond-client-limit", offered_per_s=6000, limit_per_s=5000, relief=""),
            ],
        ),
        (
            "losses beyond a client limit measured while other programs took CPU",
            {"counts": counts(timo=900), "ceiling_per_s": 5_000, "ceiling_others_pct": 80},
            "inconclusive",
            [
                reason("background-load-at-calibration", cpu_pct=80),
                reason("beyond-client-limit", offered_per_s=6000, limit_per_s=5000, relief=""),
            ],
        ),
        ("sustained beyond the measured client limit", {"ceiling_per_s": 5_000}, "ok", []),
        (
            "offered slightly more than the client limit, by rounding",
            {"counts": counts(timo=900), "ceiling_per_s": 5_995},
            "server-limited",
            [reason("calls-failed", failed=900, calls=9000, errors={"client-timo": 900})],
        ),
    ],
    ids=case_id,
)
def test_verdict_when_clients(
    case: str, changes: dict[str, Any], verdict: str, reasons: list[Said]
) -> None:
    assert judge(replace(HELD, **changes)) == (verdict, reasons), case
