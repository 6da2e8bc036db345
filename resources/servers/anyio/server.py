"""Ping-pong with anyio on asyncio: a task a connection."""

import argparse

import anyio

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


async def pong(stream):
    try:
        async with stream:
            await stream.send(PONG)
    except anyio.BrokenResourceError:
        pass  # the client has gone


async def main(host, port, backlog):
    listener = await anyio.create_tcp_listener(local_host=host, local_port=port, backlog=backlog)
    await listener.serve(pong)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    anyio.run(main, *vars(parser.parse_args()).values())
