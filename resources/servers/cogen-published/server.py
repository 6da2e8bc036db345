"""Hello World with Cogen as published in 2009: one coroutine for all connections, which writes
through file objects."""

import socket
import sys

from cogen.core import schedulers, sockets
from cogen.core.coroutines import coroutine

HELLO = "HTTP/1.0 200 OK\r\nContent-Length: 12\r\n\r\nHello World!\r\n"


@coroutine
def serve(host, port, backlog):
    listener = sockets.Socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(backlog)
    while True:
        client, _ = yield listener.accept()
        try:
            file = client.makefile()
            yield file.write(HELLO)
            yield file.flush()
        except (socket.error, sockets.SocketError):
            pass  # the client has gone
        client.close()


scheduler = schedulers.Scheduler()
scheduler.add(serve, args=(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
scheduler.run()
