"""Faults of servers and clients: each has its class, and every call is accounted for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from agents import HTTP, PONG, Outcome, agent, outcome_of, target
from oracle import PATIENCE_S


def test_calls_lost_with_their_connection_inherit_its_error() -> None:
    """The server closes after 4 of 10 calls."""
    outcome = outcome_of(
        "http", "4", rate_per_s=50, connections=50, calls_per_connection=10, **HTTP
    )
    assert outcome.total("replies") == 200
    assert outcome.errors == {"protocol-closed": 300}
    (fault,) = fault_of(outcome, "protocol-closed")
    assert (fault["connections"], fault["answered"]) == (50, 4)


def test_a_connection_closed_after_long_silence_is_a_case_of_its_own() -> None:
    """A server need not wait for a client with endless think time."""
    outcome = outcome_of(
        "idle",
        "3.0",
        rate_per_s=20,
        connections=10,
        calls_per_connection=3,
        think_time_s=60.0,
        **HTTP,
    )
    assert (outcome.total("replies"), outcome.errors) == (10, {"protocol-idle": 20})


def test_how_long_a_connection_was_silent_does_not_depend_on_the_mean_think_time() -> None:
    """A server closes on those who think for longer than it waits, however long that is. None of
    these think times is within a tenth of a second of that."""
    outcome = outcome_of(
        "idle",
        "1.13",
        rate_per_s=100,
        connections=50,
        calls_per_connection=2,
        think_time_s=1.5,
        think_times="exponential",
        seed=1,
        **HTTP,
    )
    assert set(outcome.errors) == {"protocol-idle"}
    assert outcome.total("replies") + sum(outcome.errors.values()) == 100


@pytest.mark.parametrize(
    ("mode", "error", "timeout_s"),
    [
        ("half", "protocol-cut", PATIENCE_S),
        ("silent", "protocol-closed", PATIENCE_S),
        ("garbage", "protocol-malformed", PATIENCE_S),
        ("error", "protocol-503", PATIENCE_S),
        ("reset", "connreset", PATIENCE_S),
        ("hold", "client-timo", 1.0),
    ],
)
def test_each_fault_of_a_server_has_its_class(mode: str, error: str, timeout_s: float) -> None:
    outcome = outcome_of(mode, protocol="pong", rate_per_s=100, connections=30, timeout_s=timeout_s)
    # A server that closes with the request unread resets; either may be seen without a reply.
    allowed = {error} | ({"connreset"} if error.startswith("protocol") else set())
    assert set(outcome.errors) <= allowed
    assert sum(outcome.errors.values()) == 30 - outcome.total("unsent") > 0
    faults = [fault for name in allowed for fault in fault_of(outcome, name)]
    assert sum(fault["connections"] for fault in faults) == (30 if error != "client-timo" else 0)
    assert all(0 <= fault["first_us"] < 60e6 and fault["answered"] == 0 for fault in faults)


def fault_of(outcome: Outcome, name: str) -> list[dict[str, Any]]:
    return [report["faults"][name] for report in outcome.reports if name in report["faults"]]


@pytest.mark.parametrize(
    ("reply", "error", "example"),
    [
        ({"status": 200, "body": "Pong!"}, "", ""),
        ({"status": 200, "body": '"Pong!"', "json": True}, "protocol-body", "Pong!"),
        ({"status": 200, "body": "Ping?"}, "protocol-body", "Pong!"),
        ({"status": 404, "body": "Pong!"}, "protocol-200", "HTTP/1.0 200 OK\r\n"),
    ],
    ids=["as wanted", "no JSON", "another body", "another status"],
)
@pytest.mark.parametrize("protocol", ["pong", "http/1.0"])
def test_a_reply_counts_only_if_it_is_the_expected_one(
    protocol: str, reply: dict[str, Any], error: str, example: str
) -> None:
    """The first unexpected response is kept as an example of a few bytes."""
    mode = ("pong", "0") if protocol == "pong" else ("http", "1")
    outcome = outcome_of(
        *mode, protocol=protocol, rate_per_s=100, connections=30, timeout_s=PATIENCE_S, reply=reply
    )
    if not error:
        assert outcome.total("replies") == 30 and outcome.reports[0]["faults"] == {}
        return
    assert outcome.errors == {error: 30}
    (fault,) = fault_of(outcome, error)
    assert fault["connections"] == 30
    assert fault["example"].replace("HTTP/1.1", "HTTP/1.0").startswith(example)
    assert len(fault["example"]) <= 120


def test_nobody_listening_is_refused() -> None:
    with target("pong") as server, agent() as load:
        server.process.kill()
        server.process.wait()
        outcome = load.run(server.port, rate_per_s=100, connections=50, **PONG)
    assert outcome.errors == {"connrefused": 50}


def test_calls_are_accounted_for_at_three_times_the_servers_limit() -> None:
    """10 ms a connection: 100/s at most."""
    outcome = outcome_of(
        "pong", "0.01", protocol="pong", rate_per_s=300, connections=600, timeout_s=0.5
    )
    assert outcome.total("due") == 600
    assert outcome.errors.get("client-timo", 0) > 0


def test_calls_are_accounted_for_when_the_server_is_killed_in_the_middle() -> None:
    with target("pong") as server, agent() as load:

        def kill(window: dict[str, Any]) -> None:
            if window["replies"]:
                server.process.kill()
            if "connrefused" in window["errors"]:
                load.say(op="stop", id=1)

        outcome = load.run(server.port, kill, rate_per_s=500, connections=50_000, **PONG)
    assert outcome.total("replies") > 0
    assert outcome.errors.get("connrefused", 0) > 0


def test_calls_are_accounted_for_when_the_clients_descriptors_are_exhausted() -> None:
    limited = (sys.executable, "-c", LOWER_LIMIT)
    with target("hold") as server, agent(wrap=limited) as load:
        outcome = load.run(
            server.port, protocol="pong", rate_per_s=500, connections=250, timeout_s=2.0
        )
    assert outcome.errors.get("fd-unavail", 0) > 0


LOWER_LIMIT = (
    "import os, resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64));"
    "os.execv(sys.argv[1], sys.argv[1:])"
)


def test_calls_are_accounted_for_when_the_clients_ports_are_exhausted() -> None:
    as_root = () if os.geteuid() == 0 else ("--map-root-user",)
    network = ("unshare", *as_root, "--net")
    if subprocess.run([*network, "true"], check=False).returncode:
        pytest.skip("a network of its own needs the right to make namespaces")
    script = Path(__file__).with_name("ports_exhausted.py")
    result = subprocess.run(
        [*network, sys.executable, str(script)], check=False, capture_output=True, text=True
    )
    assert result.stdout.split() == ["addrunavail", "client-timo"], result.stderr
