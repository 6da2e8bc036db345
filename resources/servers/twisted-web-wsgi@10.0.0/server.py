"""The Pong application in Twisted web's WSGI container, version 10.0.0."""

import sys

from twisted.internet import epollreactor

epollreactor.install()

from pong_wsgi import application  # noqa: E402
from twisted.internet import reactor  # noqa: E402
from twisted.web.server import Site  # noqa: E402
from twisted.web.wsgi import WSGIResource  # noqa: E402

host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
site = Site(WSGIResource(reactor, reactor.getThreadPool(), application))
reactor.listenTCP(port, site, backlog=backlog, interface=host)
reactor.run()
