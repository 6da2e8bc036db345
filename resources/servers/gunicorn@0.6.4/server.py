"""The Pong application on Gunicorn 0.6.4, with one worker."""

import os
import sys

from gunicorn.main import run

host, port, backlog = sys.argv[1:]
os.setpgrp = lambda: None  # refused, for it leads a session here already
with open("gunicorn.conf.py", "w") as file:  # no option of its command line sets the backlog
    file.write("backlog = %d" % int(backlog))
sys.argv[1:] = ["--bind", "%s:%s" % (host, port), "--log-level", "error", "pong_wsgi:application"]
run()
