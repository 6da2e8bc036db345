"""Servers whose responses are wrong are faulty, unless that is how they refuse load."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from tests.evidence import CALM, HELD, LONG_QUEUE, counts, fault, lateness
from workbench.analysis.evidence import Evidence, Fault
from workbench.analysis.verdicts import judge
from workbench.messages.reasons import what_fails

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
    "handshakes cut": {"tls_closed": 8_000},
    "no TLS": {"tls_wrong_version_number": 8_000},
}
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
    assert (reason.code, reason.data()["failed"]) == ("unexpected-replies", failed)


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
@pytest.mark.parametrize(
    "kind", ["protocol_503", "protocol_502", "reset", "protocol_closed", "tls_closed"]
)
def test_load_shed_by_a_saturated_server_is_a_limit(kind: str, signs: dict[str, Any]) -> None:
    lost: dict[str, int] = {kind: 3_000}
    verdict, reasons = judge(replace(CALM, counts=counts(**lost), **signs))
    assert verdict == ("inconclusive" if "others_cpu_pct" in signs else "server-limited")
    assert not any(reason.code == "unexpected-replies" for reason in reasons)


def test_refusals_together_with_timeouts_are_a_limit() -> None:
    evidence = replace(CALM, counts=counts(protocol_503=2_000, timo=100))
    assert judge(evidence)[0] == "server-limited"


@pytest.mark.parametrize("signs", SATURATED.values(), ids=SATURATED)
@pytest.mark.parametrize(
    "kind", ["protocol_body", "protocol_malformed", "protocol_404", "tls_wrong_version_number"]
)
def test_no_load_makes_a_healthy_server_answer_differently(
    kind: str, signs: dict[str, Any]
) -> None:
    lost: dict[str, int] = {kind: 3_000}
    assert judge(replace(CALM, counts=counts(**lost), **signs))[0] == "faulty"


@pytest.mark.parametrize("others_cpu_pct", [0.0, 97.0], ids=["quiet", "busy"])
@pytest.mark.parametrize(
    "lost",
    [
        {"reset": 369, "timo": 321},
        {"protocol_cut": 369, "timo": 321},
        {"protocol_body": 10, "timo": 600},
        {"protocol_body": 10, "protocol_503": 600},
    ],
    ids=["reset within a reply", "truncated", "few beside timeouts", "few beside load shed"],
)
def test_excusable_errors_do_not_hide_wrong_replies(
    lost: dict[str, int], others_cpu_pct: float
) -> None:
    """As of a server that breaks off its replies, on a machine where others take its core."""
    cut = msgspec.structs.replace(fault(369)["connreset"], received=40)
    found = replace(
        CALM,
        counts=counts(1_500, **lost),
        faults={"connreset": cut} if "reset" in lost else {},
        counters={"OutRsts": 369},
        server_cpu_pct=34.0,
        others_cpu_pct=others_cpu_pct,
    )
    verdict, reasons = judge(found)
    assert verdict == "faulty"
    named = {each.data().get("error") for each in reasons}
    assert {"connreset", "protocol-cut", "protocol-body"} & named


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


def test_a_server_that_ends_connections_early_is_reported_once_however_they_end() -> None:
    three = msgspec.structs.replace(fault(10)["connreset"], answered=3)
    both = counts(protocol_closed=4_200, reset=2_100)
    found = {"connreset": three, "protocol-closed": three}
    sent = {"OutRsts": 10}
    (reason,) = judge(
        replace(CALM, counts=both, faults=found, counters=sent, calls_per_connection=10)
    )[1]
    assert (reason.data()["error"], reason.data()["failed"]) == ("protocol-closed", 6_300)
    assert what_fails(reason) == "ends connections after 3 of 10 calls"


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


def test_a_server_that_answers_404_is_faulty_and_not_at_its_limit() -> None:
    verdict, (reason,) = judge(replace(CALM, counts=counts(protocol_404=9_000)))
    assert verdict == "faulty"
    assert what_fails(reason) == "answers 404"


def test_a_faulty_verdict_quotes_the_first_reply_with_control_bytes_escaped() -> None:
    first = Fault(
        connections=8_000, first_us=212_000, answered=3, received=9, example='\x1b[2J"<b>\xff\n'
    )
    wrong = counts(protocol_body=8_000)
    evidence = replace(CALM, counts=wrong, faults={"protocol-body": first}, calls_per_connection=10)
    (reason,) = judge(evidence)[1]
    found = reason.data()
    assert (found["first_s"], found["answered"], found["agreed"]) == (0.212, 3, 10)
    assert found["example"] == '\\x1b[2J"<b>\\xff\\n'
