"""The Pong application on Spawning: one process of green threads."""

import os
import sys

import eventlet
from spawning import spawning_controller

host, port, backlog = sys.argv[1:]
spawning_controller.os.setpgrp = lambda: None  # refused, for it leads a session here already
listen = eventlet.listen
eventlet.listen = lambda address: listen(address, backlog=int(backlog))  # it takes none itself
os.environ["PYTHONPATH"] = os.pathsep.join([os.getcwd(), os.environ["PYTHONPATH"]])
sys.argv[1:] = ["--host", host, "--port", port, "--processes", "1", "--threads", "0"]
sys.argv += ["--access-log-file", os.devnull, "pong_wsgi.application"]
spawning_controller.main()
