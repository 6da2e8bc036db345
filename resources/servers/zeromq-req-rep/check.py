"""One REQ socket connected to two servers: its requests have to be dealt out evenly."""

import sys
from pathlib import Path

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


second = Path("second").read_text()
client = connected(zmq.REQ, f"tcp://{host}:{port}", second)
answers = []
for number in range(100):
    client.send(b"%d" % number)
    server, echoed = client.recv().split()
    assert echoed == b"%d" % number, f"It echoed {echoed!r} instead of {number}."
    answers.append(server)
assert answers.count(b"1") == answers.count(b"2") == 50, f"It answered unevenly: {answers}."
print("Two servers answered 50 of 100 requests each, in turn.")
