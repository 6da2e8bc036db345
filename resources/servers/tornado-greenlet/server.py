"""Hello World with Tornado, the handler in a greenlet."""

import argparse
import asyncio
import functools

from greenlet import greenlet
from tornado.web import Application, RequestHandler


def in_greenlet(method):
    """The method runs in a greenlet of its own, as the decorator of greenlet_tornado had it."""

    @functools.wraps(method)
    def run(*args):
        greenlet(method).switch(*args)

    return run


class Pong(RequestHandler):
    @in_greenlet
    def get(self):
        self.set_header("Content-Type", "text/plain")
        self.write("Pong!")


class Hello(RequestHandler):
    @in_greenlet
    def get(self):
        self.set_header("Content-Type", "text/plain")
        self.write("Hello World\n")


async def main(host, port, backlog):
    app = Application([("/", Pong), ("/hello", Hello)], log_function=lambda handler: None)
    app.listen(port, host, backlog=backlog)
    await asyncio.Event().wait()  # for ever


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    asyncio.run(main(**vars(parser.parse_args())))
