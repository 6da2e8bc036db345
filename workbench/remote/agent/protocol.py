"""The agent's protocol: one JSON object per line on stdin and stdout.

In:
  {"op": "point", "id": N, "load": {...}}   prepare a point; see `Load`. Answer: "armed". Its
                                            `share` is that of the first worker
  {"op": "start", "id": N, "at_us": T}      begin when the machine's monotonic clock shows T
  {"op": "stop", "id": N}                   end it now; open calls count as in flight

Out:
  {"ev": "hello"}                           first line
  {"ev": "armed", "id", "worker"}
  {"ev": "window", "id", "worker", "i", ...}  every 200 ms; see `tally.Tally.window`
  {"ev": "done", "id", "worker", ...}       totals of the worker; see `point.Point.finish`
  {"ev": "error", "text"}                   what went wrong
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

WINDOW_NS = 200_000_000
MOST_FAULTS = 8
"""Kinds of unexpected responses of which an example is kept."""
MOST_HOSTS = 10
"""Hosts of which it is counted how many requests went there in place of the server."""
EXAMPLE = 120
"""Bytes kept of an example."""
LATE_NS = 5_000_000
"""A connection started more than this after its scheduled time counts as late."""


@dataclass(frozen=True)
class Load:
    """The part of a point that one worker of one client offers.

    The schedule of all workers of all clients together has `connections` at `rate_per_s`
    (connections, not calls); this worker takes share `share` of `shares`.
    """

    host: str
    port: int
    workload: str
    """Module of `workbench.remote.drivers` that has the `WorkloadDriver`."""
    options: dict[str, Any] = field(default_factory=dict)
    """The workload's own options."""
    reply: dict[str, Any] = field(default_factory=dict)
    """The expected response: `status`, `body`, and whether that is `json`, compared by value; or
    `checks`: `status`, `type`, `bytes` and `text` as far as the plan states them. Of several
    requests one each, as `each`. Empty: any 2xx."""
    tls: dict[str, Any] = field(default_factory=dict)
    """`certificate`, the only one trusted, as PEM, and `resume`; empty: no TLS."""
    mode: str = "open"
    """"open": on schedule; "closed": `concurrency` concurrent connections, as in `ab`."""
    rate_per_s: float = 0.0
    connections: int = 0
    """Of the whole point; in a closed loop 0 means: until `seconds` have passed."""
    seconds: float = 0.0
    """Length of the schedule; 0: until `connections` are done (closed loop)."""
    concurrency: int = 0
    held: int = 0
    """Connections of the whole point that are made in the ramp, before the schedule, and held open
    until after it; the schedule then starts calls on them. 0: it starts connections."""
    held_per_s: float = 0.0
    """Of these, made per second."""
    ramp_s: float = 0.0
    """Part of `seconds` before the first scheduled call."""
    arrivals: str = "uniform"
    """Or "poisson"."""
    seed: int = 0
    calls_per_connection: int = 1
    think_time_s: float = 0.0
    """Think time between a reply and the next call on the same connection."""
    think_times: str = "constant"
    """Or "exponential", with that mean."""
    addresses: int = 1
    """Local addresses to connect from, in turn; see `addresses.local_addresses`."""
    timeout_s: float = 5.0
    """From the actual start of each call."""
    share: int = 0
    shares: int = 1

    @property
    def by_call(self) -> bool:
        """Whether each call counts when it is sent, and not all of its connection's when that
        begins: in a closed loop by seconds, where how many come until then is not known."""
        by_time = self.mode == "closed" and not self.connections
        return by_time and self.calls_per_connection > 1
