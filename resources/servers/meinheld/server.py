"""The Pong application on Meinheld."""

import argparse

from meinheld import server
from pong_wsgi import application

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()
    server.set_backlog(args.backlog)
    server.set_keepalive(60)
    server.set_access_logger(None)
    server.listen((args.host, args.port))
    server.run(application)
