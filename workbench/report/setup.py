"""The set-up of a measurement in words, for reports, charts, the window and comparisons, so that a
condition is worded the same everywhere. Empty: the session does not record it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.axis import RATE, Axis
from workbench.documents import OUR_AGENT, MachineRecord, RunStart
from workbench.formatting import capital, counted
from workbench.messages.reasons import limit_phrase
from workbench.workloads import registry

FROM_THE_SEND = "Response times count from the send: a load tool has no others."


@dataclass(frozen=True)
class Setup:
    """The set-up of a run; each property is a phrase in lower case, ready to be listed."""

    start: RunStart

    @property
    def plan(self) -> Mapping[str, Any]:
        return self.start.plan

    @property
    def workload(self) -> Mapping[str, Any]:
        workload = self.plan.get("workload")
        return workload if isinstance(workload, dict) else {}

    @property
    def axis(self) -> Axis:
        return self.start.axis or RATE

    @property
    def targets(self) -> list[MachineRecord]:
        return [machine for machine in self.start.machines if "target" in machine.roles]

    @property
    def clients(self) -> list[MachineRecord]:
        return [machine for machine in self.start.machines if "client" in machine.roles]

    @property
    def shared(self) -> bool:
        """Whether servers and clients ran on one machine."""
        return bool(self.targets) and self.targets == self.clients

    @property
    def where(self) -> str:
        """ "servers and clients share bolt", "target bolt, clients atlas, carl"."""
        if self.shared:
            return f"servers and clients share {names(self.targets)}"
        return f"target {names(self.targets)}, clients {names(self.clients)}"

    @property
    def cores(self) -> str:
        """Cores of the target: "2 cores"."""
        known = (machine.facts.get("cpu_count") for machine in self.targets)
        count = next((n for n in known if n), None)
        return "" if count is None else f"{count} core{'s' if count != 1 else ''}"

    @property
    def protocol(self) -> str:
        """ "HTTP/1.1", "HTTP/1.1, full TLS handshakes, TLS 1.3 with TLS_AES_256_GCM_SHA384"."""
        how = {"full": "full TLS handshakes", "resumed": "resumed TLS sessions"}
        tls = how.get(str(self.workload.get("tls")), "")
        spoken = protocol(self.workload.get("protocol", "pong"))
        return ", ".join(filter(None, (spoken, tls, self._tls() * bool(tls))))

    def _tls(self) -> str:
        """Versions, each with its ciphers, that servers and clients agreed on: "TLS 1.3 with
        TLS_AES_256_GCM_SHA384"; empty: not recorded."""
        ciphers: dict[str, dict[str, None]] = {}
        for record in self.start.servers:
            version, _, cipher = record.tls.partition(", ")
            if version:
                ciphers.setdefault(version.replace("TLSv", "TLS "), {})[cipher] = None
        each = (f"{version} with {' or '.join(found)}" for version, found in ciphers.items())
        return " or ".join(each)

    @property
    def calls(self) -> str:
        """ "one call per connection", "13 calls per connection, think time 5 s on average"."""
        count = self.calls_per_connection
        declared = registry.declaration(str(self.workload.get("protocol", registry.DEFAULT)))
        if own := declared.conditions(self.workload):
            return own
        if count == 1:
            return "one call per connection"
        think_s, on_average = self.workload.get("think_time_s"), ""
        if self.workload.get("think_times") == "exponential":
            on_average = " on average"
        thinks = (
            f", think time {think_s:g} s{on_average}" if isinstance(think_s, int | float) else ""
        )
        return f"{count:,} calls per connection{thinks * bool(think_s)}"

    @property
    def calls_per_connection(self) -> int:
        count = self.workload.get("calls_per_connection", 1)
        return count if isinstance(count, int) else 1

    @property
    def load(self) -> str:
        """The load model: "constant rate", "Poisson arrivals", "fixed concurrency"."""
        how = arrivals(self.workload.get("arrivals", "uniform"))
        if self.closed:
            how = "fixed concurrency (closed loop)"
        values = self.plan.get("concurrency" if self.closed else "rates")
        if not self.axis.of_workload or not isinstance(values, list) or not values:
            return how
        at = RATE.at(values[0])
        if self.closed:
            at = counted(count(values[0]), " connections")
        return f"{how}, {at} throughout"

    @property
    def limits(self) -> str:
        """The limits of a search: "at most 1 % errors and a p99 of at most 50 ms"; empty: a
        sweep."""
        search = self.plan.get("search")
        if not isinstance(search, dict):
            return ""
        return limit_phrase(search.get("errors_pct", 1.0), search.get("p99_ms"))

    @property
    def closed(self) -> bool:
        """Whether the loop is closed, so that the servers set the pace."""
        return self.workload.get("mode") == "closed"

    @property
    def length(self) -> str:
        """Length of a point: "2 s", "40,000 connections"."""
        if isinstance(connections := self.plan.get("connections"), int):
            return f"{connections:,} connections"
        seconds = self.plan.get("seconds")
        return f"{seconds:g} s" if isinstance(seconds, int | float) else ""

    @property
    def size(self) -> str:
        return f"{self.length} per point" if self.length else ""

    @property
    def repeats(self) -> int:
        repeats = self.plan.get("repeats")
        return repeats if isinstance(repeats, int) else 1

    @property
    def passes(self) -> str:
        """ "one pass", "3 passes, interleaved in random order"."""
        if self.repeats == 1:
            return "one pass"
        order = "interleaved in random order" if self.interleaved else "server by server"
        return f"{self.repeats} passes, {order}"

    @property
    def interleaved(self) -> bool:
        """Whether passes were interleaved, so that they can be compared pairwise."""
        return self.plan.get("order") == "interleaved"

    @property
    def timeout_s(self) -> float:
        timeout_s = self.workload.get("timeout_s", 5.0)
        return float(timeout_s) if isinstance(timeout_s, int | float) else 5.0

    @property
    def timeout(self) -> str:
        return f"timeout {self.timeout_s:g} s"

    @property
    def backlog(self) -> str:
        """The requested backlog."""
        return f"backlog {count(self.plan.get('backlog'))}" if self.plan.get("backlog") else ""

    @property
    def workers(self) -> str:
        workers = self.plan.get("workers") or 1
        return f"{workers} load process{'es' if workers != 1 else ''} per client"

    @property
    def load_tool(self) -> str:
        """ "load tool wrk"; empty: our own agent."""
        tool = self.start.load_tool
        return "" if tool == OUR_AGENT else f"load tool {tool}"

    @property
    def warm_up(self) -> str:
        """ "warm-up 1 s at 500/s"."""
        warm = self.plan.get("warm_up")
        if not isinstance(warm, dict):
            return "no warm-up"
        seconds, rate = warm.get("seconds"), warm.get("rate_per_s")
        if not isinstance(seconds, int | float) or not isinstance(rate, int | float):
            return ""
        return f"warm-up {seconds:g} s at {RATE.at(rate)}"

    @property
    def rest(self) -> str:
        """The pause between points."""
        rest = self.plan.get("cool_down_s")
        return f"at least {rest:g} s between points" if isinstance(rest, int | float) else ""


