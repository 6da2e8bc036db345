"""Runs on a machine: finds the first port that a server can listen on. Standard library only.

Arguments: address, ports. Output: one JSON object {port} or {error}. It binds each port, because
ports without a listener may still be occupied by connections, or by TIME_WAIT.
"""

from __future__ import annotations

import json
import os
import socket
import sys


def main() -> None:
    host, *ports = sys.argv[1:]
    error = 0
    for port in map(int, ports):
        error = trial(host, port)
        if not error:
            print(json.dumps({"port": port}))
            return
    print(json.dumps({"error": os.strerror(error)}))


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


if __name__ == "__main__":
    main()
