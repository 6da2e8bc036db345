"""Hello World with Medusa: a handler in its HTTP server."""

import asyncore
import sys

from medusa import http_server


class Pong(object):
    def match(self, request):
        return True

    def handle_request(self, request):
        request["Content-Type"] = "text/plain"
        request["Content-Length"] = 5
        request.push("Pong!")
        request.done()


class Silent(object):
    def log(self, message):
        pass


class Server(http_server.http_server):
    def listen(self, _):
        http_server.http_server.listen(self, backlog)  # Medusa's own is 1024

    def log_info(self, message, type="info"):
        pass


host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
server = Server(host, port, logger_object=Silent())
server.install_handler(Pong())
asyncore.loop(use_poll=True)
