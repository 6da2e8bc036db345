"""Ping-pong with Tornado as published in 2009: the event loop calls an accept loop, and each
connection is an IOStream."""

import argparse
import errno
import functools
import socket

from tornado import ioloop, iostream

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


def ready(listener, descriptor, events):
    while True:
        try:
            client, _ = listener.accept()
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN):
                raise
            return
        client.setblocking(False)
        stream = iostream.IOStream(client)
        stream.write(PONG).add_done_callback(lambda _, stream=stream: stream.close())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    args = parser.parse_args()
    listener = socket.socket(socket.AF_INET6 if ":" in args.host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setblocking(False)
    listener.bind((args.host, args.port))
    listener.listen(5000)
    loop = ioloop.IOLoop.current()
    loop.add_handler(listener.fileno(), functools.partial(ready, listener), loop.READ)
    loop.start()
