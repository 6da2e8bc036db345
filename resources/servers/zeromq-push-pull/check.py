"""Two PULL sockets: each job has to come to one of them, and once."""

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


workers = [connected(zmq.PULL, f"tcp://{host}:{port}") for _ in range(2)]
jobs = [int(worker.recv()) for _ in range(1_000) for worker in workers]
assert len(set(jobs)) == 2_000, f"Of 2,000 jobs {2_000 - len(set(jobs))} came twice."
print("2,000 jobs came to two workers, none of them twice.")
