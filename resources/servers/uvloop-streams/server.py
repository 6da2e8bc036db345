"""Ping-pong with asyncio's streams on uvloop: one coroutine a connection."""

import argparse
import asyncio
import contextlib

import uvloop

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


async def pong(reader, writer):
    with contextlib.suppress(ConnectionError):
        writer.write(PONG)
        await writer.drain()
    writer.close()


async def main(host, port, backlog):
    server = await asyncio.start_server(pong, host, port, backlog=backlog)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    uvloop.run(main(**vars(parser.parse_args())))
