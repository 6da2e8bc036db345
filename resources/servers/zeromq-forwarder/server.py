"""A forwarder: publishers on ipc, subscribers on tcp, and a publisher of two topics."""

import itertools
import sys
import threading
import time

import zmq

host, port, backlog = sys.argv[1:]
context = zmq.Context()


def opened(kind, address):
    sock = context.socket(kind)
    sock.backlog = int(backlog)
    sock.bind(address)
    return sock


def publish():
    publisher = context.socket(zmq.PUB)
    publisher.connect("ipc://publishers")
    for number in itertools.count():
        publisher.send_multipart([b"weather", b"%d" % number])
        publisher.send_multipart([b"sport", b"%d" % number])
        time.sleep(0.01)


subscribers = opened(zmq.XPUB, f"tcp://{host}:{port}")
publishers = opened(zmq.XSUB, "ipc://publishers")
threading.Thread(target=publish, daemon=True).start()
zmq.proxy(publishers, subscribers)
