"""The Pong application on Waitress, with its four threads."""

import argparse

from pong_wsgi import application
from waitress import serve

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()
    serve(
        application, host=args.host, port=args.port, backlog=args.backlog, connection_limit=20_000
    )
