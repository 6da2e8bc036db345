"""What the agent says and hears: one JSON object a line on stdin and stdout.

In:
  {"op": "point", "id": N, "load": {...}}   prepare a point; see `Load`. Answer: "armed"
  {"op": "start", "id": N, "at_us": T}      begin when the machine's monotonic clock shows T
  {"op": "stop", "id": N}                   end it now; what is open counts as in flight
  {"op": "hb"}                              still here; without any line for `lease_s` it ends
  {"op": "bye"}                             end

Out:
  {"ev": "hello", ...}                      first line; see `supervisor.hello`
  {"ev": "armed", "id", "worker"}
  {"ev": "window", "id", "worker", "i", ...}  every 200 ms; see `tally.Tally.window`
  {"ev": "done", "id", "worker", ...}       totals of the worker; see `point.Point.report`
  {"ev": "error", "text"}                   a command it could not understand
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

VERSION = 3

WINDOW_NS = 200_000_000
MOST_FAULTS = 8
"""Kinds of unexpected replies of which an example is kept."""
EXAMPLE = 120
"""Bytes of it."""
LATE_NS = 5_000_000
"""A connection started later than this after it was due counts as late."""


@dataclass(frozen=True)
class Load:
    """A point as one worker of one client has to offer it.

    The schedule of all workers of all clients together holds `connections` at `rate_per_s`
    (connections, not calls); this worker takes share `share` of `shares`.
    """

    host: str
    port: int
    workload: str
    """Folder of `workbench.workloads` whose `driver.py` has the `WorkloadDriver`."""
    options: dict[str, Any] = field(default_factory=dict)
    """The workload's own."""
    reply: dict[str, Any] = field(default_factory=dict)
    """What the server has to answer: `status`, `body`, and whether that is `json`, equal in
    another spelling. Empty: any 2xx."""
    mode: str = "open"
    """"open": on schedule; "closed": `concurrency` connections at a time, as `ab` does."""
    rate_per_s: float = 0.0
    connections: int = 0
    """Of the whole point; in closed loop 0 means: until `seconds` have passed."""
    seconds: float = 0.0
    concurrency: int = 0
    arrivals: str = "uniform"
    """Or "poisson"."""
    seed: int = 0
    calls_per_connection: int = 1
    think_time_s: float = 0.0
    """Between a reply and the next call on the same connection."""
    timeout_s: float = 5.0
    """From the actual start of each call."""
    share: int = 0
    shares: int = 1

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Load:
        """Raises ValueError in words when the sender speaks another dialect."""
        known = {each.name for each in fields(cls)}
        unknown = sorted(set(data) - known)
        if unknown:
            raise ValueError(f"unknown in load: {', '.join(unknown)}")
        load = cls(**data)
        if load.mode not in ("open", "closed"):
            raise ValueError(f"unknown mode {load.mode!r}")
        return load
