"""Tests a ZeroMQ server: every message has to arrive, in order."""

import argparse

import zmq
from zeromq import HEADER, TOPIC

CALLS = 100
PEERS = {
    "req-rep": zmq.REQ,
    "req-two-reps": zmq.REQ,
    "queue": zmq.REQ,
    "pair": zmq.PAIR,
    "pub-sub": zmq.SUB,
    "forwarder": zmq.SUB,
    "push-pull": zmq.PULL,
    "streamer": zmq.PULL,
}


def connected(context, kind, address):
    sock = context.socket(kind)
    sock.linger = 0
    sock.rcvtimeo = sock.sndtimeo = 5_000
    if kind == zmq.SUB:
        sock.subscribe(TOPIC)
    for end in address.split():
        sock.connect(end)
    return sock


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("host")
    parser.add_argument("port")
    given = parser.parse_args()
    context, host = zmq.Context(), given.host
    if ":" in host:
        context.setsockopt(zmq.IPV6, 1)
        host = f"[{host}]"
    control = connected(context, zmq.REQ, f"tcp://{host}:{given.port}")

    def ask(**order):
        control.send_json(order)
        answer = control.recv_json()
        assert "error" not in answer, f"It refused {order['op']!r}: {answer['error']}."
        return answer

    # Confined as the server is, this program cannot reach its abstract sockets, and so not ipc.
    order = {"transport": "tcp", "size": 64, "high_water_mark": 2 * CALLS}
    opened = ask(op="open", rate=0, messages=CALLS, **order)
    kind = PEERS[opened["pattern"]]
    sock = connected(context, kind, opened["endpoint"])
    ready = any(ask(op="ready")["ready"] for _ in range(100))
    assert ready, "It did not learn of the subscription."
    ask(op="start")
    for number in range(CALLS):
        if kind in (zmq.REQ, zmq.PAIR):
            sock.send(HEADER.pack(TOPIC, True, number, 0, 0))
        topic, given, came, _, _ = HEADER.unpack_from(sock.recv())
        assert topic == TOPIC, f"Topic {topic!r} came in place of {TOPIC!r}."
        assert not given or came == number, f"Message {came} came in place of {number}."
    sent = ask(op="stop")["sent"]
    assert sent in (0, CALLS), f"It sent {sent} messages in place of {CALLS}."
    print(f"{CALLS} messages arrived, in order.")


if __name__ == "__main__":
    main()
