"""Pong on gevent.http 0.12.2: a callback for each request that libevent has read."""

import sys

from gevent.http import HTTPServer


def pong(request):
    request.add_output_header("Content-Type", "text/plain")
    request.send_reply(200, "OK", b"Hello World\n" if request.uri == "/hello" else b"Pong!")


host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
server = HTTPServer(pong, spawn=None)
server.start((host, port), backlog=backlog)
server._stopped_event.wait()
