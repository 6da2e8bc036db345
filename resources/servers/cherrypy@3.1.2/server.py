"""The Pong application on CherryPy's WSGI server, version 3.1.2, with its ten threads."""

import sys

from cherrypy.wsgiserver import CherryPyWSGIServer
from pong_wsgi import application

host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
CherryPyWSGIServer((host, port), application, request_queue_size=backlog).start()
