"""Ping-pong with Eventlet as published in 2009: an accept loop, and a green thread that writes
through a file object."""

import argparse
import contextlib
import socket

import eventlet

PONG = "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


def pong(client):
    with contextlib.suppress(OSError):  # the client may have left already
        client.makefile("w").write(PONG)
    client.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()
    family = socket.AF_INET6 if ":" in args.host else socket.AF_INET
    listener = eventlet.listen((args.host, args.port), family=family, backlog=args.backlog)
    while True:
        client, _ = listener.accept()
        eventlet.spawn(pong, client)
