"""What load tools cannot offer or report, how a plan starts them, and why two of them differ."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from workbench.messages.base import Message
from workbench.messages.notes import Severity
from workbench.messages.plans import Problem, Warned

# Why a load tool cannot offer a plan's load.


class ToolProblem(Problem):
    """Why a load tool cannot offer a plan's load."""

    keys: tuple[str, ...] = ("load_tool",)
    tool: str


class ToolOfAnotherWorkload(ToolProblem):
    workload: str
    """As `runs`: "HTTP", "locustfiles"."""
    runs: list[str]
    template = """{tool} runs {runs:listed} only, not {workload}; leave it out, or choose another
        load tool."""


class ToolCannotVary(ToolProblem):
    axis: Literal["rate", "concurrency"]
    template = """{tool} cannot vary the {axis}; give {axis:rate?concurrency (workload.mode:
        closed)|rates}, or choose another load tool."""


class ToolWithOneConnection(ToolProblem):
    connections: int
    """Of all clients together."""
    template = """{tool} has one connection per worker, here {connections:,}; lower the concurrency,
        or add workers or clients."""


class ToolCannotEnd(ToolProblem):
    end: str
    instead: str
    template = "{tool} cannot end a point by {end}; give {instead} instead."


class ToolWholeSeconds(ToolProblem):
    key: str
    template = "{tool} counts whole seconds; give a whole number as {key}."


class ToolHasNoLatency(ToolProblem):
    keys: tuple[str, ...] = ("search.p99_ms", "load_tool")
    template = """{tool} does not measure from the scheduled time, as search.p99_ms needs; leave
        that out, or choose another load tool."""


class ToolShowsSecrets(ToolProblem):
    """The command line of the load tool would contain secrets."""

    template = """{tool} shows its headers to every user of the client; leave the secrets out of
        workload.headers, or choose another load tool."""


class ToolProtocol(ToolProblem):
    protocol: str
    """As in plans, as those of `speaks`."""
    speaks: list[str]
    template = """{tool} speaks {speaks:listed} only, not {protocol}; set workload.protocol to
        {best}."""

    def best(self) -> str:
        return self.speaks[-1]


Lacking: TypeAlias = Literal["requests", "body", "pipeline", "tls", "think_time_s"]


class ToolLacks(ToolProblem):
    key: Lacking
    lacks: ClassVar[dict[Lacking, str]] = {
        "requests": "has one request",
        "body": "sends no body here",
        "pipeline": "is used without pipelining here",
        "tls": "is used without TLS here",
        "think_time_s": "does not pause between calls",
    }
    template = "{tool} {key:lacks}; leave workload.{key} out, or choose another load tool."


OnlyKey: TypeAlias = Literal["arrivals", "think_times", "engine"]
OnlyValue: TypeAlias = Literal["poisson", "uniform", "constant", "agent", "locust"]


class ToolOnly(ToolProblem):
    key: OnlyKey
    value: OnlyValue
    only: ClassVar[dict[OnlyValue, str]] = {
        "poisson": "starts users at random instants only",
        "uniform": "has a constant rate only",
        "constant": "has constant think times only",
        "agent": "runs users by Pongbench's own agent",
        "locust": "runs users by Locust's own master and workers",
    }
    template = "{tool} {value:only}; set workload.{key} to {value}."


class ToolThinksTooLong(ToolProblem):
    connections: int
    most: int
    """Of all its workers on a client."""
    template = """Think times keep {connections:,} connections open, but {tool} uses select(), which
        has no descriptors for more than {most:,} here; give more workers, or choose another load
        tool."""


class SearchWithOneTool(Problem):
    keys: tuple[str, ...] = ("with",)
    template = "A search chooses its points by one load tool; name one."


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
    """What the verdicts of a series could not check, because the load tool does not report it."""

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


# Why two load tools report different figures of the same point.


class Differs(Message):
    """A known cause of a difference between two load tools."""

    tool: str


class OffersOtherLoad(Differs):
    offered_per_s: float
    other: str
    other_per_s: float
    template = "schedule: {tool} offered {offered_per_s:rate}/s, {other} {other_per_s:rate}/s"


class CountsToTheEnd(Differs):
    """Its reply rate is that of the whole test, in which calls failed."""

    template = "schedule: {tool} counts until its last timeout"


class LeavesConnectOut(Differs):
    """Its times begin with the request, those of the other with the connect."""

    template = "connect: times of {tool} begin with the request"


class KeepsConnections(Differs):
    """It keeps connections for as long as the server does; the other replaces them."""

    template = "keep-alive: {tool} does not replace connections"


class SpeaksHttp1(Differs):
    """It speaks HTTP/1.1, the other HTTP/2."""

    template = "protocol: {tool} speaks HTTP/1.1"


class Resolves(Differs):
    """Its times are no finer than the difference."""

    resolution_us: int
    template = "resolution of {tool}: {resolution_us:duration}"


class DelaysItself(Differs):
    template = "delays within {tool}, which are in its times"


class OmitsStalls(Differs):
    """It measures from the send, so that a stall counts for few calls."""

    timed_by: str
    """The tool that measures from the scheduled time, too."""
    latency_p99_us: int
    service_p99_us: int
    template = """coordinated omission: from the scheduled time p99 is {latency_p99_us:duration}
        ({timed_by}), which {tool} does not measure"""
