"""The Pong application on Bjoern."""

import argparse

import bjoern
from pong_wsgi import application

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()
    bjoern.run(application, args.host, args.port, listen_backlog=args.backlog)
