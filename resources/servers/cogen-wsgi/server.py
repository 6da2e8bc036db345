"""The Pong application on Cogen's WSGI server."""

import sys

from cogen.web.wsgi import server_factory
from pong_wsgi import application

host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
server_factory({}, host, port, request_queue_size=backlog)(application)
