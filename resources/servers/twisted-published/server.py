"""Ping-pong with Twisted as published in 2009: a Protocol on the epoll reactor."""

import argparse

from twisted.internet import epollreactor

epollreactor.install()

from twisted.internet import reactor  # noqa: E402
from twisted.internet.protocol import Factory, Protocol  # noqa: E402

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


class Pong(Protocol):
    def connectionMade(self):
        self.transport.write(PONG)
        self.transport.loseConnection()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()
    factory = Factory()
    factory.protocol = Pong
    reactor.listenTCP(args.port, factory, args.backlog, args.host)
    reactor.run()
