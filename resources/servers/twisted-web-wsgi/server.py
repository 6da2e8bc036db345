"""The Pong application in Twisted web's WSGI container."""

import argparse

from pong_wsgi import application
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import TCP4ServerEndpoint
from twisted.internet.task import react
from twisted.web.server import Site
from twisted.web.wsgi import WSGIResource


async def main(reactor, host, port, backlog):
    resource = WSGIResource(reactor, reactor.getThreadPool(), application)
    await TCP4ServerEndpoint(reactor, port, backlog, host).listen(Site(resource))
    await Deferred()  # for ever


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()
    react(main, (args.host, args.port, args.backlog))
