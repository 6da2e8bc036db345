"""Ping-pong with gevent as published in 2009: an accept loop, a greenlet for each connection."""

import argparse
import contextlib

import gevent
from gevent import socket

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


def pong(client):
    with contextlib.suppress(OSError):  # the client may have left already
        client.sendall(PONG)
    client.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()
    listener = socket.socket(socket.AF_INET6 if ":" in args.host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((args.host, args.port))
    listener.listen(args.backlog)
    while True:
        client, _ = listener.accept()
        gevent.spawn(pong, client)
