"""The Pong application in Tornado's WSGI container."""

import argparse
import asyncio

from pong_wsgi import application
from tornado.httpserver import HTTPServer
from tornado.wsgi import WSGIContainer


async def main(host, port, backlog):
    HTTPServer(WSGIContainer(application)).listen(port, host, backlog=backlog)
    await asyncio.Event().wait()  # for ever


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    asyncio.run(main(**vars(parser.parse_args())))
