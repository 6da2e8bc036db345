"""Lacks one thing: lacks/server.py MODE PORT."""

import contextlib
import os
import socket
import sys
import time

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


def until(seconds: float, work: object) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        work()


HELD = []
LACKS = {
    "time": lambda: until(0.005, lambda: None),
    "kernel": lambda: until(0.005, lambda: os.read(ZEROS, 1 << 16)),
    "sleep": lambda: time.sleep(0.005),
    "descriptors": lambda: HELD.append(os.open("/dev/null", os.O_RDONLY)),
}
ZEROS = os.open("/dev/zero", os.O_RDONLY)
lack = LACKS[sys.argv[1]]
listener = socket.create_server(("127.0.0.1", int(sys.argv[2])), backlog=512)
while True:
    try:
        client, _ = listener.accept()
        with client, contextlib.suppress(ConnectionError):
            lack()
            client.sendall(PONG)
    except OSError:
        time.sleep(0.001)
