"""A SUB socket behind a forwarder: its topic has to come, and no other."""

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


subscriber = connected(zmq.SUB, f"tcp://{host}:{port}")
subscriber.subscribe(b"sport")
messages = [subscriber.recv_multipart() for _ in range(50)]
topics = {topic for topic, _ in messages}
assert topics == {b"sport"}, f"It got other topics: {topics}."
print("50 messages of the topic came through, and none of the other.")
