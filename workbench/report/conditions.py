"""The conditions under which a session was measured, as sentences and tables."""

from __future__ import annotations

from dataclasses import dataclass

from workbench import formatting
from workbench.analysis.summary import Summary
from workbench.documents import MachineRecord, RunStart
from workbench.report.setup import Setup, count, sentence

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
    """Column titles and rows."""

    title: str
    rows: tuple[tuple[str, ...], ...]
    columns: tuple[str, ...] = ()


def machine(record: MachineRecord) -> list[Table]:
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
    tables = [Table(f"{record.name} ({roles})" if roles else record.name, tuple(rows))]
    if sysctls:
        settings = tuple((name, _text(name, value)) for name, value in sorted(sysctls.items()))
        tables.append(Table(f"Kernel settings of {record.name}", settings))
    return tables


def servers(start: RunStart) -> Table:
    """The deployed servers."""
    return Table(
        "Servers as deployed",
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
    setup = Setup(start)
    load = (setup.protocol, setup.calls, setup.load, setup.size, setup.load_tool, setup.workers)
    rows = [
        _where(setup),
        sentence(*load),
        sentence(setup.passes, setup.warm_up, setup.rest),
        f"Every server was asked for a backlog of {count(setup.plan.get('backlog'))} and given at"
        f" most {count(setup.plan.get('nofile'))} descriptors.",
        *(found.sentence(len(summary.servers)) for found in summary.deploy_findings),
    ]
    if skew := summary.all_clients.skew():
        rows.append(skew)
    return rows


def method(start: RunStart, summary: Summary) -> list[str]:
    """How to read the figures."""
    setup = Setup(start)
    if setup.closed:
        rows = [
            "Closed loop (fixed concurrency): each connection is followed by the next. A server"
            " that stalls slows the clients down with it, so stalls are under-reported"
            " (coordinated omission)."
        ]
    else:
        late = (
            " What the clients could not start in time is counted as late, what they never started"
            " as unsent."
        )
        rows = [
            "Open loop: calls are started on a schedule fixed in advance, whatever the server does."
            f"{'' if setup.load_tool else late}"
        ]
    if setup.load_tool:
        rows.append(
            f"The load was made by another program than Pongbench's own agent, {start.load_tool}:"
            " figures that it does not report are unknown."
        )
    if setup.axis.bounds:
        rows.append(
            f"The peak of a server is searched for: the highest tested rate with {setup.limits}."
            " Points that disagree by chance are weighed against each other (probabilistic"
            " bisection) until the server’s limit is known to within one step with 95 %"
            " probability, and the peak is confirmed by a second point. “≥” means that the limit"
            f" was not reached.{_median(setup)}"
        )
    elif setup.axis.has_limit:
        rows.append(
            "A server sustains a rate when at least 99 % of the attempts succeed there and at every"
            " lower rate, and the verdict is ok. “≥” means that its limit was not reached. The"
            " tested rates are steps: the true limit lies between two of them."
            f"{_median(setup)}"
        )
    latency = (
        "Latency counts from the scheduled time of a call, so that it includes the queue that a"
        " stall builds up; service time counts from the actual send. "
    )
    rows.append(
        f"{latency * (not setup.closed)}A percentile is shown only where"
        " there are enough replies for it. Percentiles of several passes come from their merged"
        " histograms and are never averaged."
    )
    rows.append(
        f"Errors are a share of attempts. A call without a whole reply after {setup.timeout_s:g} s"
        " has failed. Running out of ports or descriptors is a client error and counts against no"
        " server."
    )
    if summary.ceiling_per_s is not None:
        rate = f"{formatting.rate(summary.ceiling_per_s)}/s"
        rows.append(
            f"The clients reach at least {rate}, all that was offered."
            if summary.ceiling_per_s >= _highest(setup)
            else f"The client limit is {rate}: the most the clients reached, against the null"
            " server or any other. Beyond it a failure says nothing about a server."
        )
    rows.append(
        "Every point is judged by the clients’ lateness and CPU, the errors, kernel counters and"
        " background load. A point that is neither ok nor server-limited nor faulty says nothing"
        " about its server; it is drawn hollow. A server is faulty where it gives unexpected"
        " responses below its capacity: such a point is crossed, and no limit."
    )
    return rows


def _median(setup: Setup) -> str:
    return f" Over {setup.repeats} passes, the median counts." * (setup.repeats > 1)


def _highest(setup: Setup) -> float:
    return max(setup.axis.ends, default=0.0)


def _where(setup: Setup) -> str:
    targets = ", ".join(machine.name for machine in setup.targets)
    if setup.shared:
        return f"Servers and clients shared {targets}: its kernel, memory and caches."
    clients = ", ".join(machine.name for machine in setup.clients)
    return f"The servers ran on {targets}, the clients on {clients}."


def _text(name: str, value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text('', each)}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(_text("", each) for each in value)
    if isinstance(value, int) and not isinstance(value, bool) and not name.startswith("net."):
        return f"{value:,}"
    return str(value)
