"""The Pong application on Cheroot, with its ten threads."""

import argparse

from cheroot.ssl.builtin import BuiltinSSLAdapter
from cheroot.wsgi import Server
from pong_wsgi import application

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    parser.add_argument("--certificate", default="", help="with --key: speak TLS")
    parser.add_argument("--key", default="")
    args = parser.parse_args()
    server = Server((args.host, args.port), application, request_queue_size=args.backlog)
    if args.certificate:
        server.ssl_adapter = BuiltinSSLAdapter(args.certificate, args.key)
    server.keep_alive_conn_limit = 20_000
    server.safe_start()
