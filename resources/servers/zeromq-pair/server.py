"""A PAIR socket that echoes, in two messages."""

import sys

import zmq

host, port, backlog = sys.argv[1:]
context = zmq.Context()


def opened(kind, address):
    sock = context.socket(kind)
    sock.backlog = int(backlog)
    sock.bind(address)
    return sock


pair = opened(zmq.PAIR, f"tcp://{host}:{port}")
while True:
    message = pair.recv()
    pair.send(message)
    pair.send(message)
