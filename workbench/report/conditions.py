"""Under which conditions a session was measured, in words and tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from workbench import wording
from workbench.analysis.summary import Summary
from workbench.documents import MachineRecord, RunStart

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


@dataclass(frozen=True)
class Table:
    """A head and its rows."""

    title: str
    rows: tuple[tuple[str, ...], ...]
    columns: tuple[str, ...] = ()


def machine(record: MachineRecord) -> list[Table]:
    """What is known of a machine, most telling first, and the settings of its kernel."""
    known = dict(record.facts)
    sysctls = known.pop("sysctls", None)
    order = [*(name for name in _NAMES if name in known), *sorted(known.keys() - _NAMES.keys())]
    rows = [(_NAMES.get(name, name.replace("_", " ")), _said(name, known[name])) for name in order]
    if record.clock_uncertainty_us:
        rows.append(("Clock known to", f"± {record.clock_uncertainty_us:,} µs"))
    roles = " and ".join({"target": "servers", "client": "clients"}.get(r, r) for r in record.roles)
    tables = [Table(f"{record.name} ({roles})" if roles else record.name, tuple(rows))]
    if isinstance(sysctls, dict) and sysctls:
        settings = sorted((str(name), value) for name, value in sysctls.items())
        said = tuple((name, _said(name, value)) for name, value in settings)
        tables.append(Table(f"Settings of {record.name}’s kernel", said))
    return tables


def servers(start: RunStart) -> Table:
    """What was deployed."""
    return Table(
        "Servers as they were deployed",
        tuple(
            (
                record.name,
                record.version,
                record.runtime,
                ", ".join(f"{name} {digest[:12]}" for name, digest in sorted(record.files.items())),
            )
            for record in start.servers
        ),
        ("Server", "Version", "Runtime", "Files, SHA-256"),
    )


def sentences(start: RunStart, summary: Summary) -> list[str]:
    """How the test was set up."""
    plan = start.plan
    said = [_where(start.machines), _workload(plan), _order(plan)]
    said.append(
        f"Every server was asked for a backlog of {_count(plan.get('backlog'))} and given at most"
        f" {_count(plan.get('nofile'))} descriptors."
    )
    for text, names in summary.found.items():
        who = "All servers" if len(names) == len(summary.servers) > 1 else ", ".join(names)
        said.append(text if names[0] in text else f"{who}: {text}")
    if skew := summary.together.skew():
        said.append(skew)
    return said


def method(start: RunStart, summary: Summary) -> list[str]:
    """How to read the figures."""
    workload = start.plan.get("workload") or {}
    timeout = float(workload.get("timeout_s", 5.0))
    if workload.get("mode") == "closed":
        said = [
            "Closed loop: a fixed number of connections at a time, each followed by the next. A"
            " server that stalls slows the clients down with it, so its stalls are told too kindly."
        ]
    else:
        said = [
            "Open loop: calls are started on a schedule fixed in advance, whatever the server does."
            " What the clients could not start in time is counted as late, what they never started"
            " as unsent.",
            f"A server holds a rate when at least 99 % of the attempts succeed there and at every"
            f" lower rate, and the verdict is ok. “At least” means that no rate just above showed"
            f" its own limit. The rates tried are steps: the true limit lies between two of them."
            f"{_median(start.plan)}",
        ]
    said.append(
        "Latency counts from the instant a call was due, so that a server that stalls pays for the"
        " queue it made; service time counts from the actual send. A percentile stands only where"
        " there are replies enough for it. Percentiles of several passes come from their merged"
        " histograms and are never averaged."
    )
    said.append(
        f"Errors are a share of attempts. A call without a whole reply after {timeout:g} s is"
        " lost. Running out of ports or descriptors is the clients’ fault and counts against no"
        " server."
    )
    if summary.ceiling_per_s is not None:
        rate = f"{wording.rate(summary.ceiling_per_s)}/s"
        said.append(
            f"The clients themselves reach at least {rate}: all that was offered."
            if summary.ceiling_per_s >= _highest(start)
            else f"The clients’ own ceiling is {rate}: the most they reached, against a server that"
            " does nothing but answer or any other. Beyond it a failure says nothing about a"
            " server."
        )
    said.append(
        "Every point is judged from the clients’ lateness and CPU, the errors, the kernel’s"
        " counters and what other programs took. A point that is neither ok nor server-limited"
        " says nothing about its server; it is drawn hollow."
    )
    return said


def _highest(start: RunStart) -> float:
    return max((rate for block in start.order for rate in block.rates_per_s), default=0.0)


def _median(plan: dict[str, Any]) -> str:
    passes = plan.get("repeats") or 1
    return f" Over {passes} passes the median counts." if passes > 1 else ""


def _where(machines: Iterable[MachineRecord]) -> str:
    machines = list(machines)
    targets = [m.name for m in machines if "target" in m.roles]
    clients = [m.name for m in machines if "client" in m.roles]
    if targets == clients and targets:
        return f"Servers and clients shared {', '.join(targets)}: its kernel, memory and caches."
    return f"The servers ran on {', '.join(targets)}, the clients on {', '.join(clients)}."


def _workload(plan: dict[str, Any]) -> str:
    workload = plan.get("workload") or {}
    protocol = str(workload.get("protocol", "pong"))
    calls = workload.get("calls_per_connection", 1)
    what = "raw ping-pong over TCP" if protocol == "pong" else protocol.upper()
    said = [
        f"{what[:1].upper()}{what[1:]}",
        "one call per connection" if calls == 1 else f"{_count(calls)} calls per connection",
        f"{workload.get('arrivals', 'uniform')} arrivals",
    ]
    if plan.get("connections"):
        said.append(f"{_count(plan['connections'])} connections a point")
    elif plan.get("seconds"):
        said.append(f"{plan['seconds']:g} s a point")
    workers = plan.get("workers") or 1
    said.append(f"{workers} load process{'es' if workers != 1 else ''} per client")
    return f"{', '.join(said)}."


def _order(plan: dict[str, Any]) -> str:
    passes = plan.get("repeats") or 1
    if passes == 1:
        how = "One pass over the servers, one after the other"
    else:
        mixed = plan.get("order") == "interleaved"
        how = f"{passes} passes, {'interleaved in random order' if mixed else 'server by server'}"
    rest = plan.get("cool_down_s")
    paused = f", at least {rest:g} s of rest between points" if rest else ""
    warm = plan.get("warm_up") or {}
    warmed = (
        f", each server warmed up with {warm['rate_per_s']:,.10g}/s for {warm['seconds']:g} s"
        if warm
        else ""
    )
    return f"{how}{warmed}{paused}."


def _said(name: str, value: object) -> str:
    if name == "memory_bytes" and isinstance(value, int):
        return wording.size(value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {_said('', each)}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(_said("", each) for each in value)
    if isinstance(value, int) and not isinstance(value, bool) and not name.startswith("net."):
        return f"{value:,}"
    return str(value)


def _count(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
