"""Sends messages to an echo, one after another."""

from __future__ import annotations

import time
from time import monotonic_ns
from typing import TYPE_CHECKING

import zmq

from .message import HEADER, SLICE_MS, TOPIC

if TYPE_CHECKING:
    from .point import Point


def exchange(point: Point) -> int:
    """Send a message, wait until it comes back, send the next. Returns how many are out."""
    tally, closed = point.tally, point.closed
    timeout_ns = round(point.load.timeout_s * 1e9)
    message = bytearray(point.size)
    while point.number < point.limit:
        now = monotonic_ns()
        due = now if closed else point.due_at(point.number)
        if point.over(now, ends=closed):
            return 0
        if due > now:
            time.sleep(min(due - now, SLICE_MS * 1_000_000) / 1e9)
            continue
        point.number += 1
        if now - due > timeout_ns:
            tally.unsent += 1
            continue
        HEADER.pack_into(message, 0, TOPIC, True, point.number, due, now)
        sent = bytes(message)
        point.sock.send(sent)
        if not closed:
            tally.lateness.append(now - due)
        reply, ended = _reply(point, now + timeout_ns)
        if reply is None and ended < now + timeout_ns:
            return 1
        if reply is None or ended > now + timeout_ns:
            tally.lose("client-timo", 1)
            point.sock.close()  # A REQ socket cannot send before it has a reply.
            point.sock = point.peer()
        elif reply != sent:
            tally.lose("protocol-body", 1, reply)
        elif closed:
            tally.alike.append(ended - now)
        else:
            tally.latency.append(ended - due)
            tally.whole_at_once.append(ended - now)
    return 0


def _reply(point: Point, until_ns: int) -> tuple[bytes | None, int]:
    """Return the next message and when it came; None: not by then, or the point was ended."""
    receive = point.sock.recv
    while True:
        try:
            reply = receive()
        except zmq.Again:
            now = monotonic_ns()
            if point.over(now, 1, ends=False) or now >= until_ns:
                return None, now
        else:
            return reply, monotonic_ns()
