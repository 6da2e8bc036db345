"""The set-up of a measurement in words, for reports, charts, the window and comparisons, so that a
condition is worded the same everywhere. Empty: the session does not record it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbench import axis as axes
from workbench import formatting
from workbench.analysis.summary import Summary
from workbench.analysis.tasks import Tasks
from workbench.axis import RATE, Axis
from workbench.config.yaml import dumped
from workbench.documents import OUR_AGENT, MachineRecord, RunStart
from workbench.formatting import capital, continued, listed, number_of
from workbench.messages.base import Templates
from workbench.results.tables import Texts
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
        workload: Mapping[str, Any] = self.plan.get("workload", {})
        return workload

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
        if not self.targets:
            return f"servers elsewhere, clients {names(self.clients)}"
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
        """Versions and ciphers agreed on: "TLS 1.3 with TLS_AES_256_GCM_SHA384"; may be empty."""
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
        count = self.workload.get("calls_per_connection", 1)
        declared = registry.declaration(self.workload.get("protocol", registry.DEFAULT))
        fixed = {key: v for key, v in self.workload.items() if key != self.axis.key}
        if own := declared.conditions(fixed):
            return own
        if count == 1:
            return "one call per connection"
        think_s = self.workload.get("think_time_s", 0.0)
        on_average = " on average" * (self.workload.get("think_times") == "exponential")
        thinks = f", think time {think_s:g} s{on_average}" * bool(think_s)
        return f"{count:,} calls per connection{thinks}"

    @property
    def load(self) -> str:
        """The load model: "constant rate", "Poisson arrivals", "fixed concurrency"."""
        how = arrivals(self.workload.get("arrivals", "uniform"))
        if self.closed:
            how = "fixed concurrency (closed loop)"
        values = self.plan.get("concurrency" if self.closed else "rates")
        if not self.axis.of_workload or not isinstance(values, list) or not values:
            return how
        at = number_of(values[0], "connections") if self.closed else RATE.at(values[0])
        return f"{how}, {at} throughout"

    @property
    def closed(self) -> bool:
        """Whether the loop is closed, so that the servers set the pace."""
        return self.workload.get("mode") == "closed"

    @property
    def length(self) -> str:
        """Length of a point: "2 s", "40,000 connections"."""
        if (connections := self.plan.get("connections")) is not None:
            return f"{connections:,} connections"
        seconds = self.plan.get("seconds")
        return "" if seconds is None else f"{seconds:g} s"

    @property
    def size(self) -> str:
        return f"{self.length} per point" if self.length else ""

    @property
    def repeats(self) -> int:
        return int(self.plan.get("repeats", 1))

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
        return float(self.workload.get("timeout_s", 5.0))

    @property
    def timeout(self) -> str:
        return f"timeout {self.timeout_s:g} s"

    @property
    def backlog(self) -> str:
        """The requested backlog; empty also of servers that were running already."""
        servers = self.start.servers
        if servers and all(record.running for record in servers):
            return ""
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
        return (
            f"warm-up {warm['seconds']:g} s at {RATE.at(warm['rate_per_s'])}"
            if warm
            else "no warm-up"
        )

    @property
    def rest(self) -> str:
        """The pause between points."""
        rest = self.plan.get("cool_down_s")
        return "" if rest is None else f"at least {rest:g} s between points"


def protocol(name: str) -> str:
    known = registry.PROTOCOLS.get(name)
    return known.phrase if known else name.upper()


def arrivals(name: str) -> str:
    return {"uniform": "constant rate", "poisson": "Poisson arrivals"}.get(name, name)


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


def count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def sentence(*phrases: str) -> str:
    """Phrases joined to a sentence: "A, b, c." """
    text = ", ".join(filter(None, phrases))
    return f"{capital(text)}." if text else ""


def names(machines: Iterable[MachineRecord]) -> str:
    return ", ".join(machine.name for machine in machines)


_NAMES = {
    "cpu_model": "CPU",
    "cpu_count": "Cores",
    "memory_bytes": "Memory",
    "distribution": "System",
    "kernel": "Kernel",
    "virtualisation": "Kind",
    "vendor": "Maker",
    "product": "Product",
    "container": "Container",
    "governor": "CPU governor",
    "clock_source": "Clock source",
    "load_average": "Load average before",
    "descriptor_limits": "Descriptor limits",
    "cpus_allowed": "CPUs allowed",
    "python": "Python",
}


def machine(record: MachineRecord) -> list[Texts]:
    """The facts of a machine, the most important first, and its kernel settings."""
    known = dict(record.facts)
    sysctls = known.pop("sysctls", None)
    order = [*(name for name in _NAMES if name in known), *sorted(known.keys() - _NAMES.keys())]
    if "memory_bytes" in known:
        known["memory_bytes"] = formatting.size(known["memory_bytes"])
    rows = [(_NAMES.get(name, name.replace("_", " ")), _text(name, known[name])) for name in order]
    if record.clock_uncertainty_us:
        rows.append(("Clock offset known to", f"± {record.clock_uncertainty_us:,} µs"))
    roles = " and ".join({"target": "servers", "client": "clients"}.get(r, r) for r in record.roles)
    tables = [Texts(f"{record.name} ({roles})" if roles else record.name, tuple(rows))]
    if sysctls:
        settings = tuple((name, _text(name, value)) for name, value in sorted(sysctls.items()))
        tables.append(Texts(f"Kernel settings of {record.name}", settings))
    return tables


def servers(start: RunStart) -> Texts:
    return Texts(
        "Servers as deployed",
        tuple(
            (
                record.name,
                record.version,
                record.runtime,
                Tasks.of(record).cell,
                ", ".join(f"{name} {digest[:12]}" for name, digest in sorted(record.files.items())),
            )
            for record in start.servers
        ),
        ("Server", "Version", "Runtime", "Processes", "Files, SHA-256"),
    )


def sentences(start: RunStart, summary: Summary) -> list[str]:
    setup = Setup(start)
    load = (setup.protocol, setup.calls, setup.load, setup.size, setup.load_tool, setup.workers)
    return [
        _where(setup),
        sentence(*load),
        sentence(setup.passes, setup.warm_up, setup.rest),
        _given(setup),
        *summary.deployed,
        *filter(None, [summary.all_clients.skew()]),
    ]


def _given(setup: Setup) -> str:
    """Return what servers were given; those that were running already have what they had."""
    running = [record.name for record in setup.start.servers if record.running]
    if not running:
        who = "Every server"
    elif len(running) < len(setup.start.servers):
        who = f"Every server but {listed(running)}, which ran already,"
    else:
        return f"Not started for this test, but running already: {listed(running)}."
    return (
        f"{who} was asked for a backlog of {count(setup.plan.get('backlog'))} and given at most"
        f" {count(setup.plan.get('nofile'))} descriptors."
    )


_METHOD = Templates("""
closed-loop:
    Closed loop (fixed concurrency): each connection is followed by the next. A server that stalls
    slows the clients down with it, so stalls are under-reported (coordinated omission).
