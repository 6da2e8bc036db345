"""The other PAIR socket: every message has to come back twice."""

import sys

import zmq

host, port = sys.argv[1:]
context = zmq.Context()


def connected(kind, *addresses):
    sock = context.socket(kind)
    sock.linger = 0
    sock.rcvtimeo = sock.sndtimeo = 5_000
    for address in addresses:
        sock.connect(address)
    return sock


pair = connected(zmq.PAIR, f"tcp://{host}:{port}")
for number in range(100):
    pair.send(b"%d" % number)
answers = [int(pair.recv()) for _ in range(200)]
assert answers == [number // 2 for number in range(200)], f"It answered {answers}."
print("200 messages came for 100, in order.")
