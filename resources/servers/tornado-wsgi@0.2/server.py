"""The Pong application in Tornado's WSGI container, version 0.2."""

import sys

from pong_wsgi import application
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.wsgi import WSGIContainer

server = HTTPServer(WSGIContainer(application))
server.bind(int(sys.argv[2]), sys.argv[1])
server._socket.listen(int(sys.argv[3]))  # bind() listens with 128 and takes no other
server.start(1)
IOLoop.instance().start()
