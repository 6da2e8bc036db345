"""Two REQ sockets: each gets its own answers, and both workers work."""

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


clients = [connected(zmq.REQ, f"tcp://{host}:{port}") for _ in range(2)]
servers = set()
for number in range(100):
    for client in clients:
        client.send(b"%d" % number)
    for client in clients:
        server, echoed = client.recv().split()
        assert echoed == b"%d" % number, f"It echoed {echoed!r} instead of {number}."
        servers.add(server)
assert servers == {b"1", b"2"}, f"Only {servers} worked."
print("200 requests of two clients were answered by both workers.")
