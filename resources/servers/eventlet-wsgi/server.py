"""The Pong application on eventlet.wsgi."""

import argparse
import socket

import eventlet
from eventlet import wsgi
from pong_wsgi import application

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()
    family = socket.AF_INET6 if ":" in args.host else socket.AF_INET
    listener = eventlet.listen((args.host, args.port), family=family, backlog=args.backlog)
    wsgi.server(listener, application, log_output=False, max_size=8_000)
