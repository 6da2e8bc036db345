import socket
import sys

PONG = b"HTTP/1.0 404 Not Found\r\nContent-Length: 5\r\n\r\nPong!\r\n"
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=512)

while True:
    client, _ = listener.accept()
    client.sendall(PONG)
    client.close()
