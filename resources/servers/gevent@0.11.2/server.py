"""Ping-pong with gevent 0.11.2: an accept loop, and one greenlet a connection."""

import sys

import gevent
from gevent import socket

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


def pong(client):
    try:
        client.sendall(PONG)
    except socket.error:
        pass  # the client has gone
    client.close()


host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
listener = socket.tcp_listener((host, port), backlog=backlog)
while True:
    client, _ = listener.accept()
    gevent.spawn(pong, client)
