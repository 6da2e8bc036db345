"""How failed connections are described."""

from __future__ import annotations

import socket

import asyncssh
import pytest

from workbench.machines.sshconnect import reason

REFUSED = "[Errno 111] Connect call failed"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(111, "Connect call failed ('10.0.0.5', 22)"), "connection refused"),
        (OSError(f"Multiple exceptions: {REFUSED} ('::1', 22), {REFUSED}"), "connection refused"),
        (socket.gaierror(-2, "Name or service not known"), "name or service not known"),
        (asyncssh.ConnectionLost("Connection lost."), "connection lost"),
        (BrokenPipeError("Channel not open for sending"), "the session was closed there"),
        (ConnectionResetError(), "the connection was closed"),
    ],
)
def test_a_failure_is_reported_without_its_numbers(error: Exception, words: str) -> None:
    assert reason(error) == words
