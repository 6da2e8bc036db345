"""What load tools cannot offer or report, how a plan starts them, and why two of them differ."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

from workbench.messages.base import Message, Stated, Templates
from workbench.messages.notes import Severity
from workbench.messages.plans import Warned

# What stays unknown with a load tool, and how it is started.

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


class ToolCannotTell(Warned):
    level: ClassVar[Severity] = Severity.INFO
    keys: tuple[str, ...] = ("load_tool",)
    tool: str
    untold: list[Untold]
    figures: ClassVar[dict[Untold, str]] = {
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
    template = "Unknown with {tool}: {untold:figures}. Verdicts do without."


class ToolOpensFew(Warned):
    level: ClassVar[Severity] = Severity.INFO
    keys: tuple[str, ...] = ("load_tool", "workers")
    tool: str
    connections: int
    """Of all its workers on a client."""
    template = """{tool} has at most {connections:,} connections open on a client, whatever nofile
        is; beyond that they fail. More workers allow more."""


class ToolConnectsAsDue(Warned):
    level: ClassVar[Severity] = Severity.INFO
    keys: tuple[str, ...] = ("concurrency",)
    tool: str
    template = """{tool} opens connections as calls are due; concurrency, beside rates, is for tools
        that keep a number of them, such as wrk2."""


class ToolHasOwnPace(Warned):
    """A load tool that starts users at about the rate of the plan; see `load.tsung`."""

    level: ClassVar[Severity] = Severity.INFO
    keys: tuple[str, ...] = ("load_tool",)
    tool: str
    template = """{tool} keeps rates only roughly: when measured, 60 to 106 % of those asked for,
        beyond 500/s 16 to 117 %. The offered rate of a point is the one it reached."""


class ToolCommand(Warned):
    level: ClassVar[Severity] = Severity.INFO
    keys: tuple[str, ...] = ("load_tool",)
    tool: str
    command: str
    """Of the first process."""
    processes: int = 1
    """Of all clients together, among which the load is divided."""
    template = "{tool} runs as{processes:1?| {processes:,} processes, the first as}: {command}"


Unchecked: TypeAlias = Literal[
    "schedule", "queue", "client-cpu", "background-load", "conservation", "replies"
]


class NotChecked(Message):
    tool: str
    what: list[Unchecked]
    checks: ClassVar[dict[Unchecked, str]] = {
        "schedule": "the schedule (calls started late)",
        "queue": "a growing queue",
        "client-cpu": "how busy the clients were",
        "background-load": "background load",
        "conservation": "that every call is accounted for",
        "replies": "replies against the expected one",
    }
    template = "Could not be checked with {tool}: {what:checks}."


DIFFERENCES = Templates("""
offers-other-load:
    schedule: {tool} offered {offered_per_s:rate}/s, {other} {other_per_s:rate}/s
counts-to-the-end:
    schedule: {tool} counts until its last timeout
leaves-connect-out:
    connect: times of {tool} begin with the request
keeps-connections:
    keep-alive: {tool} does not replace connections
speaks-http1:
    protocol: {tool} speaks HTTP/1.1
resolves:
    resolution of {tool}: {resolution_us:duration}
delays-itself:
    delays within {tool}, which are in its times
omits-stalls:
    coordinated omission: from the scheduled time p99 is {latency_p99_us:duration} ({timed_by}),
    which {tool} does not measure{service_p99_us:?}
""")
"""Why two load tools report different figures of the same point."""


def differs(code: str, **parameters: Any) -> Stated:
    return DIFFERENCES.stated(code, parameters)
