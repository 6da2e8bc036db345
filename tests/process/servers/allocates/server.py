"""Allocates memory for every open connection: allocates/server.py BYTES PORT."""

import select
import socket
import sys

PONG = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nPong!"

size = int(sys.argv[1])
listener = socket.create_server(("127.0.0.1", int(sys.argv[2])), backlog=1024)
epoll = select.epoll()
epoll.register(listener, select.EPOLLIN)
clients = {}
while True:
    for ready, _ in epoll.poll():
        if ready == listener.fileno():
            client, _ = listener.accept()
            clients[client.fileno()] = client, bytearray(b"x" * size)
            epoll.register(client, select.EPOLLIN)
            continue
        client = clients[ready][0]
        try:
            said = client.recv(4096)
            if said:
                client.sendall(PONG)
        except ConnectionError:
            said = b""
        if not said:
            epoll.unregister(client)
            client.close()
            del clients[ready]
