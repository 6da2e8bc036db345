"""A streamer: a ventilator on ipc, workers on tcp."""

import itertools
import sys
import threading

import zmq

host, port, backlog = sys.argv[1:]
context = zmq.Context()


def opened(kind, address):
    sock = context.socket(kind)
    sock.backlog = int(backlog)
    sock.bind(address)
    return sock


def push():
    ventilator = context.socket(zmq.PUSH)
    ventilator.connect("ipc://ventilator")
    for number in itertools.count():
        ventilator.send(b"%d" % number)


workers = opened(zmq.PUSH, f"tcp://{host}:{port}")
ventilator = opened(zmq.PULL, "ipc://ventilator")
threading.Thread(target=push, daemon=True).start()
zmq.proxy(ventilator, workers)
