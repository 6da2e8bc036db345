"""Ping-pong with Tornado 0.2: an accept loop on the IOLoop, and an IOStream for each connection."""

import errno
import socket
import sys

from tornado import ioloop, iostream

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


def accept(fd, events):
    while True:
        try:
            client, _ = listener.accept()
        except socket.error as error:
            if error.args[0] not in (errno.EWOULDBLOCK, errno.EAGAIN):
                raise
            return
        stream = iostream.IOStream(client)
        stream.write(PONG, stream.close)


listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.setblocking(0)
listener.bind((sys.argv[1], int(sys.argv[2])))
listener.listen(int(sys.argv[3]))
loop = ioloop.IOLoop.instance()
loop.add_handler(listener.fileno(), accept, loop.READ)
loop.start()
