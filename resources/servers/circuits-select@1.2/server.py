"""Ping-pong with Circuits 1.2: a component that writes and closes as a client connects."""

import sys

from circuits.net.sockets import TCPServer

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


class Pong(TCPServer):
    def connect(self, sock, host, port):
        self.write(sock, PONG)
        self.close(sock)


host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
Pong((host, port), backlog=backlog).run()
