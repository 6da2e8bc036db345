"""The Pong application in Twisted web's WSGI container."""

import argparse

from pong_wsgi import application
from twisted.internet import reactor
from twisted.web.server import Site
from twisted.web.wsgi import WSGIResource

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()
    resource = WSGIResource(reactor, reactor.getThreadPool(), application)
    reactor.listenTCP(args.port, Site(resource), args.backlog, args.host)
    reactor.run()
