"""Ping-pong with gevent: one greenlet a connection."""

import argparse
import contextlib

import gevent
from gevent.server import StreamServer

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


def pong(client, address):
    with contextlib.suppress(OSError):  # the client may have left already
        client.sendall(PONG)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    parser.add_argument("--workers", type=int, default=1)
    args = parser.parse_args()
    server = StreamServer((args.host, args.port), pong, backlog=args.backlog)
    server.init_socket()  # which all workers share
    for _ in range(args.workers - 1):
        if not gevent.fork():
            break
    server.serve_forever()
