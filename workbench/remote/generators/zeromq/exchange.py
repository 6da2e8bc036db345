"""Sends messages to an echo, one after another."""

from __future__ import annotations

import time
from collections.abc import Callable
from time import monotonic_ns
from typing import TYPE_CHECKING, Any

import zmq

from .point import GIVEN, HEADER, SLICE_MS, TOPIC, Refused

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


QUIET_NS = 500_000_000
"""Without a message for this long, the rest of a source's messages are lost."""


def take(point: Point) -> int:
    """Receive what the source sends until the schedule ends, and what is on its way then. Returns
    how many messages kept coming for longer than the timeout; other missing ones are lost."""
    point.ask(op="start")
    late_ns = 0 if point.closed else round(point.load.timeout_s * 1e9)
    until = point.until_ns + late_ns

    def ended(now: int, heard: int) -> bool:
        # With other clients, how many messages come here is unknown.
        silent = not point.numbered and now - heard > QUIET_NS
        return now >= until or (silent and bool(_say(point)["over"]))

    stopped = _receive(point, point.limit, ended)
    point.note_end(monotonic_ns())
    try:
        sent: int = point.ask(op="stop")["sent"]
    except Refused:  # It has ended, which is found out elsewhere.
        return 0
    received_by = monotonic_ns() + round(point.load.timeout_s * 1e9)

    def received(now: int, heard: int) -> bool:
        silent = now - heard > QUIET_NS if point.numbered else _of_all(point) == sent
        return silent or now >= received_by

    if not stopped:
        _receive(point, sent, received)
    still_coming = point.numbered and monotonic_ns() >= received_by
    missing: int = sent - (point.number if point.numbered else _of_all(point) or sent)
    if missing <= 0 or (point.load.share and not point.numbered):
        return 0  # The first client counts what none of them has.
    point.number += missing
    if still_coming:
        return missing
    point.tally.errors["protocol-lost"] += missing
    return 0


def _of_all(point: Point) -> int:
    """Return how many messages all clients have received; 0: not all have said."""
    return int(_say(point)["messages"] or 0)


def _say(point: Point) -> dict[str, Any]:
    """Say how many messages this client has, and return what is known of all."""
    try:
        return point.ask(op="received", client=point.load.share, messages=point.number)
    except Refused:  # The server has ended, which is found out elsewhere.
        return {"messages": None, "over": True}


def _receive(point: Point, most: int, over: Callable[[int, int], bool]) -> bool:
    """Receive up to message `most`, or until `over`, which is asked with the time and that of the
    last message, at the end of each window and while nothing comes. Returns whether the point was
    ended."""
    tally, size = point.tally, point.size
    receive, unpack, clock, record = (
        point.sock.recv,
        HEADER.unpack_from,
        monotonic_ns,
        _record(point),
    )
    number, untimed, numbered = point.number, 0, point.numbered
    seen = number
    heard = clock()
    boundary = 0
    while number < most:
        try:
            data = receive()
        except zmq.Again:
            now = clock()
            if number != seen:  # Those without a time are heard, too.
                seen, heard = number, now
        else:
            number += 1
            if not data[GIVEN]:
                untimed += 1
                continue
            now = heard = clock()
            _, _, given, due, sent = unpack(data)
            if numbered and given >= number:
                tally.errors["protocol-lost"] += given + 1 - number
                number = given + 1
            if len(data) == size:
                record(now, due, sent)
            else:
                tally.lose("protocol-body", 1)
            if now < boundary:
                continue
        point.number = number
        tally.untimed += untimed
        untimed = 0
        if point.over(now, ends=False):
            return True
        if over(now, heard):
            return False
        boundary = point.next_window
        if now < point.until_ns:
            boundary = min(boundary, point.until_ns)
    point.number = number
    tally.untimed += untimed
    return False


def _record(point: Point) -> Callable[[int, int, int], None]:
    """Return what records the times of a message: received, scheduled, sent."""
    tally = point.tally
    if not point.same_clock:

        def untimed(now: int, due: int, sent: int) -> None:
            tally.untimed += 1

        return untimed
    if point.closed:
        add = tally.alike.append

        def alike(now: int, due: int, sent: int) -> None:
            add(now - sent)

        return alike

    def timed(now: int, due: int, sent: int) -> None:
        tally.latency.append(now - due)
        tally.whole_at_once.append(now - sent)
        tally.lateness.append(sent - due)

    return timed
