"""The Pong application on Paste's HTTP server, version 1.7.2."""

import logging
import sys

from paste.httpserver import serve
from pong_wsgi import application

host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
logging.disable(logging.CRITICAL)
serve(application, host, port, request_queue_size=backlog)
