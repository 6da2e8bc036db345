"""The Pong application on gevent.pywsgi, with as little around a connection as it allows."""

import argparse

import gevent
from gevent.pywsgi import WSGIServer
from pong_wsgi import application

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()
    WSGIServer(
        (args.host, args.port),
        application,
        backlog=args.backlog,
        log=None,
        spawn=gevent.spawn_raw,
    ).serve_forever()
