"""Ping-pong with Concurrence: a tasklet a connection."""

import sys

from concurrence import Tasklet, dispatch
from concurrence.io import Socket

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


def pong(client):
    stream = client.get_stream() if hasattr(client, "get_stream") else client
    stream.write(PONG)
    client.close()


def serve():
    listener = Socket.new()
    listener.set_reuse_address(1)
    listener.bind((sys.argv[1], int(sys.argv[2])))
    listener.listen(int(sys.argv[3]))
    while True:
        Tasklet.new(pong)(listener.accept())


dispatch(serve)
