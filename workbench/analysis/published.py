"""Figures that "Asynchronous Servers in Python" published on 22 December 2009; its charts are lost.

The rest of its results is in docs/sources.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Published:
    """A figure in its text, for one server at one offered rate (connections per second)."""

    servers: tuple[str, ...]
    """Ids of the catalogue's entries that it may be compared with."""
    offered_per_s: float
    words: str
    replies_per_s: float | None = None
    latency_ms: float | None = None
    errors_pct: float | None = None


IN_2009 = (
    Published(("tornado",), 7400, "Tornado, 2009: best, 7,400/s", replies_per_s=7400),
    Published(
        ("circuits-2009", "circuits-select"),  # it did not use epoll
        1400,
        "Circuits, 2009: 1,400/s",
        replies_per_s=1400,
    ),
    Published(
        ("cogen",),
        9000,
        "Cogen, 2009: 9,000/s, each after 7 s",
        replies_per_s=9000,
        latency_ms=7000,
        errors_pct=0,
    ),
)


def comparable(plan: dict[str, Any]) -> bool:
    """Whether a plan (as data) measures what was measured in 2009: one pong per connection, at
    offered rates."""
    workload = plan.get("workload", {})
    return bool(
        workload.get("protocol", "pong") == "pong"
        and workload.get("mode", "open") == "open"
        and workload.get("calls_per_connection", 1) == 1
    )
