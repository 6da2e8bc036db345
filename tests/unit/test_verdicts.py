"""Verdicts, from evidence, with their reasons: what the server did, and what holds for all."""

import math
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.evidence import HELD, LONG_QUEUE, case_id, counts
from workbench.analysis.evidence import Queue
from workbench.analysis.verdicts import judge
from workbench.documents import ERROR_CLASSES, Counts, Percentiles
from workbench.messages.base import Said
from workbench.messages.reasons import reason

STEADY_QUEUE = replace(HELD.queue, replied=8_600, open_halfway=380, open_at_end=400)
LOSS = st.one_of(st.just(0), st.integers(0, 200), st.integers(0, 50_000))


@pytest.mark.parametrize(
    ("case", "changes", "verdict", "reasons"),
    [
        ("all calls succeed", {}, "ok", []),
        ("one call in a hundred is lost", {"counts": counts(timo=90)}, "ok", []),
        (
            "more than one in a hundred is lost",
            {"counts": counts(timo=80, reset=11)},
            "server-limited",
            [
                reason(
                    "calls-failed",
                    failed=91,
                    calls=9000,
                    errors={"client-timo": 80, "connreset": 11},
                )
            ],
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
                reason(
                    "calls-failed",
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
                reason("calls-failed", failed=900, calls=9000, errors={"client-timo": 900}),
                reason("accept-queue-overflowed", times=1204),
            ],
        ),
        (
            "the accept queue overflowed but every retry came through",
            {"counters": {"ListenOverflows": 1}},
            "ok",
            [reason("sustained-with-overflows", times=1)],
        ),
        (
            "everything is answered, but by working off a queue afterwards",
            {"queue": LONG_QUEUE},
            "server-limited",
            [reason("fell-behind", replied=6000, calls=9000, waiting=3000)],
        ),
        ("a slow server whose queue does not grow keeps up", {"queue": STEADY_QUEUE}, "ok", []),
        (
            "every reply takes most of the point, which cannot show a queue",
            {
                "queue": None,
                "seconds": 5.0,
                "latency_us": Percentiles(
                    count=9_000, **dict.fromkeys(("p50", "p90", "p99", "p999", "max"), 4_500_000)
                ),
            },
            "ok",
            [reason("too-short-for-queue", stay_s=4.5, seconds=5.0, needed_s=9.0)],
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
            [reason("fell-behind", replied=110, calls=216, waiting=34)],
        ),
        (
            "the server ended beside other programs, beyond the client limit",
            {
                "counts": counts(refused=2_000, reset=300),
                "exit_status": -11,
                "others_cpu_pct": 97.0,
                "server_cpu_pct": 6.0,
                "ceiling_per_s": 5_000,
            },
            "server-limited",
            [
                reason("server-ended", status=-11),
                reason(
                    "calls-failed",
                    failed=2_300,
                    calls=9_000,
                    errors={"connrefused": 2_000, "connreset": 300},
                ),
            ],
        ),
        (
            "the server ended with its last reply",
            {"exit_status": 0},
            "server-limited",
            [reason("server-ended", status=0)],
        ),
        (
            "the server ended, and its replies had been wrong before",
            {"counts": counts(refused=2_000, protocol_body=900), "exit_status": 1},
            "faulty",
            [
                reason("server-ended", status=1),
                reason(
                    "unexpected-replies", error="protocol-body", failed=900, calls=9_000, agreed=1
                ),
            ],
        ),
        (
            "a little lost on both sides",
            {"counts": counts(unsent=45, timo=50)},
            "inconclusive",
            [reason("no-single-cause", succeeded=8905, calls=9000, clients=45, server=50)],
        ),
        (
            "interrupted",
            {"complete": False, "counts": counts(timo=9_000)},
            "inconclusive",
            [reason("interrupted")],
        ),
        (
            "a call is missing from the sum",
            {"counts": msgspec.structs.replace(counts(), succeeded=8_990)},
            "inconclusive",
            [reason("audit-failed", scheduled=9000, found=8990)],
        ),
        (
            "a worker's audit failed",
            {"conserved": False},
            "inconclusive",
            [reason("client-audit-failed")],
        ),
        (
            "too few calls",
            {"counts": counts(99)},
            "inconclusive",
            [reason("too-few-calls", calls=99, needed=100)],
        ),
        (
            "too short",
            {"seconds": 0.4},
            "inconclusive",
            [reason("too-short", seconds=0.4, needed_s=1.0)],
        ),
        (
            "no call is answered",
            {"counts": counts(refused=9_000)},
            "server-limited",
            [reason("calls-failed", failed=9000, calls=9000, errors={"connrefused": 9000})],
        ),
        (
            "a closed loop has no lateness, queue or rate",
            {"lateness_us": None, "queue": None, "offered_per_s": 0.0},
            "ok",
            [],
        ),
    ],
    ids=case_id,
)
def test_verdict_when(
    case: str, changes: dict[str, Any], verdict: str, reasons: list[Said]
) -> None:
    assert judge(replace(HELD, **changes)) == (verdict, reasons), case


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
