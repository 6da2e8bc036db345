"""Finds the first port that a server can listen on.

Task: {host, ports}; ready: {port}, failed: `taken`. It binds each port, because ports without a
listener may still be occupied by connections, or by TIME_WAIT.
"""

from __future__ import annotations

import os
import socket
from typing import Any

from . import Failed


def run(task: dict[str, Any]) -> dict[str, Any]:
    error = 0
    for port in task["ports"]:
        error = trial(task["host"], port)
        if not error:
            return {"port": port}
    raise Failed("taken", os.strerror(error))


def trial(host: str, port: int) -> int:
    """Return zero, or the errno of why the port cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, port))
            sock.listen(1)
        except OSError as error:
            return error.errno or -1
    return 0
