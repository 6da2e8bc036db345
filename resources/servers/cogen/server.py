"""Ping-pong with Cogen: a coroutine a connection, as its author proposed to readers."""

import socket
import sys

from cogen.core import schedulers, sockets
from cogen.core.coroutines import coroutine

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


@coroutine
def pong(client):
    yield client.sendall(PONG)
    client.close()


@coroutine
def serve(host, port, backlog):
    listener = sockets.Socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(backlog)
    while True:
        client, _ = yield listener.accept()
        scheduler.add(pong, args=(client,))


scheduler = schedulers.Scheduler()
scheduler.add(serve, args=(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
scheduler.run()
