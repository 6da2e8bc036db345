"""The Pong application on eventlet.wsgi, version 0.8.16."""

import os
import sys

from eventlet import api, wsgi
from pong_wsgi import application

host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
listener = api.tcp_listener((host, port), backlog=backlog)
wsgi.server(listener, application, log=open(os.devnull, "w"), max_size=10000)
