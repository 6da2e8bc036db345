"""Aspen with a site of one page, a file, on Cheroot."""

import sys

from aspen.website import Website
from cheroot.wsgi import WSGIServer

host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
website = Website(["--www_root", "www", "--project_root", ".", "--logging_threshold", "2"])
server = WSGIServer((host, port), wsgi_app=website)
server.request_queue_size = backlog
server.start()