# `late`: the load tool counts calls that are late.
open-loop:
    Open loop: calls are started on a schedule fixed in advance, whatever the server does.{late:?
    Calls that the clients could not start in time are counted as late, calls that they never
    started as unsent.}
load-tool:
    The load was generated by {tool}, not by Pongbench's own agent: figures that it does not report
    are unknown.
# `passes`: if there are several.
peak:
    The peak of a server is searched for: the highest tested rate with {limits}. Points that
    disagree by chance are weighed against each other (probabilistic bisection) until the server’s
    limit is known to within one step with 95 % probability, and the peak is confirmed by a second
    point. “≥” means that the limit was not reached.{passes:? Over {passes} passes, the median
    counts.}
knee:
    A server sustains a rate when at least 99 % of the attempts succeed there and at every lower
    rate, and the verdict is ok. “≥” means that its limit was not reached. The tested rates are
    steps: the true limit lies between two of them.{passes:? Over {passes} passes, the median
    counts.}
times:
    {open:?Latency counts from the scheduled time of a call, so it includes the queue that builds up
    during a stall; service time counts from the actual send. }A percentile is shown only where
    there are enough answered calls for it. Percentiles of several passes come from their merged
    histograms and are never averaged.
errors:
    Errors are a share of attempts. A call without a complete reply after {timeout_s:g} s has
    failed. Running out of ports or descriptors is a client error and counts against no server.
