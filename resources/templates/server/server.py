"""Answers every connection with one reply and closes it."""

import socket
import sys

REPLY = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!"

host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
family = socket.AF_INET6 if ":" in host else socket.AF_INET
listener = socket.create_server((host, port), family=family, backlog=backlog)
while True:
    connection, _ = listener.accept()
    with connection:
        try:
            connection.recv(1000)
            connection.sendall(REPLY)
        except ConnectionError:
            pass  # the client has gone
