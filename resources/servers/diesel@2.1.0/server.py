"""Ping-pong with Diesel 2.1.0: a green loop a connection; returning ends it."""

import sys

from diesel import Application, Service, send

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


def pong(address):
    send(PONG)


host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
Service.LQUEUE_SIZ = backlog
app = Application()
app.add_service(Service(pong, port, iface=host))
app.run()
