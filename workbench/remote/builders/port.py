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
    host, why = task["host"], ""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for port in task["ports"]:
        with socket.socket(family) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                sock.bind((host, port))
                sock.listen(1)
                return {"port": port}
            except OSError as error:
                why = os.strerror(error.errno or -1)
    raise Failed("taken", why)
