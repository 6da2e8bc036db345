"""Ping-pong with Twisted: one Protocol a connection, and the reactor's default backlog."""

import argparse

from twisted.internet import reactor
from twisted.internet.protocol import Factory, Protocol

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


class Pong(Protocol):
    def connectionMade(self):
        self.transport.write(PONG)
        self.transport.loseConnection()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    args = parser.parse_args()
    reactor.listenTCP(args.port, Factory.forProtocol(Pong), interface=args.host)
    reactor.run()
