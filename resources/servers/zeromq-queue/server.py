"""A queue: REQ clients on tcp, two REP workers behind it on inproc."""

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


def work(name):
    worker = context.socket(zmq.REP)
    worker.connect("inproc://workers")
    while True:
        worker.send(name + worker.recv())


clients = opened(zmq.ROUTER, f"tcp://{host}:{port}")
workers = opened(zmq.DEALER, "inproc://workers")
for name in (b"1 ", b"2 "):
    threading.Thread(target=work, args=(name,), daemon=True).start()
zmq.proxy(clients, workers)
