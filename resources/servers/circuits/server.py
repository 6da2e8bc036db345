"""Ping-pong with circuits: a component that answers events with events."""

import argparse

from circuits import Component
from circuits.core.pollers import EPoll
from circuits.net.events import close, write
from circuits.net.sockets import TCP6Server, TCPServer

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


class Pong(Component):
    channel = "server"

    def connect(self, sock, host, port):
        self.fire(write(sock, PONG))
        self.fire(close(sock))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()

    app = Pong()
    EPoll().register(app)
    server = TCP6Server if ":" in args.host else TCPServer
    server((args.host, args.port), backlog=args.backlog).register(app)
    app.run()
