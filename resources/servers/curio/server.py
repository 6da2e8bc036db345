"""Ping-pong with curio: a task a connection."""

import argparse
import contextlib
import socket
from functools import partial

import curio

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


async def pong(client, address):
    with contextlib.suppress(ConnectionError):
        await client.sendall(PONG)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()
    family = socket.AF_INET6 if ":" in args.host else socket.AF_INET
    more = {"family": family, "backlog": args.backlog}
    curio.run(partial(curio.tcp_server, args.host, args.port, pong, **more))
