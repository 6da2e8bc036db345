import os
import pathlib
import socket
import sys
import time

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=512)
if os.fork() == 0:
    until = time.process_time() + 0.4
    while time.process_time() < until:
        pass
    pathlib.Path("rested").touch()
    time.sleep(600)
while True:
    client, _ = listener.accept()
    with client:
        try:
            client.recv(1000)
            client.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!")
        except ConnectionError:
            pass
