"""Echo over WebSocket with gevent-websocket on gevent.pywsgi: a greenlet for each connection."""

import argparse

from gevent.pywsgi import WSGIServer
from geventwebsocket import WebSocketError
from geventwebsocket.handler import WebSocketHandler


def echo(environ, start_response):
    socket = environ["wsgi.websocket"]
    try:
        while (message := socket.receive()) is not None:
            socket.send(message)
    except WebSocketError:
        pass  # the client has gone
    return []


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()

    WSGIServer(
        (args.host, args.port), echo, backlog=args.backlog, log=None, handler_class=WebSocketHandler
    ).serve_forever()