memory:
    RSS is the memory of all processes of a server, where memory that they share counts in each.
    Memory per connection, and whether a server kept memory, are judged by PSS, where it counts
    once.
throughput:
    Payload throughput counts the bodies of replies, without their headers.
client-limit:
    {reached:?The clients reach at least {limit}/s, all that was offered.|The client limit is
    {limit}/s: the most the clients reached, against the null server or any other. Beyond it a
    failure says nothing about a server.}
verdicts:
    Every point is judged by the clients’ lateness and CPU, the errors, kernel counters and
    background load. A point that is neither ok nor server-limited nor faulty says nothing about its
    server; it is drawn hollow. A server is faulty where it gives unexpected responses below its
    capacity: such a point is crossed, and is not a limit.
""")


def method(start: RunStart, summary: Summary) -> list[str]:
    """How to read the figures."""
    setup, limit_per_s = Setup(start), summary.ceiling_per_s
    passes, by_tool = setup.repeats if setup.repeats > 1 else 0, bool(setup.load_tool)
    said: dict[str, dict[str, Any]] = {"open-loop": {"late": not by_tool}}
    if setup.closed:
        said = {"closed-loop": {}}
    if by_tool:
        said["load-tool"] = {"tool": start.load_tool}
    if setup.axis.bounds:
        said["peak"] = {"limits": summary.limits, "passes": passes}
    elif setup.axis.has_limit:
        said["knee"] = {"passes": passes}
    said |= {"times": {"open": not setup.closed}, "errors": {"timeout_s": setup.timeout_s}}
    said["memory"] = {}
    if any(metric.key == "throughput_mb_per_s" for metric in summary.known_metrics):
        said["throughput"] = {}
    if limit_per_s is not None:
        reached = limit_per_s >= max(setup.axis.ends, default=0.0) and not setup.axis.points
        said["client-limit"] = {"limit": formatting.rate(limit_per_s), "reached": reached}
    said["verdicts"] = {}
    return [_METHOD.stated(code, **given).text() for code, given in said.items()]


def plan(start: RunStart) -> str:
    """Return the plan as YAML that can be run again."""
    return dumped(start.plan, default_flow_style=None, width=90)


def _where(setup: Setup) -> str:
    targets, clients = names(setup.targets), names(setup.clients)
    if setup.shared:
        return f"Servers and clients shared {targets}: its kernel, memory and caches."
    if not targets:
        return f"The servers ran elsewhere, the clients on {clients}."
    return f"The servers ran on {targets}, the clients on {clients}."


def _text(name: str, value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text('', each)}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(_text("", each) for each in value)
    if isinstance(value, int) and not isinstance(value, bool) and not name.startswith("net."):
        return f"{value:,}"
    return str(value)


def differences(plan: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Return what differs in what clients do, both plans as data: "think time 0.75 s, not 5 s"."""
    return [
        f"{continued(what)} {here}, not {there}"
        for (what, here), (_, there) in zip(_stated(plan), _stated(other), strict=True)
        if here and there and here != there
    ]


def _stated(plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What and how, in the same order for all plans; empty: not recorded."""
    workload = plan.get("workload", {})
    for key, what, write, default in WORKLOAD:
        yield what, write(workload.get(key, default))
    yield "Tested at", _load(plan)
    yield "Point length", _size(plan)
    yield "Backlog", count(plan.get("backlog"))


def _load(plan: Mapping[str, Any]) -> str:
    """ "100, 300 and 500 users/s", "87 values from 400 to 9,000 connections/s"."""
    axis = axes.of_plan(plan)
    figures = [axis.figure(x) for x in axis.values]
    if len(figures) > 3:
        return f"{len(figures)} values from {figures[0]} to {figures[-1]} {axis.unit}"
    return f"{listed(figures)} {axis.unit}" if figures else ""


def _size(plan: Mapping[str, Any]) -> str:
    """ "20 s", "10,000 calls"; empty: not stated."""
    seconds, connections = plan.get("seconds"), plan.get("connections")
    if connections:
        return f"{connections * plan.get('workload', {}).get('calls_per_connection', 1):,} calls"
    return f"{seconds:g} s" if seconds else ""
