"""WebSocket: frames and handshakes as in RFC 6455, and what a plan of held connections needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from workbench.analysis.evidence import Evidence
from workbench.analysis.verdicts import judge
from workbench.documents import Counts, Percentiles
from workbench.errors import BadInput
from workbench.messages.errors import error_label
from workbench.messages.problems import problem
from workbench.messages.reasons import reason
from workbench.plan import checks
from workbench.plan.budget import assess
from workbench.plan.model import Plan, Range
from workbench.plan.reading import plan_from_data, to_data, with_set
from workbench.plan.schedule import points
from workbench.remote.agent.parser import ProtocolError
from workbench.remote.agent.websocket import (
    BINARY,
    CLOSE,
    NO_STATUS,
    TEXT,
    Frame,
    accept_of,
    accepted,
    client_frame,
    close_code,
    new_key,
    parse_frame,
    server_frame,
)
from workbench.workloads.registry import workload as a_workload

KEY, ACCEPT = b"dGhlIHNhbXBsZSBub25jZQ==", b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
"""The RFC's own example, 1.3."""
HEAD = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n"
    b"Sec-WebSocket-Accept: " + ACCEPT + b"\r\n\r\n"
)


def test_the_handshake_of_the_rfc_is_accepted_and_no_two_keys_are_alike() -> None:
    assert accept_of(KEY) == ACCEPT
    assert accepted(HEAD + b"\x81\x00", ACCEPT) == len(HEAD)
    assert accepted(HEAD[:-1], ACCEPT) is None
    keys = {new_key() for _ in range(100)}
    assert len(keys) == 100 and {len(key) for key in keys} == {24}


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"HTTP/1.1 404 Not Found\r\n\r\n", "404"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nPong!", "200"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "malformed"),
        (HEAD.replace(ACCEPT, b"x" * 28), "accept"),
        (HEAD.replace(b"WebSocket\r", b"h2c\r"), "upgrade"),
        (HEAD.replace(b"keep-alive, Upgrade", b"close"), "upgrade"),
        (HEAD.replace(b"\r\n\r\n", b"\r\nSec-WebSocket-Extensions: x\r\n\r\n"), "extension"),
    ],
)
def test_any_other_handshake_is_refused_with_its_reason(data: bytes, kind: str) -> None:
    with pytest.raises(ProtocolError) as refused:
        accepted(data, ACCEPT)
    assert refused.value.kind == kind


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536, 1 << 20])
def test_a_frame_of_every_length_comes_back_and_is_known_to_be_incomplete(size: int) -> None:
    payload = bytes(n % 251 for n in range(size))
    data = server_frame(BINARY, payload)
    assert parse_frame(data + b"more", 1 << 20) == Frame(True, BINARY, payload, len(data))
    for cut in {1, len(data) // 2, len(data) - 1} - {0}:
        assert parse_frame(data[:cut], 1 << 20) is None


def test_what_a_client_sends_is_masked_as_in_the_rfc() -> None:
    first, second = client_frame(TEXT, b"Hello"), client_frame(TEXT, b"Hello")
    assert first != second, "a new mask for every frame"
    assert first[:2] == b"\x81\x85"
    mask = first[2:6]
    assert bytes(c ^ mask[n % 4] for n, c in enumerate(first[6:])) == b"Hello"
    assert server_frame(TEXT, b"Hello") == b"\x81\x05Hello"


@pytest.mark.parametrize(
    "data",
    [
        client_frame(TEXT, b"masked"),
        b"\xc1\x00",
        b"\x83\x00",
        b"\x09\x00",
        b"\x89\x7e\x00\x7e" + b"x" * 126,
        b"\x81\x7e\x00\x05Hello",
        b"\x81\x7f\x00\x00\x00\x00\x00\x00\xff\xff",
        server_frame(TEXT, b"x" * 200),
    ],
    ids=["masked", "reserved", "opcode", "part", "ping", "length-16", "length-64", "long"],
)
def test_what_a_server_must_not_send_is_an_error(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        parse_frame(data, 150)


def test_codes_of_a_close() -> None:
    assert [close_code(code.to_bytes(2, "big")) for code in (1000, 1011, 4321)] == [
        1000,
        1011,
        4321,
    ]
    assert close_code(b"") == NO_STATUS
    for payload in (b"\x03", b"\x03\xee", b"\x03\xed", b"\x00\x00"):
        with pytest.raises(ProtocolError):
            close_code(payload)
    assert server_frame(CLOSE, b"\x03\xe8") == b"\x88\x02\x03\xe8"
    assert error_label("protocol-close-1011") == "closed: 1011"


@dataclass
class Entry:
    id: str = "one"
    name: str = "One"
    closes_first: str = "server"
    protocols: list[str] = field(default_factory=lambda: ["websocket"])
    warm_up_s: float = 0.0
    heritage: bool = False
    one_client: bool = False
    processes: int = 1
    rights: dict[str, str] = field(default_factory=dict)


def plan(**changes: Any) -> Plan:
    settings: dict[str, Any] = {
        "servers": ["one"],
        "workload": a_workload(protocol="websocket", timeout_s=2.0),
        "vary": {"connections": [100.0, 10_000.0]},
        "rates": [100.0],
        "seconds": 10.0,
        "warm_up": None,
        "cool_down_s": 0.0,
        "looks": 1,
    }
    return Plan(**(settings | changes))


def test_a_point_makes_its_connections_first_and_pings_them_last() -> None:
    low, high = points(plan(), "one")
    assert (low.workload.held, low.workload.ramp_s, low.seconds, low.samples) == (
        100,
        1.8,
        11.8,
        1_000,
    )
    assert (high.workload.held, high.workload.ramp_s, high.seconds, high.samples) == (
        10_000,
        21.6,
        31.6,
        1_000,
    )
    assert plan().axis.at(10_000) == "10,000 connections" and plan().axis.has_limit
    assert plan().unit == "messages"
    expected_s = 0.5 + low.seconds + 0.2 + high.seconds + 20.0
    assert assess(plan(), [Entry()], {}).duration_s[0] == pytest.approx(expected_s)


@pytest.mark.parametrize(
    ("changes", "facts", "resource", "where", "available"),
    [
        (
            {},
            {"sysctls": {"net.ipv4.ip_local_port_range": "40000 45999"}},
            "ports",
            "clients",
            6_000,
        ),
        ({"nofile": 8_000, "workers": 2}, {}, "descriptors", "target", 7_936),
        ({}, {"descriptor_limits": {"hard": 4_096}}, "descriptors", "clients", 4_032),
    ],
)
def test_connections_beyond_ports_or_descriptors_are_refused_before_anything_starts(
    changes: dict[str, Any], facts: dict[str, Any], resource: str, where: str, available: int
) -> None:
    (found,) = assess(plan(**changes), [Entry()], facts).problems
    assert found.code == "too-many-open"
    about = [found.parameters[each] for each in ("resource", "where", "available", "what")]
    assert about == [resource, where, available, "10,000 connections held open"]
    assert not assess(plan(**changes), [Entry()], facts, clients=3).problems or where == "target"


def test_ten_thousand_need_as_many_ports_and_one_agent_worker_has_descriptors_for_them() -> None:
    budget = assess(plan(), [Entry()], {})
    assert not budget.problems and not [w for w in budget.warnings if w.code != "few-samples"]
    assert (budget.ports_needed, budget.addresses) == (10_000, 1)
    more = assess(
        plan(vary={"connections": [50_000.0]}, nofile=60_000), [Entry()], {}, loopback=True
    )
    assert more.addresses >= 2 and not more.problems


@pytest.mark.parametrize(
    ("changes", "facts", "most", "where", "resource"),
    [
        ({}, {}, 12_700, "clients", "ports"),
        ({"nofile": 8_000, "workers": 2}, {}, 7_930, "target", "descriptors"),
        (
            {},
            {"addresses": 4, "descriptor_limits": {"hard": 4_096}},
            4_030,
            "clients",
            "descriptors",
        ),
        ({}, {"addresses": 4}, 19_900, "clients", "descriptors"),
    ],
)
def test_connections_to_the_ceiling_end_at_what_the_machines_can_hold(
    changes: dict[str, Any], facts: dict[str, Any], most: int, where: str, resource: str
) -> None:
    held = Range(from_=100, to="ceiling", points=4, spacing="geometric")
    given = plan(vary={"connections": held}, **changes)
    assert not [*checks.problems(given)]
    budget = assess(given, [Entry()], facts)
    assert budget.held
    said = budget.held.data()
    assert (said["where"], said["resource"]) == (where, resource)
    assert budget.held.text() in budget.describe()
    values = budget.known(given).axis.values
    assert (len(values), values[0], values[-1]) == (4, 100, most)
    assert all(value == int(value) for value in values) and budget.open_at_worst == most
    assert not budget.problems
    # A session has the plan as it was given, so that it ends elsewhere on another machine.
    assert plan_from_data(to_data(given), name="p").vary == given.vary


def test_only_connections_have_a_ceiling() -> None:
    sizes = plan(vary={"message_size": Range(from_=64, to="ceiling", points=4)})
    assert problem("ceiling-of-field", field="message_size") in checks.problems(sizes)
    stepped = plan(vary={"connections": Range(from_=64, to="ceiling", step=10)})
    assert problem("ceiling-in-points", "vary") in checks.problems(stepped)
    (few,) = assess(
        plan(vary={"connections": Range(from_=9_000, to="ceiling", points=3)}, nofile=8_000),
        [Entry()],
        {},
    ).problems
    assert few.code == "too-many-open"
    assert few.parameters["what"] == "9,000 connections held open"


def test_what_the_workload_does_not_have_is_refused() -> None:
    closed = a_workload(protocol="websocket", mode="closed")
    assert problem("no-closed-loop", workload="WebSocket") in checks.problems(
        plan(workload=closed, rates=[], concurrency=[5], vary={})
    )
    assert [*checks.problems(plan(seconds=None, connections=100))] == [
        problem("seconds-only", workload="WebSocket")
    ]
    with pytest.raises(BadInput, match="message_size"):
        with_set(plan(), ["message_size=2000000"])


def test_connections_set_on_the_command_line_are_those_held_open() -> None:
    changed = with_set(plan(vary={}), ["connections=7", "rates=[10]"])
    assert changed.connections is None
    assert next(points(changed, "one")).workload.held == 7


def test_an_echo_slower_than_the_limit_is_not_sustained() -> None:
    counts = Counts(scheduled=1_100, unsent=0, sent=1_100, late=0, established=100, succeeded=1_100)
    slow = Percentiles(count=1_000, p50=20_000, p90=90_000, p99=250_000, p999=260_000, max=260_000)
    evidence = {"counts": counts, "seconds": 10.0, "latency_us": slow}
    assert judge(Evidence(**evidence, p99_limit_ms=300.0)) == ("ok", [])
    assert judge(Evidence(**evidence, p99_limit_ms=100.0)) == (
        "server-limited",
        [reason("too-slow", p99_ms=250.0, limit_ms=100.0)],
    )
