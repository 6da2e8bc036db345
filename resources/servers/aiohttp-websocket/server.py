"""Echo over WebSocket with aiohttp: a coroutine for each connection."""

import argparse

from aiohttp import WSMsgType, web


async def echo(request):
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for message in socket:
        if message.type is WSMsgType.TEXT:
            await socket.send_str(message.data)
        elif message.type is WSMsgType.BINARY:
            await socket.send_bytes(message.data)
    return socket


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)

    app = web.Application()
    app.add_routes([web.get("/", echo)])
    web.run_app(app, **vars(parser.parse_args()), access_log=None, print=None)
