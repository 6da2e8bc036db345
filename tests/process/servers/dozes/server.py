import contextlib
import socket
import sys
import time

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!"
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=512)

while True:
    client, _ = listener.accept()
    time.sleep(0.005)
    with client, contextlib.suppress(OSError):
        client.recv(4096)
        client.sendall(PONG)
