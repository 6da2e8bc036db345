"""The Pong application on Concurrence's WSGI server."""

import sys

from concurrence import dispatch
from concurrence.http import WSGIServer
from pong_wsgi import application


def serve():
    WSGIServer(application).serve((sys.argv[1], int(sys.argv[2])))


dispatch(serve)
