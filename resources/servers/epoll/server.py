"""Ping-pong by hand: one epoll loop, non-blocking sockets, nothing between."""

import argparse
import select
import socket

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


def serve(listener):
    listener.setblocking(False)
    epoll = select.epoll()
    epoll.register(listener, select.EPOLLIN | select.EPOLLET)
    clients = {}
    while True:
        for descriptor, _ in epoll.poll():
            if descriptor == listener.fileno():
                for client in accepted(listener):
                    clients[client.fileno()] = client, memoryview(PONG)
                    epoll.register(client, select.EPOLLOUT)
                continue
            client, left = clients[descriptor]
            try:
                left = left[client.send(left) :]
            except BlockingIOError:
                continue
            except ConnectionError:
                left = b""
            if left:
                clients[descriptor] = client, left
            else:
                del clients[descriptor]
                client.close()


def accepted(listener):
    while True:
        try:
            client, _ = listener.accept()
        except BlockingIOError:
            return
        except ConnectionError:
            continue
        client.setblocking(False)
        yield client


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()
    family = socket.AF_INET6 if ":" in args.host else socket.AF_INET
    serve(socket.create_server((args.host, args.port), family=family, backlog=args.backlog))
