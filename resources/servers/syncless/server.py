"""Ping-pong with Syncless: a tasklet a connection."""

import socket
import sys

from syncless import coio

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


def pong(client):
    try:
        client.sendall(PONG)
    finally:
        client.close()


listener = coio.nbsocket(socket.AF_INET, socket.SOCK_STREAM)
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind((sys.argv[1], int(sys.argv[2])))
listener.listen(int(sys.argv[3]))
while True:
    client, _ = listener.accept()
    coio.stackless.tasklet(pong)(client)
