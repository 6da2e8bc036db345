"""The ZeroMQ servers: an echo (REQ/REP, PAIR, a queue) or a source of messages (PUB/SUB, PUSH/PULL,
a forwarder, a streamer). Their sockets are opened by requests to a REP socket on the given port:

{"op": "open", "transport": "tcp" or "ipc", "size": in bytes, "high_water_mark": in messages,
 "rate": messages per second, 0: as many as possible, "messages": at most, 0: not limited}
{"op": "ready"}   answered once the subscriber is known
{"op": "start"}   the source begins to send
{"op": "stop"}    it ends, and the answer is the number of messages it sent
"""

import argparse
import struct
import threading
import time
from pathlib import Path

import zmq

TOPIC = b"pong"
HEADER = struct.Struct("<4s?xxxQQQ")
"""Topic, whether the rest is given, number, and when it was scheduled and sent (ns of the machine's
monotonic clock)."""
UNTIMED = 15
"""Of as many messages as possible, those after each with a header: a clock costs as much as they
do. Those that are lost among them show in the next number."""
WAIT_S = 5
LARGE = 1 << 16
"""Bytes from which on an echo sends back the message itself and no copy."""


class Session:
    """The sockets of one measurement, each in a thread. They are closed with their context."""

    def __init__(self, pattern, host, backlog, order):
        self.order, self.backlog = order, backlog
        self.context = zmq.Context()
        events = (threading.Event() for _ in range(5))
        self.subscribed, self.begun, self.ended, self.counted, self.closed = events
        self.sent, self.sender = 0, None
        own = f"ipc://@pongbench-{time.monotonic_ns()}"
        address = own if order["transport"] == "ipc" else f"tcp://{host}:*"
        self.patterns[pattern](self, address)

    def opened(self, kind):
        sock = self.context.socket(kind)
        sock.linger = 0
        sock.sndhwm = sock.rcvhwm = self.order["high_water_mark"]
        sock.backlog = self.backlog
        return sock

    def bound(self, kind, address):
        sock = self.opened(kind)
        sock.bind(address)
        self.endpoint = sock.last_endpoint.rstrip(b"\0").decode()
        return sock

    def connected(self, kind, address):
        sock = self.opened(kind)
        sock.connect(address)
        return sock

    def run(self, work, *sockets):
        def until_closed():
            try:
                work(*sockets)
            except zmq.ContextTerminated:
                pass
            finally:
                for sock in sockets:
                    sock.close()

        thread = threading.Thread(target=until_closed, daemon=True)
        thread.start()
        return thread

    def echo(self, sock):
        self.subscribed.set()
        copied = self.order["size"] < LARGE
        while True:
            sock.send(sock.recv(copy=copied), copy=copied)

    def send(self, sock):
        if sock.type == zmq.XPUB:
            sock.recv()  # XPUB is PUB, but its subscriptions can be read.
        self.subscribed.set()
        self.begun.wait()
        sock.sndtimeo = 100
        order, ended, clock = self.order, self.ended, time.monotonic_ns
        most, interval = order["messages"] or 1 << 62, 1e9 / order["rate"] if order["rate"] else 0
        message, pack, send = bytearray(order["size"]), HEADER.pack_into, sock.send
        plain = TOPIC.ljust(order["size"], b"\0")
        begun, number = clock(), 0
        while number < most and not ended.is_set():
            now = due = clock()
            if interval and (due := begun + round(number * interval)) > now:
                time.sleep(min(due - now, 10_000_000) / 1e9)
                continue
            pack(message, 0, TOPIC, True, number, due, now)
            try:
                send(message)
                number += 1
                for _ in range(0 if interval else min(UNTIMED, most - number)):
                    send(plain)
                    number += 1
            except zmq.Again:  # The high-water mark is reached.
                continue
        self.sent = number
        self.counted.set()
        self.closed.wait()  # What is queued still has to arrive.

    def source(self, sock):
        self.sender = self.run(self.send, sock)

    def device(self, address, front, back):
        """Start a source behind a device, both in this process."""
        self.run(zmq.proxy, self.bound(back, "inproc://back"), self.bound(front, address))
        self.source(self.connected(front, "inproc://back"))

    def queue(self, address):
        workers = self.bound(zmq.DEALER, "inproc://back")
        self.run(zmq.proxy, workers, self.bound(zmq.ROUTER, address))
        for _ in range(2):
            self.run(self.echo, self.connected(zmq.REP, "inproc://back"))

    patterns = {  # noqa: RUF012  it does not change
        "req-rep": lambda self, address: self.run(self.echo, self.bound(zmq.REP, address)),
        "pair": lambda self, address: self.run(self.echo, self.bound(zmq.PAIR, address)),
        "pub-sub": lambda self, address: self.source(self.bound(zmq.XPUB, address)),
        "push-pull": lambda self, address: self.source(self.bound(zmq.PUSH, address)),
        "queue": queue,
        "forwarder": lambda self, address: self.device(address, zmq.XPUB, zmq.XSUB),
        "streamer": lambda self, address: self.device(address, zmq.PUSH, zmq.PULL),
    }

    def stop(self):
        """Return the number of messages that the source has sent."""
        self.ended.set()
        if self.sender and self.begun.is_set():
            self.counted.wait(WAIT_S)
        return self.sent

    def close(self):
        for event in (self.ended, self.begun, self.closed):
            event.set()
        self.context.term()


class Server:
    """Answers requests, for one session at a time."""

    def __init__(self, pattern, host, backlog):
        self.opening = (pattern, host, backlog)
        self.pattern = pattern
        self.session = None

    def answer(self, order):
        op = order["op"]
        if op == "open":
            if self.session:
                self.session.close()
            self.session = Session(*self.opening, order)
            boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
            return {"pattern": self.pattern, "endpoint": self.session.endpoint, "boot": boot}
        if self.session is None:
            raise ValueError("nothing is open")
        if op == "ready":
            return {"ready": self.session.subscribed.wait(WAIT_S)}
        if op == "start":
            self.session.begun.set()
            return {}
        if op == "stop":
            return {"sent": self.session.stop()}
        raise ValueError(f"unknown op {op!r}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pattern", choices=list(Session.patterns))
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("backlog", type=int)
    given = parser.parse_args()
    server = Server(given.pattern, given.host, given.backlog)
    control = zmq.Context().socket(zmq.REP)
    control.backlog = given.backlog
    control.bind(f"tcp://{given.host}:{given.port}")
    while True:
        try:
            control.send_json(server.answer(control.recv_json()))
        except (KeyError, TypeError, ValueError, zmq.ZMQError) as error:
            control.send_json({"error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main()
