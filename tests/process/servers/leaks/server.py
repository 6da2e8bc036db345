import socket
import sys

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=512)

kept = []
while True:
    client, _ = listener.accept()
    with client:
        try:
            client.recv(1000)
            client.sendall(PONG)
        except ConnectionError:
            pass
    kept.append(bytearray(200_000))
