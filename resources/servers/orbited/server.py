"""Ping-pong in Orbited's process: a Twisted protocol beside its own servers."""

import sys

from twisted.internet import epollreactor

epollreactor.install()  # before anything of Orbited imports another

import orbited.start  # noqa: E402, F401
from twisted.internet import protocol, reactor  # noqa: E402

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


class Pong(protocol.Protocol):
    def connectionMade(self):
        self.transport.write(PONG)
        self.transport.loseConnection()


host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
factory = protocol.ServerFactory()
factory.protocol = Pong
reactor.listenTCP(port, factory, backlog, host)
reactor.run()
