"""A PUB socket: weather and sport, a hundred times a second each."""

import itertools
import sys
import time

import zmq

host, port, backlog = sys.argv[1:]
context = zmq.Context()


def opened(kind, address):
    sock = context.socket(kind)
    sock.backlog = int(backlog)
    sock.bind(address)
    return sock


publisher = opened(zmq.PUB, f"tcp://{host}:{port}")
for number in itertools.count():
    publisher.send_multipart([b"weather", b"%d" % number])
    publisher.send_multipart([b"sport", b"%d" % number])
    time.sleep(0.01)
