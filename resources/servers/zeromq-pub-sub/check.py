"""A SUB socket with a topic: it has to get all of that from its first message on, and no other."""

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
subscriber.subscribe(b"weather")
messages = [subscriber.recv_multipart() for _ in range(50)]
topics = {topic for topic, _ in messages}
numbers = [int(number) for _, number in messages]
assert topics == {b"weather"}, f"It got other topics: {topics}."
assert numbers == list(range(numbers[0], numbers[0] + 50)), f"Messages are missing: {numbers}."
print("50 messages of the topic came, in order, and none of the other.")
