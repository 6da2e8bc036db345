"""Takes messages from a source. Some or all have their number and when they were scheduled and
sent; the others are counted."""

from __future__ import annotations

import time
from collections.abc import Callable
from time import monotonic_ns
from typing import TYPE_CHECKING

import zmq

from .message import GIVEN, HEADER, SLICE_MS, WAIT_S, Refused

if TYPE_CHECKING:
    from .point import Point

QUIET_NS = 500_000_000
"""Without a message for this long, the rest of a source's messages are lost."""


def take(point: Point) -> int:
    """Receive what the source sends until the schedule ends, and what is on its way then. Returns
    how many messages kept coming for longer than the timeout; other missing ones are lost."""
    point.ask(op="start")
    late_ns = 0 if point.closed else round(point.load.timeout_s * 1e9)
    until = point.until_ns + late_ns
    # With other clients, how many messages come here is unknown.
    quiet_ns = max(QUIET_NS, 4 * point.clients * point.interval_ns)
    if point.numbered:
        quiet_ns = 1 << 62
    stopped = _receive(
        point, point.limit, lambda now, heard: now >= until or now - heard > quiet_ns
    )
    point.note_end(monotonic_ns())
    try:
        sent: int = point.ask(op="stop")["sent"]
    except Refused:  # It has ended, which is found out elsewhere.
        return 0
    received_by = monotonic_ns() + round(point.load.timeout_s * 1e9)
    if not stopped:
        _receive(point, sent, lambda now, heard: now - heard > QUIET_NS or now >= received_by)
    still_coming = monotonic_ns() >= received_by
    missing: int = max(0, sent - (point.number if point.numbered else _all_received(point, sent)))
    point.number += missing
    if still_coming:
        return missing
    if missing:
        point.tally.errors["protocol-lost"] += missing
    return 0


def _all_received(point: Point, sent: int) -> int:
    """Return how many messages all clients have received, for the first of them to count those
    lost; others, and where one does not say, `sent`."""
    until = monotonic_ns() + round(WAIT_S * 1e9)
    while monotonic_ns() < until:
        try:
            answer = point.ask(op="received", client=point.load.share, messages=point.number)
        except Refused:
            break
        if point.load.share:
            break
        if answer["messages"] is not None:
            return int(answer["messages"])
        time.sleep(SLICE_MS / 1000)
    return sent


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
