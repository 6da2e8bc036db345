import socket
import sys

address = ("127.0.0.1", int(sys.argv[1]))
taken = socket.socket()
taken.bind(address)
listener = socket.create_server(address)