def protocol(name: object) -> str:
    return registry.phrase(str(name))


def arrivals(name: object) -> str:
    return {"uniform": "constant rate", "poisson": "Poisson arrivals"}.get(str(name), str(name))


WORKLOAD: tuple[tuple[str, str, Callable[[Any], str], Any], ...] = (
    (
        "mode",
        "Load",
        lambda mode: "fixed concurrency" if mode == "closed" else "at offered rates",
        "open",
    ),
    ("protocol", "Protocol", protocol, "pong"),
    ("calls_per_connection", "Calls per connection", lambda n: f"{n:,}", 1),
    ("think_time_s", "Think time", lambda s: f"{s:g} s", 0.0),
    ("timeout_s", "Timeout", lambda s: f"{s:g} s", 5.0),
    ("think_times", "Think times", str, "constant"),
    ("arrivals", "Arrivals", arrivals, "uniform"),
    *((f.key, f.label, f.text, f.default) for f in registry.own_fields()),
)
"""Key, label, format, and default of a plan."""


def count(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def sentence(*phrases: str) -> str:
    """Phrases joined to a sentence: "A, b, c." """
    text = ", ".join(filter(None, phrases))
    return f"{capital(text)}." if text else ""


def names(machines: Iterable[MachineRecord]) -> str:
    return ", ".join(machine.name for machine in machines)
