"""What happened so far in a point, in one worker: the current window, and the whole."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .buckets import count_buckets, sparse

TIMES = ("latency", "service", "connect", "first_byte", "lateness")


class Tally:
    """Counters and times of one worker. The hot paths add to them directly.

    `sent`, `late`, `replies` and `errors` count calls, `established` connections. The five
    lists hold nanoseconds of the current window; `window` empties them.
    """

    COUNTS = ("due", "unsent", "sent", "late", "established", "replies")

    def __init__(self) -> None:
        self.due = self.unsent = self.sent = self.late = self.established = self.replies = 0
        self.errors: Counter[str] = Counter()
        self.latency: list[int] = []
        self.service: list[int] = []
        self.connect: list[int] = []
        self.first_byte: list[int] = []
        self.lateness: list[int] = []
        self.totals: Counter[str] = Counter()
        self.error_totals: Counter[str] = Counter()
        self.whole: dict[str, Counter[int]] = {name: Counter() for name in TIMES}

    def window(self) -> dict[str, Any]:
        """What happened since the last window, as plain data; then begin a new one."""
        data: dict[str, Any] = {}
        for name in self.COUNTS:
            data[name] = count = getattr(self, name)
            self.totals[name] += count
            setattr(self, name, 0)
        data["errors"] = dict(self.errors)
        self.error_totals.update(self.errors)
        self.errors.clear()
        for name in TIMES:
            times = getattr(self, name)
            counts = count_buckets(times)
            self.whole[name].update(counts)
            times.clear()
            if name in ("latency", "service"):
                data[name] = sparse(counts)
        return data

    def report(self) -> dict[str, Any]:
        """The totals of the point; call after the last `window`."""
        return {
            **{name: self.totals[name] for name in self.COUNTS},
            "errors": dict(self.error_totals),
            "histograms": {name: sparse(self.whole[name]) for name in TIMES},
        }
