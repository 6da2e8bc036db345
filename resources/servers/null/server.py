"""The null server: accept, write, close, and nothing else.

Three system calls a connection, which is the least an honest responder can make; what the load
generator cannot offer to this, it cannot offer to anyone.
"""

import argparse
import contextlib
import gc
import os
import socket

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


def serve(listener):
    # _accept gives a bare descriptor: no socket object is made and thrown away.
    accept, write, close = listener._accept, os.write, os.close
    while True:
        with contextlib.suppress(OSError):
            while True:
                client, _ = accept()
                try:
                    write(client, PONG)
                finally:
                    close(client)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()
    family = socket.AF_INET6 if ":" in args.host else socket.AF_INET

    gc.disable()
    serve(socket.create_server((args.host, args.port), family=family, backlog=args.backlog))
