"""Ping-pong with circuits as published in 2009: a server that writes and closes by itself, with the
default poller."""

import argparse

from circuits import handler
from circuits.net.sockets import TCP6Server, TCPServer

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


def pong(base):
    class Pong(base):
        @handler("connect")
        def connect(self, sock, host, port):
            self.write(sock, PONG)
            self.close(sock)

    return Pong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()
    server = pong(TCP6Server if ":" in args.host else TCPServer)
    server((args.host, args.port), backlog=args.backlog).run()
