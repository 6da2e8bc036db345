"""Ping-pong with asyncore: a dispatcher a connection, told what its socket is ready for."""

import argparse
import asyncore
import socket

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


class Pong(asyncore.dispatcher_with_send):
    def __init__(self, sock):
        super().__init__(sock)
        self.out_buffer = PONG

    def readable(self):
        return False

    def handle_write(self):
        super().handle_write()
        if not self.out_buffer:
            self.close()


class Server(asyncore.dispatcher):
    def __init__(self, host, port, backlog):
        super().__init__()
        self.create_socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        self.set_reuse_addr()
        self.bind((host, port))
        self.listen(backlog)

    def handle_accepted(self, sock, address):
        Pong(sock)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    Server(**vars(parser.parse_args()))
    asyncore.loop(use_poll=True)
