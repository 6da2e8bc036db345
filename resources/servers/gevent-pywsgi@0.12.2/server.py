"""The Pong application on gevent.wsgi 0.12.2, which left HTTP to libevent."""

import sys

from gevent.wsgi import WSGIServer
from pong_wsgi import application

host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
server = WSGIServer((host, port), application)
server.backlog = backlog
server.serve_forever()
