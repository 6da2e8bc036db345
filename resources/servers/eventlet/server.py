"""Ping-pong with Eventlet: one green thread a connection."""

import argparse
import contextlib
import socket

import eventlet

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


def pong(client, address):
    with contextlib.suppress(OSError):  # an error raised here would end the server
        client.sendall(PONG)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()
    family = socket.AF_INET6 if ":" in args.host else socket.AF_INET
    listener = eventlet.listen((args.host, args.port), family=family, backlog=args.backlog)
    eventlet.serve(listener, pong)
