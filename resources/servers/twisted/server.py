"""Ping-pong with Twisted: one Protocol a connection, called back by the reactor."""

import argparse

from twisted.internet.defer import Deferred
from twisted.internet.endpoints import TCP4ServerEndpoint
from twisted.internet.protocol import Factory, Protocol
from twisted.internet.task import react

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


class Pong(Protocol):
    def connectionMade(self):
        self.transport.write(PONG)
        self.transport.loseConnection()


async def main(reactor, host, port, backlog):
    endpoint = TCP4ServerEndpoint(reactor, port, backlog, host)
    await endpoint.listen(Factory.forProtocol(Pong))
    await Deferred()  # for ever


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()
    react(main, (args.host, args.port, args.backlog))
