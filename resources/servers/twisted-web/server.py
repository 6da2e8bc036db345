"""Hello World with Twisted web: a Resource, rendered by the reactor."""

import argparse

from twisted.internet.defer import Deferred
from twisted.internet.endpoints import TCP4ServerEndpoint
from twisted.internet.task import react
from twisted.web.resource import Resource
from twisted.web.server import Site


class Pong(Resource):
    isLeaf = True

    def render_GET(self, request):
        request.setHeader(b"Content-Type", b"text/plain")
        return b"Hello World\n" if request.path == b"/hello" else b"Pong!"


async def main(reactor, host, port, backlog):
    await TCP4ServerEndpoint(reactor, port, backlog, host).listen(Site(Pong()))
    await Deferred()  # for ever


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()
    react(main, (args.host, args.port, args.backlog))
