"""Ping-pong with Twisted 10.0.0: one Protocol a connection, called back by the epoll reactor."""

import sys

from twisted.internet import epollreactor

epollreactor.install()

from twisted.internet import reactor  # noqa: E402
from twisted.internet.protocol import Factory, Protocol  # noqa: E402

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


class Pong(Protocol):
    def connectionMade(self):
        self.transport.write(PONG)
        self.transport.loseConnection()


factory = Factory()
factory.protocol = Pong
host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
reactor.listenTCP(port, factory, backlog=backlog, interface=host)
reactor.run()
