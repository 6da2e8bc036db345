"""Two REP servers that echo: one where it is told to listen, one on a port that was free."""

import sys
import threading
from pathlib import Path

import zmq

host, port, backlog = sys.argv[1:]
context = zmq.Context()


def opened(kind, address):
    sock = context.socket(kind)
    sock.backlog = int(backlog)
    sock.bind(address)
    return sock


def echo(sock, name):
    while True:
        sock.send(name + sock.recv())


first = opened(zmq.REP, f"tcp://{host}:{port}")
second = opened(zmq.REP, f"tcp://{host}:*")
Path("second").write_text(second.last_endpoint.decode())
threading.Thread(target=echo, args=(second, b"2 "), daemon=True).start()
echo(first, b"1 ")
