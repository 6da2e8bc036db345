"""The Pong application on Cogen's WSGI server, as published in 2010."""

import sys

from cogen.common import Scheduler, priority
from cogen.web import wsgi
from pong_wsgi import application

host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
scheduler = Scheduler(default_priority=priority.LAST, default_timeout=15)
server = wsgi.WSGIServer(
    (host, port), application, scheduler, server_name="pongserver", request_queue_size=backlog
)
scheduler.add(server.serve)
scheduler.run()
