"""The Pong application on wsgiref."""

import argparse
import socket
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from pong_wsgi import application


class Quiet(WSGIRequestHandler):
    def log_message(self, format, *args):
        pass


class Server(WSGIServer):
    def __init__(self, host, port, backlog):
        self.request_queue_size = backlog
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), Quiet)
        self.set_app(application)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    Server(**vars(parser.parse_args())).serve_forever()
