"""Ping-pong with trio: a task a connection, in the nursery of serve_tcp."""

import argparse
from functools import partial

import trio

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


async def pong(stream):
    try:
        async with stream:
            await stream.send_all(PONG)
    except trio.BrokenResourceError:
        pass  # the client has gone


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()
    trio.run(partial(trio.serve_tcp, pong, args.port, host=args.host, backlog=args.backlog))
