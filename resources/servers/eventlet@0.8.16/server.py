"""Ping-pong with Eventlet 0.8.16: one green thread a connection."""

import socket
import sys

from eventlet import api

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


def pong(client):
    try:
        client.sendall(PONG)
    except socket.error:
        pass  # the client has gone
    client.close()


host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
listener = api.tcp_listener((host, port), backlog=backlog)
while True:
    client, _ = listener.accept()
    api.spawn(pong, client)
