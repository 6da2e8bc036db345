"""A reply that the load agent reads after the timeout counts as a timeout, however long the agent
had to wait for a core, and whatever it handles first then."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from time import monotonic_ns
from types import SimpleNamespace
from typing import Any

import pytest

from workbench.remote.agent.driver import Driver
from workbench.remote.agent.point import Point, driver_of
from workbench.remote.agent.protocol import Load
from workbench.remote.agent.tally import Tally
from workbench.remote.agent.websocket import TEXT, accept_of, server_frame
from workbench.remote.drivers import http, pong, websocket

LATE_NS = 9_000_000_000
KEPT = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nPong!"
LAST = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!"


class Clock:
    """The clock of an agent that may have been without a core for a while."""

    ahead_ns = 0

    def __call__(self) -> int:
        return monotonic_ns() + self.ahead_ns


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for module in (http, pong, websocket):
        monkeypatch.setattr(module, "monotonic_ns", clock)
    return clock


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)
        yield listening


WATCHER = SimpleNamespace(start=lambda handle: None, stop=lambda: None, close=lambda: None)
LOOP = SimpleNamespace(io=lambda fd, events: WATCHER)


def a_load(listener: socket.socket, **load: Any) -> Load:
    port = listener.getsockname()[1]
    return Load(**{"host": "127.0.0.1", "port": port, "timeout_s": 2.0, **load})


def a_driver(listener: socket.socket, **load: Any) -> Driver:
    asked = a_load(listener, **load)
    return driver_of(asked)(LOOP, asked, Tally(asked.calls_per_connection))


def ready(driver: Driver) -> None:
    assert select.select([driver.epoll.fileno()], [], [], 60)[0], "nothing to handle"


def handle(driver: Driver, events: int = 1) -> None:
    for _ in range(events):
        ready(driver)
        driver.on_events()


@pytest.mark.parametrize("late", [False, True], ids=["in time", "late"])
@pytest.mark.parametrize(
    ("workload", "calls", "answered", "reply"),
    [
        ("pong", 1, 0, LAST),
        ("http", 1, 0, LAST),
        ("http", 1, 0, KEPT),
        ("http", 4, 0, KEPT),
        ("http", 4, 2, KEPT),
    ],
    ids=["ping-pong", "closing", "kept", "first of four", "third of four, seen before"],
)
def test_a_reply_after_the_timeout_is_a_timeout(
    listener: socket.socket,
    clock: Clock,
    *,
    workload: str,
    calls: int,
    answered: int,
    reply: bytes,
    late: bool,
) -> None:
    options = {"protocol": "http/1.1"}
    driver = a_driver(listener, workload=workload, calls_per_connection=calls, options=options)
    assert driver.begin(clock(), clock())
    server, _ = listener.accept()
    with server:
        for _ in range(answered):
            server.recv(4096)
            server.sendall(reply)
            handle(driver)
        server.recv(4096)
        server.sendall(reply)
        if reply is LAST:
            server.shutdown(socket.SHUT_WR)
        clock.ahead_ns = LATE_NS * late
        handle(driver)
        if reply is LAST and driver.open:  # The end came after the reply.
            handle(driver)
    tally = driver.tally
    assert tally.replies() == answered + (not late)
    assert tally.errors == ({"client-timo": calls - answered} if late else {})
    assert not [ns for ns in (*tally.alike, *tally.service, *tally.whole_at_once) if ns > LATE_NS]
    driver.close()


def test_the_latency_of_each_call_of_a_connection_is_its_own(
    listener: socket.socket, clock: Clock
) -> None:
    """Each takes a second, the last one as well."""
    options = {"protocol": "http/1.1"}
    driver = a_driver(
        listener, workload="http", calls_per_connection=5, timeout_s=120.0, options=options
    )
    begun = clock()
    assert driver.begin(begun, begun)
    server, _ = listener.accept()
    with server:
        for _ in range(5):
            server.recv(4096)
            clock.ahead_ns += 1_000_000_000
            server.sendall(KEPT)
            handle(driver)
    passed_s = (clock() - clock.ahead_ns - begun) / 1e9
    tally = driver.tally
    assert tally.replies() == 5
    assert not tally.errors
    for times in (tally.latency, tally.service):
        seconds = [ns / 1e9 for ns in (*times, *tally.alike)]
        assert len(seconds) == 5
        assert min(seconds) >= 1
        assert max(seconds) < 1 + passed_s, "beside the time that the test itself takes"
    driver.close()


def test_the_last_reply_of_a_connection_counts_the_same_when_it_was_seen_before(
    listener: socket.socket, clock: Clock
) -> None:
    """Each connection is begun a second after it was scheduled."""
    driver = a_driver(listener, workload="http", timeout_s=120.0, options={"protocol": "http/1.0"})
    for _ in range(3):
        begun = clock()
        assert driver.begin(begun - 1_000_000_000, begun)
        server, _ = listener.accept()
        with server:
            server.recv(4096)
            server.sendall(LAST)
            server.shutdown(socket.SHUT_WR)
            while driver.open:
                handle(driver)
    tally = driver.tally
    assert tally.replies() == len(tally.latency) == 3
    service = [*tally.service, *tally.whole_at_once]
    assert len(service) == len([*tally.first_byte, *tally.whole_at_once]) == 3
    assert sum(tally.latency) >= sum(service) + 3_000_000_000
    driver.close()


@pytest.mark.parametrize("workload", ["pong", "http"])
def test_in_a_closed_loop_no_reply_waits_for_connections_that_are_begun(
    listener: socket.socket, workload: str
) -> None:
    load = a_load(
        listener, workload=workload, mode="closed", concurrency=2, seconds=600.0, timeout_s=600.0
    )
    windows: list[dict[str, Any]] = []
    point = Point(LOOP, load, windows.append, lambda report: None)
    point.start(monotonic_ns())
    point.on_alarm()
    driver = point.driver
    begin, answered = driver.replace, []
    assert begin is not None

    def replace(now: int) -> None:
        answered.append(driver.tally.replies())
        begin(now)

    driver.replace = replace
    for _ in range(2):
        server, _ = listener.accept()
        with server:
            server.recv(4096)
            server.sendall(LAST)
    while len(answered) < 2:
        ready(driver)
        point.on_events()
    assert answered == [2, 2]
    assert len(driver.open) == 2
    point.stop()


@pytest.mark.parametrize("late", [None, "handshake", "echo"])
def test_an_echo_or_a_handshake_after_the_timeout_is_a_timeout(
    listener: socket.socket, clock: Clock, late: str | None
) -> None:
    driver = a_driver(
        listener,
        workload="websocket",
        options={"message_size": 5},
        held=1,
        held_per_s=1.0,
        ramp_s=1.0,
        connections=1,
        rate_per_s=1.0,
    )
    begun = clock()
    driver.start(begun, lambda: None)
    assert driver.begin(begun, begun)
    handle(driver)  # It is connected, and asks for the handshake.
    server, _ = listener.accept()
    with server:
        key = server.recv(4096).partition(b"Sec-WebSocket-Key: ")[2].partition(b"\r\n")[0]
        accepting = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade"
        server.sendall(accepting + b"\r\nSec-WebSocket-Accept: " + accept_of(key) + b"\r\n\r\n")
        clock.ahead_ns = LATE_NS * (late == "handshake")
        handle(driver)
        driver.begin(begun + 2_000_000_000, clock())
        if late != "handshake":
            frame = server.recv(4096)
            mask, masked = frame[2:6], frame[6:]
            text = bytes(byte ^ mask[n % 4] for n, byte in enumerate(masked))
            server.sendall(server_frame(TEXT, text))
            clock.ahead_ns = LATE_NS * (late == "echo")
            handle(driver)
    # The connection is a call, too, and so is a message to one that is lost.
    assert driver.tally.replies() == (late is None)
    assert driver.tally.errors == ({"client-timo": 2} if late else {})
    driver.close()
