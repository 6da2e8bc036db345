"""The Pong application on Magnum Py: the published config.py, and `serve.py start`.

Its configuration is a module of its own package, magnum.config; here it is made at run time. It
always becomes a daemon; here it stays in the foreground.
"""

import imp
import os
import sys

import magnum

host, port = sys.argv[1], int(sys.argv[2])
config = magnum.config = sys.modules["magnum.config"] = imp.new_module("magnum.config")

import magnum.http  # noqa: E402
import magnum.http.wsgi  # noqa: E402
from pong_wsgi import application  # noqa: E402

config.WORKER_PROCESSES = 1
config.WORKER_THREADS_PER_PROCESS = 1000
config.HOST = (host, port)
config.HANDLER_CLASS = magnum.http.wsgi.WSGIWrapper(application)
config.DEBUG = False
config.CACHE = False
config.PID_FILE = os.path.abspath("magnum-%d.pid" % os.getpid())
config.LOG_FILE = os.devnull

import magnum.ipc  # noqa: E402
import magnum.serve  # noqa: E402


def stay():
    with open(config.PID_FILE, "w") as file:
        file.write(str(os.getpid()))
    sys.stdout = open(os.devnull, "w")  # it prints a line for each request, into its log


magnum.serve.daemonize = stay

if __name__ == "__main__":
    magnum.serve.start()
