"""The null server for HTTP: as many replies as requests have ended, and nothing else.

One epoll loop on bare descriptors. A request is four bytes that end it; the only other thing looked
for is whether the connection is to be kept.
"""

import argparse
import contextlib
import gc
import os
import select
import socket
import ssl

KEPT = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nPong!"
LAST = b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nPong!"


def serve(listener):
    # _accept gives a bare descriptor: no socket object is made and thrown away.
    accept, close, read, write = listener._accept, os.close, os.read, os.write
    listener.setblocking(False)
    listening = listener.fileno()
    epoll = select.epoll()
    epoll.register(listening, select.EPOLLIN)
    register, unregister = epoll.register, epoll.unregister
    while True:
        for descriptor, _ in epoll.poll():
            if descriptor == listening:
                with contextlib.suppress(BlockingIOError, ConnectionError):
                    while True:
                        client, _ = accept()
                        os.set_blocking(client, False)
                        register(client, select.EPOLLIN)
                continue
            try:
                data = read(descriptor, 65_536)
                if data.endswith(b"\r\n\r\n"):
                    ends = data.count(b"\r\n\r\n")
                    if b"HTTP/1.0" not in data and b"close\r\n" not in data:
                        write(descriptor, KEPT * ends)
                        continue
                    write(descriptor, LAST)
                elif data:
                    continue  # the rest is on its way; it ends the same
            except BlockingIOError:
                continue
            except OSError:
                pass
            unregister(descriptor)
            close(descriptor)


def serve_tls(listener, certificate, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listener.setblocking(False)
    epoll = select.epoll()
    epoll.register(listener, select.EPOLLIN)
    streams = {}
    while True:
        for descriptor, _ in epoll.poll():
            if descriptor == listener.fileno():
                with contextlib.suppress(BlockingIOError, ConnectionError):
                    while True:
                        sock, _ = listener.accept()
                        sock.setblocking(False)
                        inside, outside = ssl.MemoryBIO(), ssl.MemoryBIO()
                        tls = context.wrap_bio(inside, outside, server_side=True)
                        streams[sock.fileno()] = (sock, tls, inside, outside)
                        epoll.register(sock, select.EPOLLIN)
                continue
            if not answer(*streams[descriptor]):
                epoll.unregister(descriptor)
                streams.pop(descriptor)[0].close()


def answer(sock, tls, inside, outside):
    """Answer what came. Returns whether the connection stays open."""
    try:
        data = sock.recv(65_536)
        if not data:
            return False
        inside.write(data)
        kept = True
        with contextlib.suppress(ssl.SSLWantReadError):
            # The first read completes the handshake.
            while inside.pending or tls.pending():
                data = tls.read(65_536)
                if not data:
                    return False
                ends = data.count(b"\r\n\r\n")
                if ends and (b"HTTP/1.0" in data or b"close\r\n" in data):
                    tls.write(LAST)
                    kept = False
                elif ends:
                    tls.write(KEPT * ends)
        if outside.pending:
            sock.send(outside.read())
        return kept
    except OSError:
        return False


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    parser.add_argument("--certificate", default="", help="with --key: speak TLS")
    parser.add_argument("--key", default="")
    args = parser.parse_args()
    family = socket.AF_INET6 if ":" in args.host else socket.AF_INET

    gc.disable()
    listener = socket.create_server((args.host, args.port), family=family, backlog=args.backlog)
    if args.certificate:
        serve_tls(listener, args.certificate, args.key)
    serve(listener)
