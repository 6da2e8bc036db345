"""Echo over WebSocket with websockets: a coroutine for each connection, on its asyncio server."""

import argparse
import asyncio

from websockets.asyncio.server import serve


async def echo(connection):
    async for message in connection:
        await connection.send(message)


async def main(host, port, backlog):
    async with serve(echo, host, port, backlog=backlog) as server:
        await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    asyncio.run(main(**vars(parser.parse_args())))
