"""Warnings about a plan, its workload and its load tools: messages with the keys concerned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from workbench import formatting
from workbench.consent import Exposure
from workbench.messages.base import FORMATS, Stated, Templates
from workbench.messages.problems import RESOURCES

Right: TypeAlias = Literal["root", "files", "shared-memory"]

RIGHTS: Mapping[Right, str] = {
    "root": "runs as root where root runs it",
    "files": "may read and write what its user may",
    "shared-memory": "may read and write its user's shared memory",
}
"""The additional privileges of a server, as the rest of a sentence."""

Untold: TypeAlias = Literal[
    "latency",
    "lateness",
    "windows",
    "percentiles",
    "connect",
    "first-byte",
    "replies",
    "queue",
    "client-cpu",
    "client-limit",
    "conservation",
]
"""What stays unknown with a load tool."""

_UNTOLD: dict[Untold, str] = {
    "latency": "latency from the scheduled time",
    "lateness": "how late calls were started",
    "windows": "anything while a point runs",
    "percentiles": "percentiles of response times",
    "connect": "connect time",
    "first-byte": "time to first byte",
    "replies": "whether replies are as expected",
    "queue": "whether a queue grows",
    "client-cpu": "how busy the clients are",
    "client-limit": "the client limit",
    "conservation": "whether every call is accounted for",
}


FORMATS |= {
    "resource": RESOURCES.__getitem__,
    "right": RIGHTS.__getitem__,
    "shows": lambda shows: formatting.listed(
        [f"{formatting.span(pct, pct)} % in {figure}" for figure, pct in shows.items()]
    ),
    "untold": lambda untold: formatting.listed([_UNTOLD[each] for each in untold]),
    "who": lambda where: formatting.capital(" and ".join(f"the {each}" for each in where)),
}

WARNINGS = Templates("""
# After a code its severity, unless that is WARNING, and the keys of the plan that it is about.
# Servers. `why` of more-rights: from the catalogue entry; of packages-out-of-reach: the part of a
# sentence about the index, with what to do.
more-rights: servers
    {server} {right:right}: {why}
must-be-fetched: servers
    {servers:listed} {servers:1?needs|need} programs or source code that the target lacks; the run
    stops before it begins unless these are fetched: test {servers:1?it|them} on the Servers page,
    or use --install.
packages-out-of-reach: servers
    The packages of {servers:listed} have not been fetched yet, and {why}.{ids:?}
old-servers-exposed: servers
    {said}. The run asks before it begins.{servers:?}{machine:?}{address:?}
# Points that are too small or too short. `x` of few-samples: the highest with too few calls.
warm-up-above-rates: warm_up.rate_per_s
    The warm-up at {warm_up} loads servers more than the plan's highest rate, {highest}.
points-lengthened:
    {connections:,} connections are too few at {lengthened} of {points} points; these get up to
    {most:,}.
few-samples:
    Up to {x:place $suffix} a point has fewer than {needed:,} calls: too few for a steady p99.
# What a plan's passes can show. `shows`: the smallest differences in percent, by figure, 9 times in
# 10, up to 100 %; `proposed`: passes that show one of `wanted_pct`, if they are more; `session`:
# where the spread of passes was measured.
sensitivity: INFO repeats
    {passes:1?One pass cannot show significance; {proposed:known?{proposed} passes resolve
    {wanted_pct:g} % in {figure}|{wanted_pct:g} % in {figure} cannot be resolved here}|{passes}
    passes show {shows:?differences from {shows:shows}|no difference below 100 %}}
    ({session:?spread of passes as in {session}|typical spread}){passes:1?|{proposed:known?;
    {wanted_pct:g} % in {figure} takes {proposed}}}.
# Ports and descriptors of the clients and the target. `ports`: of one address; `needed`: ports of
# each client. Where it comes to timeouts-fill, points say so; its `x`: the lowest with too many.
several-addresses: nofile
    Each client connects from {addresses} local addresses in turn, because connecting gets slow
    where more than half of the {ports:,} ports of one are used.
few-addresses:
    At {x:place $suffix} each client needs {wanted} local addresses, and has {addresses}: {needed:,}
    of its ports are open or in TIME_WAIT at once, and connecting gets slow where more than half of
    the {ports:,} ports of one address are used. Add addresses or clients.
held-to-ceiling: vary
    The connections end at {connections:,}: the {where} {where:target?has|have} {available:,}
    {resource:ports?local ports before connecting gets slow|file descriptors (nofile)}.
few-descriptors:
    {where:?{where:who} {where:1?allows|allow}|The client allows} {allowed:,} file descriptors per
    process, not the {wanted:,} of the plan. Raise {where:?{where:1?its|their}|its} hard limit, or
    lower nofile.
timeouts-fill: QUIET
    From {x:place $suffix} on a server that stops answering leaves up to {connections:,} connections
    open until the timeout; the client has {available:,} {resource:resource}. Such points count as
    the client's limit, not the server's.
rates-estimated: rates
    The rates end at the client limit, which is measured first: duration, calls and ports are
    estimates for {ceiling}.
rests-for-ports: cool_down_s
    Rests of up to {longest_s:.0f} s between points, until enough local ports are free again.
# A workload. `missing`: false where it is there.
unusable-secret: workload.headers
    The secret {secret}{missing:known? has line breaks or other characters that a header cannot
    have; store it again without them| is missing; set the environment variable
    PONGBENCH_SECRET_{secret}, or store it with: keyring set pongbench {secret}}.
master-listens: workload.master
    {workers:number_of workers} of Locust {workers:1?has|have} to join by {workers:1?itself
    |themselves}: locust --worker --master-host {address} --master-port {port} -f -. This port has
    no password: whoever reaches it gets {file}, and may report anything.
# Load tools. `connections`: of all workers of one on a client; `command`: of the first of the
# processes of all clients together, among which the load is divided.
tool-cannot-tell: INFO load_tool
    Unknown with {tool}: {untold:untold}. Verdicts do without.
tool-opens-few: INFO load_tool workers
    {tool} has at most {connections:,} connections open on a client, whatever nofile is; beyond that
    they fail. More workers allow more.
tool-connects-as-due: INFO concurrency
    {tool} opens connections as calls are due; concurrency, beside rates, is for tools that keep a
    number of them, such as wrk2.
# See `load.tsung`.
tool-has-own-pace: INFO load_tool
    {tool} keeps rates only roughly: when measured, 60 to 106 % of those asked for, beyond 500/s 16
    to 117 %. The offered rate of a point is the one it reached.
tool-command: INFO load_tool
    {tool} runs as{processes:? {processes:,} processes, the first as}: {command}
""")


@dataclass(frozen=True)
class Warned(Stated):
    """Does not prevent a plan from running; noted in the session."""

    keys: tuple[str, ...]
    """As in `problems.Problem`."""


def warning(code: str, *keys: str, **parameters: Any) -> Warned:
    """A warning of the table; `keys`: in place of its own, and recorded."""
    found = WARNINGS.stated(code, **parameters)
    given = {**found.parameters, "keys": list(keys)} if keys else found.parameters
    own = tuple(word for word in WARNINGS[code][0] if not word.isupper())
    return Warned(code, found.template, given, keys or own)


def old_servers_exposed(found: Exposure) -> Warned:
    return warning(
        "old-servers-exposed",
        servers=list(found.names),
        machine=found.machine,
        address=found.address,
        said=found.text,
    )


def more_rights(server: str, rights: Mapping[Right, str]) -> list[Warned]:
    """The rights that only this server has, each with its reason."""
    return [
        warning("more-rights", server=server, right=right, why=why)
        for right, why in sorted(rights.items())
    ]
