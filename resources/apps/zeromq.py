"""The ZeroMQ servers: an echo (REQ/REP, also of two REP, PAIR, a queue) or a source of messages
(PUB/SUB, PUSH/PULL, a forwarder, a streamer). Their sockets are opened by requests to a REP socket
on the given port:

{"op": "open", "transport": "tcp", "ipc" or "inproc", "size": in bytes,
 "high_water_mark": in messages, "rate": messages per second that arrive, 0: as many as possible,
 "messages": at most, 0: not limited, "clients": how many share the sockets, "client": who asks}
{"op": "ready"}   whether all subscribers are known
{"op": "start"}   the source begins to send
{"op": "stop"}    it ends, and the answer is the number of messages it sent
{"op": "received", "client": who, "messages": how many}   how many all have, once that is
                  known, and whether the source has sent all

Of inproc it opens nothing: a client has this file and makes the `Session` in its own process.
"""

import argparse
import itertools
import math
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
READY_S = 0.05
WAIT_S = 5
LARGE = 1 << 16
"""Bytes from which on an echo sends back the message itself and no copy."""


class Session:
    """The sockets of one measurement, each in a thread. They are closed with their context."""

    def __init__(self, pattern, host, backlog, order):
        self.order, self.backlog = order, backlog
        self.clients = order.get("clients", 1)
        self.joined = {order.get("client", 0)}
        self.received = {}
        """Messages by client, of those who have said."""
        if pattern == "pair" and self.clients > 1:
            raise ValueError("PAIR has one client")
        self.context = context_for(host)
        events = (threading.Event() for _ in range(5))
        self.subscribed, self.begun, self.ended, self.counted, self.closed = events
        self.sent, self.sender = 0, None
        own = f"pongbench-{time.monotonic_ns()}"
        addresses = {"tcp": f"tcp://{host}:*", "ipc": f"ipc://@{own}", "inproc": f"inproc://{own}"}
        self.patterns[pattern](self, addresses[order["transport"]])

    def join(self, order):
        """Return whether one more client of the same sockets asks for them."""
        client = order.get("client", 0)
        if client in self.joined or {**order, "client": 0} != {**self.order, "client": 0}:
            return False
        self.joined.add(client)
        return True

    def opened(self, kind):
        sock = self.context.socket(kind)
        sock.linger = 0
        if kind == zmq.XPUB:
            sock.xpub_verbose = True  # Every subscription to the one topic can be read.
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
        copies = self.clients if sock.type == zmq.XPUB else 1
        if sock.type == zmq.XPUB:
            for _ in range(copies):
                sock.recv()  # XPUB is PUB, but its subscriptions can be read.
        self.subscribed.set()
        self.begun.wait()
        sock.sndtimeo = 100
        order, ended, clock = self.order, self.ended, time.monotonic_ns
        most = math.ceil(order["messages"] / copies) or 1 << 62
        interval = 1e9 / order["rate"] * copies if order["rate"] else 0
        # Messages go round the clients, and each has to get some of those with a header.
        whole = next(n for n in itertools.count(UNTIMED + 1) if math.gcd(n, self.clients) == 1)
        message, pack = bytearray(order["size"]), HEADER.pack_into
        # Without the one of zmq.Socket, which is in Python and takes as long again.
        send = super(zmq.Socket, sock).send
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
                for _ in range(0 if interval else min(whole - 1, most - number)):
                    send(plain)
                    number += 1
            except zmq.Again:  # The high-water mark is reached.
                continue
        self.sent = number
        self.counted.set()
        self.closed.wait()  # What is queued still has to arrive.

    def two(self, address):
        ends = []
        for number in "12":
            own = address if address.endswith("*") else address + number  # * is any free port
            self.run(self.echo, self.bound(zmq.REP, own))
            ends.append(self.endpoint)
        self.endpoint = " ".join(ends)

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
        "req-two-reps": two,
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

    def all_received(self, client, messages):
        """Note what one client has, and return what all have; None: not all have said."""
        self.received[client] = messages
        return sum(self.received.values()) if len(self.received) == self.clients else None

    def close(self):
        for event in (self.ended, self.begun, self.closed):
            event.set()
        self.context.term()


class Server:
    """Answers requests, for one session."""

    def __init__(self, pattern, host, backlog):
        self.opening = (pattern, host, backlog)
        self.pattern = pattern
        self.session = None

    def answer(self, order):
        op = order["op"]
        if op == "open":
            boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
            known = {"pattern": self.pattern, "boot": boot}
            if order["transport"] == "inproc":
                return known
            if not (self.session and self.session.join(order)):
                if self.session:
                    self.session.close()
                    self.session = None
                self.session = Session(*self.opening, order)
            return {**known, "endpoint": self.session.endpoint}
        if self.session is None:
            raise ValueError("nothing is open")
        if op == "ready":
            return {"ready": self.session.subscribed.wait(READY_S)}
        if op == "start":
            self.session.begun.set()
            return {}
        if op == "stop":
            return {"sent": self.session.stop()}
        if op == "received":
            messages = self.session.all_received(order["client"], order["messages"])
            return {"messages": messages, "over": self.session.counted.is_set()}
        raise ValueError(f"unknown op {op!r}")


def context_for(host):
    context = zmq.Context()
    if ":" in host:
        context.setsockopt(zmq.IPV6, 1)
    return context


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pattern", choices=list(Session.patterns))
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("backlog", type=int)
    given = parser.parse_args()
    host = f"[{given.host}]" if ":" in given.host else given.host
    server = Server(given.pattern, host, given.backlog)
    control = context_for(host).socket(zmq.REP)
    control.backlog = given.backlog
    control.bind(f"tcp://{host}:{given.port}")
    while True:
        try:
            control.send_json(server.answer(control.recv_json()))
        except (KeyError, TypeError, ValueError, zmq.ZMQError) as error:
            control.send_json({"error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main()
