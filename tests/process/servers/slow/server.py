import contextlib
import socket
import sys
import time

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=512)

while True:
    client, _ = listener.accept()
    until = time.perf_counter() + 0.005
    while time.perf_counter() < until:
        pass
    with client, contextlib.suppress(OSError):
        client.sendall(PONG)
