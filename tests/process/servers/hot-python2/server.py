import socket
import sys


def burn():
    x = 0
    for n in range(300000):
        x += n * n
    return x


listener = socket.socket()
listener.bind(("127.0.0.1", int(sys.argv[1])))
listener.listen(64)
while True:
    connection, _ = listener.accept()
    burn()
    connection.sendall("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!")
    connection.close()
