"""A PUSH socket that has a job for everyone who pulls."""

import itertools
import sys

import zmq

host, port, backlog = sys.argv[1:]
context = zmq.Context()


def opened(kind, address):
    sock = context.socket(kind)
    sock.backlog = int(backlog)
    sock.bind(address)
    return sock


ventilator = opened(zmq.PUSH, f"tcp://{host}:{port}")
for number in itertools.count():
    ventilator.send(b"%d" % number)
