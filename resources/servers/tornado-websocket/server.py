"""Echo over WebSocket with Tornado: a handler for each connection, called by the loop."""

import argparse
import asyncio

from tornado.web import Application
from tornado.websocket import WebSocketHandler


class Echo(WebSocketHandler):
    def on_message(self, message):
        self.write_message(message, binary=isinstance(message, bytes))


async def main(host, port, backlog):
    app = Application([("/", Echo)], log_function=lambda handler: None)
    app.listen(port, host, backlog=backlog)
    await asyncio.Event().wait()  # for ever


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    asyncio.run(main(**vars(parser.parse_args())))
