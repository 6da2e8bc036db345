import socket
import sys

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=512)

clients = []
while True:
    clients.append(listener.accept())
