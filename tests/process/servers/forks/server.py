"""A ping-pong that forks for every connection. `waits`: it waits for the children; `forgets`: it
ignores SIGCHLD, and the kernel drops what they used."""

import contextlib
import os
import signal
import socket
import sys

host, port, backlog, how = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
if how == "forgets":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
listener = socket.create_server((host, port), backlog=backlog)
while True:
    connection, _ = listener.accept()
    if os.fork() == 0:
        with contextlib.suppress(ConnectionError), connection:
            connection.recv(1000)
            connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!")
        os._exit(0)
    connection.close()
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
