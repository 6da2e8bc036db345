"""The Pong application in CherryPy, with its ten threads."""

import argparse

import cherrypy
from cheroot.server import HTTPServer
from pong_wsgi import application

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()
    cherrypy.config.update(
        {
            "environment": "production",
            "log.screen": False,
            "server.socket_host": args.host,
            "server.socket_port": args.port,
            "server.socket_queue_size": args.backlog,
        }
    )
    HTTPServer.keep_alive_conn_limit = 20_000
    cherrypy.tree.graft(application, "/")
    cherrypy.engine.signals.subscribe()
    cherrypy.engine.start()
    cherrypy.engine.block()
