"""The Pong application on gevent.pywsgi, with as little around a connection as it allows."""

import argparse

import gevent
from gevent import socket
from gevent.pywsgi import WSGIServer
from pong_wsgi import application

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()

    listener = socket.socket(socket.AF_INET6 if ":" in args.host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.bind((args.host, args.port))
    listener.listen(args.backlog)
    WSGIServer(listener, application, log=None, spawn=gevent.spawn_raw).serve_forever()
