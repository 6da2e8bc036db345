"""Ping-pong with an asyncio Protocol on uvloop: one object a connection, called by the loop."""

import argparse
import asyncio

import uvloop

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


class Pong(asyncio.Protocol):
    def connection_made(self, transport):
        transport.write(PONG)
        transport.close()


async def main(host, port, backlog):
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Pong, host, port, backlog=backlog)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    uvloop.run(main(**vars(parser.parse_args())))
