"""Ping-pong with Tornado: one coroutine a connection."""

import argparse
import asyncio
import contextlib

from tornado.iostream import StreamClosedError
from tornado.tcpserver import TCPServer

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


class PongServer(TCPServer):
    async def handle_stream(self, stream, address):
        with contextlib.suppress(StreamClosedError):
            await stream.write(PONG)
        stream.close()


async def main(host, port, backlog):
    server = PongServer()
    server.listen(port, host, backlog=backlog)
    await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    asyncio.run(main(**vars(parser.parse_args())))
