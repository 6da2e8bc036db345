"""Ping-pong on Weightless's reactor: a callback a connection."""

import socket
import struct
import sys

reload(sys)  # noqa: F821
sys.setdefaultencoding("utf-8")  # or Weightless refuses to be imported

from weightless.io import Acceptor, Reactor  # noqa: E402

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"
reactor = Reactor()


def pong(client):
    # The acceptor leaves a cork in, and a lingering that makes every close a reset.
    client.setsockopt(socket.SOL_TCP, socket.TCP_CORK, 0)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))

    def readable():
        reactor.removeReader(client)
        try:
            client.recv(65536)
        except socket.error:
            pass
        client.close()

    try:
        client.sendall(PONG)
        client.shutdown(socket.SHUT_WR)
    except socket.error:
        client.close()
    else:
        reactor.addReader(client, readable)


host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind((host, port))
listener.listen(backlog)
Acceptor(reactor, port, pong, sok=listener)
reactor.loop()
