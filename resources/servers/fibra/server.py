"""Ping-pong with Fibra: a generator a connection."""

import socket
import sys

import fibra
import fibra.net

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


def pong(transport):
    try:
        yield transport.send(PONG)
    except socket.error:
        pass  # the client has gone; raised on, it would end the server
    yield transport.close()


host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def deepen(listener):
    """Fibra listens with a backlog of 5; listening again is how to change it."""
    listener.listen(backlog)
    yield None


schedule = fibra.schedule()
schedule.install(fibra.net.listen((host, port), pong, deepen))
schedule.run()
