"""The Pong application on Concurrence's WSGI server, on greenlets.

Without Stackless Python, Concurrence emulates it by greenlets, whose parents it sets when a tasklet
ends. When one ends before one that it started (a client that leaves before its reply is ready),
greenlet refuses that as a cycle, and the server accepts nothing more. Here every greenlet is a
child of the first.
"""

import sys

import greenlet

sys.path.insert(0, sys.argv[4])

first = greenlet.getcurrent()
place = greenlet.greenlet.parent


class Flat(greenlet.greenlet):
    def __init__(self, run):
        super(Flat, self).__init__(run, first)

    @property
    def parent(self):
        return place.__get__(self)

    @parent.setter
    def parent(self, other):
        try:
            place.__set__(self, other)
        except ValueError:  # it is somewhere above the other
            other.parent = first
            place.__set__(self, other)


from concurrence import _stackless, dispatch  # noqa: E402

_stackless.greenlet = Flat

from concurrence.http import WSGIServer  # noqa: E402
from concurrence.io import Socket  # noqa: E402
from pong_wsgi import application  # noqa: E402


def serve():
    listener = Socket.server((sys.argv[1], int(sys.argv[2])), backlog=int(sys.argv[3]))
    WSGIServer(application).serve(listener)


dispatch(serve)
