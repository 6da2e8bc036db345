"""The Pong application on CherryPy's WSGI server alone, as published in 2010."""

import argparse

from cheroot.wsgi import PathInfoDispatcher, Server
from pong_wsgi import application

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()
    server = Server(
        (args.host, args.port),
        PathInfoDispatcher([("/", application)]),
        request_queue_size=args.backlog,
        server_name="localhost",
    )
    server.keep_alive_conn_limit = 20_000
    try:
        server.start()
    except KeyboardInterrupt:
        server.stop()
