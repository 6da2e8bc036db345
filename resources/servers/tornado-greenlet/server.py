"""Hello World with Tornado, the handler in a greenlet: it waits without saying await."""

import argparse
import asyncio
import functools

from greenlet import getcurrent, greenlet
from tornado.web import Application, RequestHandler


def in_greenlet(method):
    """The method runs in a greenlet; what it waits for is awaited on its behalf."""

    @functools.wraps(method)
    async def run(*args):
        worker = greenlet(method)
        awaited = worker.switch(*args)
        while not worker.dead:
            try:
                result = await awaited
            except Exception as error:
                awaited = worker.throw(error)
            else:
                awaited = worker.switch(result)
        return awaited

    return run


def wait(awaitable):
    """The result of an awaitable, for code in a greenlet."""
    return getcurrent().parent.switch(awaitable)


class Pong(RequestHandler):
    @in_greenlet
    def get(self):
        wait(asyncio.sleep(0))
        self.set_header("Content-Type", "text/plain")
        self.write("Pong!")


async def main(host, port, backlog):
    app = Application([("/", Pong)], log_function=lambda handler: None)
    app.listen(port, host, backlog=backlog)
    await asyncio.Event().wait()  # for ever


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    asyncio.run(main(**vars(parser.parse_args())))
