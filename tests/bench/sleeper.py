"""How late a program wakes that does nothing but sleep: `python sleeper.py RATE COUNT`.

By `clock_nanosleep` to absolute times, evenly spaced. Prints p50 and p99 in ms. What
the load agent is late beyond that is its own.
"""

from __future__ import annotations

import ctypes
import sys
import time

SECOND_NS = 1_000_000_000
TIMER_ABSTIME = 1


class Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("ns", ctypes.c_long))


def lateness_ns(rate: float, count: int) -> list[int]:
    sleep = ctypes.CDLL(None).clock_nanosleep
    due = Timespec()
    start = time.monotonic_ns() + 50_000_000
    late = []
    for number in range(count):
        at = start + round(number / rate * SECOND_NS)
        if time.monotonic_ns() < at:
            due.seconds, due.ns = divmod(at, SECOND_NS)
            sleep(time.CLOCK_MONOTONIC, TIMER_ABSTIME, ctypes.byref(due), None)
        late.append(time.monotonic_ns() - at)
    return sorted(late)


if __name__ == "__main__":
    found = lateness_ns(float(sys.argv[1]), int(sys.argv[2]))
    print(*(found[int(q * (len(found) - 1))] / 1e6 for q in (0.5, 0.99)))
