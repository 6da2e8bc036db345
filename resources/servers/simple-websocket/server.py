"""Echo over WebSocket with simple-websocket on gevent.pywsgi: two greenlets for each connection."""

from gevent import monkey

monkey.patch_all()

import argparse  # noqa: E402
import contextlib  # noqa: E402
from socket import SHUT_RDWR  # noqa: E402

from gevent.pywsgi import WSGIServer  # noqa: E402
from simple_websocket import ConnectionClosed, Server  # noqa: E402


class Whole:
    """A socket whose `send` sends everything: simple-websocket does not look at how much of a
    message was sent, so it cuts one that is larger than the socket's buffer."""

    def __init__(self, socket):
        self.socket = socket
        self.send = socket.sendall

    def __getattr__(self, name):
        return getattr(self.socket, name)


def echo(environ, start_response):
    socket = Server.accept(environ)
    socket.sock = Whole(socket.sock)
    try:
        while True:
            socket.send(socket.receive())
    except ConnectionClosed:
        # Neither the library nor gevent.pywsgi does this part of a server (RFC 6455, 7.1.1).
        with contextlib.suppress(OSError):
            environ["wsgi.input"].raw._sock.shutdown(SHUT_RDWR)
        return []


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()

    WSGIServer((args.host, args.port), echo, backlog=args.backlog, log=None).serve_forever()
