"""The load agent reads each reply to its end, however much of it comes at a time, and although the
kernel reports only what is new."""

from __future__ import annotations

import select
import socket
from time import monotonic_ns
from types import SimpleNamespace
from typing import Any

import pytest

from workbench.remote.agent.driver import RECEIVE, RECEIVE_SMALL, Driver
from workbench.remote.agent.point import driver_of
from workbench.remote.agent.protocol import Load
from workbench.remote.agent.tally import Tally

WATCHER = SimpleNamespace(start=lambda handle: None, stop=lambda: None, close=lambda: None)
LOOP: Any = SimpleNamespace(io=lambda fd, events: WATCHER)
CALLS = 4


def reply_of(size: int, version: str = "1.1") -> bytes:
    """A reply of that many bytes."""
    head = f"HTTP/{version} 200 OK\r\nContent-Length: {{}}\r\n\r\n"
    body = size - len(head.format(size))
    while len(head.format(body)) + body < size:
        body += 1
    return head.format(body).encode() + b"x" * body


def handle(driver: Driver) -> None:
    assert select.select([driver.epoll.fileno()], [], [], 60)[0], "the agent hears no more of it"
    driver.on_events()


@pytest.mark.parametrize("closing", [False, True], ids=["kept", "closing"])
@pytest.mark.parametrize(
    "size", [RECEIVE_SMALL, RECEIVE_SMALL + 1, RECEIVE, RECEIVE + 1, 3 * RECEIVE, 10 * RECEIVE + 7]
)
def test_a_reply_that_fills_one_or_several_reads_is_read_to_its_end(
    size: int, *, closing: bool
) -> None:
    reply = reply_of(size, "1.0" if closing else "1.1")
    calls = 1 if closing else CALLS
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)
        load = Load(
            host="127.0.0.1",
            port=listener.getsockname()[1],
            workload="http",
            options={"protocol": "http/1.0" if closing else "http/1.1"},
            calls_per_connection=calls,
            timeout_s=60.0,
        )
        driver = driver_of(load)(LOOP, load, Tally(calls))
        assert driver.begin(monotonic_ns(), monotonic_ns())
        server, _ = listener.accept()
        with server:
            for call in range(calls):
                assert server.recv(4096)
                server.sendall(reply)
                if closing:
                    server.shutdown(socket.SHUT_WR)
                while driver.tally.replies() == call:
                    handle(driver)
                assert driver.tally.replies() == call + 1, driver.tally.errors
    assert not driver.tally.errors
    driver.close()
