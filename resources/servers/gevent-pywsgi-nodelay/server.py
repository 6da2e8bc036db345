"""The Pong application on gevent.pywsgi, one greenlet a connection, sent without delay."""

import argparse

from gevent import socket
from gevent.pywsgi import WSGIServer
from gevent.ssl import PROTOCOL_TLS_SERVER, SSLContext
from pong_wsgi import application

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    parser.add_argument("--certificate", default="", help="with --key: speak TLS")
    parser.add_argument("--key", default="")
    args = parser.parse_args()

    listener = socket.socket(socket.AF_INET6 if ":" in args.host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.bind((args.host, args.port))
    listener.listen(args.backlog)
    tls = {}
    if args.certificate:  # Given the files instead, it would read them for every connection.
        tls["ssl_context"] = SSLContext(PROTOCOL_TLS_SERVER)
        tls["ssl_context"].load_cert_chain(args.certificate, args.key)
    WSGIServer(listener, application, log=None, **tls).serve_forever()
