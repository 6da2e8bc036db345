"""The null server for WebSocket: every frame goes back as it came, and nothing else is done.

One epoll loop on bare descriptors, and no object for an idle connection: only a frame that came in
part, or an answer that the socket had no room for, is kept. There is no check of what clients send.
"""

import argparse
import base64
import contextlib
import gc
import hashlib
import os
import re
import select
import socket

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
KEY = re.compile(rb"\r\nsec-websocket-key:[ \t]*(\S+)", re.IGNORECASE)
CLOSE, PING, PONG = 0x8, 0x9, 0xA


def handshake(request):
    key = KEY.search(request)
    if key is None:
        return b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    accept = base64.b64encode(hashlib.sha1(key[1] + GUID, usedforsecurity=False).digest())
    return (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n"
    )


def answer(data):
    """Return what answers the whole frames in `data`, their length, and whether one was a close."""
    out, at = b"", 0
    while len(data) - at >= 6:
        size, head = data[at + 1] & 0x7F, 2
        if size >= 126:
            head = 4 if size == 126 else 10
            if len(data) < at + head:
                break
            size = int.from_bytes(data[at + 2 : at + head], "big")
        start = at + head + 4
        if len(data) < start + size:
            break
        mask = data[start - 4 : start]
        pattern = int.from_bytes((mask * (size // 4 + 1))[:size], "big")
        payload = (int.from_bytes(data[start : start + size], "big") ^ pattern).to_bytes(
            size, "big"
        )
        opcode = data[at] & 0x0F
        if opcode != PONG:
            first = (data[at] & 0xF0) | (PONG if opcode == PING else opcode)
            out += bytes((first, data[at + 1] & 0x7F)) + data[at + 2 : at + head] + payload
        at = start + size
        if opcode == CLOSE:
            return out, at, True
    return out, at, False


class Server:
    def __init__(self, listener):
        self.listener = listener
        self.epoll = select.epoll()
        self.shaken = bytearray(1 << 20)  # by descriptor
        self.partial, self.unsent = {}, {}
        listener.setblocking(False)
        self.epoll.register(listener.fileno(), select.EPOLLIN)

    def serve(self):
        listening = self.listener.fileno()
        while True:
            for descriptor, events in self.epoll.poll():
                if descriptor == listening:
                    self.accept()
                    continue
                try:
                    self.handle(descriptor, events)
                except BlockingIOError:
                    continue
                except OSError:
                    self.end(descriptor)

    def accept(self):
        # _accept gives a bare descriptor: no socket object is made and thrown away.
        with contextlib.suppress(BlockingIOError, ConnectionError):
            while True:
                client, _ = self.listener._accept()
                os.set_blocking(client, False)
                self.epoll.register(client, select.EPOLLIN)

    def handle(self, descriptor, events):
        if events & select.EPOLLOUT:
            self.epoll.modify(descriptor, select.EPOLLIN)
            self.send(descriptor, self.unsent.pop(descriptor, b""))
            if events == select.EPOLLOUT:
                return
        data = os.read(descriptor, 262_144)
        if not data:
            self.end(descriptor)
            return
        data = self.partial.pop(descriptor, b"") + data
        if not self.shaken[descriptor]:
            self.shake(descriptor, data)
            return
        reply, taken, closed = answer(data)
        if reply:
            self.send(descriptor, reply)
        if closed:
            self.end(descriptor)
        elif taken < len(data):
            self.partial[descriptor] = data[taken:]

    def shake(self, descriptor, data):
        if b"\r\n\r\n" not in data:
            self.partial[descriptor] = data
            return
        self.shaken[descriptor] = 1
        reply = handshake(data)
        self.send(descriptor, reply)
        if b" 101 " not in reply:
            self.end(descriptor)

    def send(self, descriptor, data):
        if waiting := self.unsent.get(descriptor):
            self.unsent[descriptor] = waiting + data
            return
        try:
            sent = os.write(descriptor, data)
        except BlockingIOError:
            sent = 0
        if sent < len(data):
            self.unsent[descriptor] = data[sent:]
            self.epoll.modify(descriptor, select.EPOLLIN | select.EPOLLOUT)

    def end(self, descriptor):
        self.epoll.unregister(descriptor)
        self.partial.pop(descriptor, None)
        self.unsent.pop(descriptor, None)
        self.shaken[descriptor] = 0
        os.close(descriptor)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--backlog", type=int, default=512)
    args = parser.parse_args()
    family = socket.AF_INET6 if ":" in args.host else socket.AF_INET

    gc.disable()
    Server(
        socket.create_server((args.host, args.port), family=family, backlog=args.backlog)
    ).serve()
