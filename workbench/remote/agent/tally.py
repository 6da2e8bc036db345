"""The results of a point so far, in one worker: the current window, and the whole point."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from time import monotonic_ns
from typing import Any

from .protocol import EXAMPLE, LATE_NS, MOST_FAULTS, MOST_HOSTS

LONGEST_US = 600_000_000


def bucket_of(us: int) -> int:
    """The bucket of a time in whole microseconds; `analysis.histogram` has the scheme."""
    if us < 2048:
        return us if us > 0 else 0
    us = min(us, LONGEST_US)
    exponent = us.bit_length() - 11
    return (exponent << 10) + (us >> exponent)


_LAST = bucket_of(LONGEST_US)


def count_buckets(counts: Counter[int], times_ns: Iterable[int]) -> None:
    """Add times to their buckets, of which some may be out of bounds. `bucket_of` is inlined: a
    function call for each time would dominate the cost, and this runs while load is offered."""
    counts.update(
        [
            us if (us := ns // 1000) < 2048 else ((e := us.bit_length() - 11) << 10) + (us >> e)
            for ns in times_ns
        ]
    )


def bounded(counts: Counter[int]) -> Counter[int]:
    """Move what is out of bounds to the first or the last bucket."""
    if counts and not 0 <= min(counts) <= max(counts) <= _LAST:
        for bucket in [bucket for bucket in counts if not 0 <= bucket <= _LAST]:
            counts[0 if bucket < 0 else _LAST] += counts.pop(bucket)
    return counts


def sparse(counts: Counter[int]) -> list[int]:
    """Return [bucket, count, bucket, count, ...] in ascending order, as sent and recorded."""
    return [number for bucket in sorted(counts) for number in (bucket, counts[bucket])]


TIMES = ("latency", "service", "connect", "first_byte", "lateness")
_LISTS = (*TIMES, "alike", "whole_at_once")
_PARTS = {
    "latency": ("alike", "latency"),
    "service": ("alike", "whole_at_once", "service"),
    "first_byte": ("alike", "whole_at_once", "first_byte"),
}
"""The lists that times of a name are in. Most times come first, because the first are copied, and
others added one by one."""


@dataclass(slots=True, eq=False)
class RequestTally:
    """Results of one of several requests, in calls."""

    failed: int = 0
    """Sent, and lost for whatever reason."""
    latency: list[int] = field(default_factory=list)
    """In ns, since `count`."""
    buckets: Counter[int] = field(default_factory=Counter)

    def count(self) -> None:
        count_buckets(self.buckets, self.latency)
        self.latency.clear()

    def report(self) -> dict[str, Any]:
        return {
            "replies": self.buckets.total(),
            "failed": self.failed,
            "latency": sparse(bounded(self.buckets)),
        }


class Tally:
    """Counters and times of one worker, in calls unless stated otherwise.

    The lists hold nanoseconds. They are the counters as well, so that hot paths fill nothing else:
    each lateness is a connection sent, each connect time one established, each latency a call
    answered. `count` empties them: every few milliseconds, because counting a whole window at once
    takes milliseconds, which connections would wait.
    """

    COUNTS = ("due", "unsent", "sent", "late", "established", "replies")

    def __init__(self, calls_per_connection: int = 1) -> None:
        self.calls = calls_per_connection
        self.due = 0
        """Less those of `replaced`."""
        self.in_flight = 0
        """At the end of the last window; see `window`."""
        self.unsent = 0
        self.replaced = 0
        """Closed loop: connections begun in the place of one that had ended; never late."""
        self.sent = 0
        """Further calls, of which it is not known when they were sent."""
        self.errors: Counter[str] = Counter()
        self.faults: dict[str, dict[str, Any]] = {}
        """By error: unexpected responses, and the first of them; see `analysis.evidence.Fault`."""
        self.latency: list[int] = []
        self.service: list[int] = []
        self.connect: list[int] = []
        self.first_byte: list[int] = []
        self.lateness: list[int] = []
        self.alike: list[int] = []
        """Latency, service time and first byte in one, where they are the same."""
        self.untimed = 0
        """Calls answered without a latency: connections held to the end, or messages of another
        machine's clock."""
        self.figures: Counter[str] = Counter()
        """The workload's own, of the whole point."""
        self.whole_at_once: list[int] = []
        """Service time and first byte in one: the whole reply came at once."""
        self.requests: list[RequestTally] = []
        """One for each of several requests."""
        self.elsewhere: Counter[str] = Counter()
        """Requests to another host and port than the load's, by that; see `count_request`."""
        self.private = False
        """No examples of responses are kept, because they may repeat a secret of the request."""
        self.totals: Counter[str] = Counter()
        self.error_totals: Counter[str] = Counter()
        self.counted: dict[str, Counter[int]] = {name: Counter() for name in _LISTS}
        """Times of the current window by bucket."""
        self.late = 0
        self.waits: Counter[int] = Counter()
        """Replies of the whole point that may have waited to be read, by bucket."""
        self.whole: dict[str, Counter[int]] = {name: Counter() for name in _LISTS}
        """The same of the whole point, without the current window."""

    def replies(self) -> int:
        counted = self.counted["latency"].total() + self.counted["alike"].total()
        new = counted + len(self.latency) + len(self.alike) + self.untimed
        return self.totals["replies"] + new

    def count(self) -> None:
        """Count the times in the lists, and empty these."""
        self.late += sum(ns > LATE_NS for ns in self.lateness)
        for name, counts in self.counted.items():
            times: list[int] = getattr(self, name)
            if times:
                count_buckets(counts, times)
                times.clear()
        for request in self.requests:
            request.count()

    def wait(self, waits: Iterable[tuple[int, int]]) -> None:
        """Count (upper bound in ns, replies) of replies that waited to be read."""
        for wait_ns, replies in waits:
            self.waits[bucket_of(wait_ns // 1000)] += replies

    def lose(
        self,
        error: str,
        calls: int,
        data: bytes = b"",
        before: int | None = None,
        *,
        received: int = 0,
        why: str = "",
    ) -> None:
        """Count lost calls of a connection. `data`: the beginning of the reply to the first of
        them; `before`: calls before that; None: all others; `received`: bytes of the reply, where
        `data` is not all; `why`: it is malformed."""
        self.errors[error] += calls
        if not error.startswith(("protocol", "check", "connreset")):
            return
        received = max(received, len(data))
        data, why = (b"", "") if self.private else (data, why)
        if fault := self.faults.get(error):
            fault["connections"] += 1
        elif len(self.faults) < MOST_FAULTS:
            self.faults[error] = {
                "connections": 1,
                "first_us": monotonic_ns() // 1000,
                "answered": max(0, self.calls - calls) if before is None else before,
                "received": received,
                "example": data[:EXAMPLE].decode("latin-1"),  # which maps every byte
                "why": why[:EXAMPLE],
            }

    def count_request(self, place: str) -> None:
        """Count a request whose place the user's own code chose; empty: the load's."""
        self.figures["requests"] += 1
        if place:
            known = place in self.elsewhere or len(self.elsewhere) < MOST_HOSTS - 1
            self.elsewhere[place if known else "others"] += 1

    def window(self, in_flight: int | None = None) -> Iterator[dict[str, Any]]:
        """End the window at the first step, and begin a new one. Yields the results of the ended
        one as plain data, which are whole at the last step: adding and sorting thousands of buckets
        at once takes as long as several connections. `in_flight`: calls now, where each counts when
        it is sent; see `Load.by_call`."""
        self.count()
        found, self.counted = self.counted, {name: Counter() for name in _LISTS}
        data: dict[str, Any] = {
            "due": self.due + self.replaced * self.calls,
            "unsent": self.unsent,
            "sent": (found["lateness"].total() + self.replaced) * self.calls + self.sent,
            "late": self.late * self.calls,
            "established": found["connect"].total(),
            "replies": found["latency"].total() + found["alike"].total() + self.untimed,
        }
        if in_flight is not None:
            ended = data["replies"] + self.errors.total() + self.unsent
            data["due"] = ended + in_flight - self.in_flight
            data["sent"] = data["due"] - self.unsent
            self.in_flight = in_flight
        self.totals.update(data)
        self.due = self.unsent = self.replaced = self.untimed = self.sent = self.late = 0
        self.error_totals.update(self.errors)
        data["errors"], self.errors = dict(self.errors), Counter()
        yield data
        for name, buckets in found.items():
            if buckets:
                self.whole[name].update(bounded(buckets))
                yield data
        for name in ("latency", "service"):
            data[name] = sparse(_joined(found, name))
            yield data

    def report(self, started_ns: int) -> dict[str, Any]:
        """Return the totals of the point; call after the last `window`."""
        return {
            **{name: self.totals[name] for name in self.COUNTS},
            "errors": dict(self.error_totals),
            "faults": {
                name: {**fault, "first_us": max(0, fault["first_us"] - started_ns // 1000)}
                for name, fault in self.faults.items()
            },
            "figures": dict(self.figures),
            "histograms": {name: sparse(_joined(self.whole, name)) for name in TIMES},
            "requests": [request.report() for request in self.requests],
            "elsewhere": dict(self.elsewhere),
            "waits": sparse(self.waits),
        }


def _joined(counted: dict[str, Counter[int]], name: str) -> Counter[int]:
    """Return the times of this name, which may be in several lists."""
    joined: Counter[int] = Counter()
    for part in _PARTS.get(name, (name,)):
        joined.update(counted[part])
    return joined
