"""What the load tools of a plan cannot offer or report, and how they are started."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from workbench import formatting
from workbench.messages.notes import Severity
from workbench.messages.plans.problem import Problem, Warned

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

Lacking: TypeAlias = Literal["requests", "body", "pipeline", "tls", "think_time_s"]

_LACKING: dict[Lacking, str] = {
    "requests": "has one request",
    "body": "sends no body here",
    "pipeline": "is used without pipelining here",
    "tls": "is used without TLS here",
    "think_time_s": "does not pause between calls",
}

_ONLY = {
    "poisson": "starts users at random instants only",
    "uniform": "has a constant rate only",
    "constant": "has constant think times only",
}


class ToolProblem(Problem, frozen=True, kw_only=True):
    """Why a load tool cannot offer a plan's load."""

    keys: tuple[str, ...] = ("load_tool",)
    tool: str


class ToolOfAnotherWorkload(ToolProblem, frozen=True, kw_only=True):
    """The load tool cannot run the plan's workload."""

    workload: str
    """As `runs`: "HTTP", "locustfiles"."""
    runs: list[str]

    def text(self) -> str:
        runs = formatting.listed(self.runs)
        return (
            f"{self.tool} runs {runs} only, not {self.workload}; leave it out, or choose another"
            " load tool."
        )


class ToolCannotVary(ToolProblem, frozen=True, kw_only=True):
    """The load tool has no rates, or no fixed concurrency."""

    axis: Literal["rate", "concurrency"]

    def text(self) -> str:
        closed = self.axis == "rate"
        instead = "concurrency (workload.mode: closed)" if closed else "rates"
        return (
            f"{self.tool} cannot vary the {self.axis}; give {instead}, or choose another load tool."
        )


class ToolOnOneClient(ToolProblem, frozen=True, kw_only=True):
    """The load tool runs on one client only."""

    clients: int

    def text(self) -> str:
        return f"{self.tool} runs on one client, not on {self.clients}; leave the others out."


class ToolWithOneConnection(ToolProblem, frozen=True, kw_only=True):
    """Each worker of the load tool has a single connection."""

    connections: int
    """Of all clients together."""

    def text(self) -> str:
        return (
            f"{self.tool} has one connection per worker, here {self.connections:,}; lower the"
            " concurrency, or add workers or clients."
        )


class ToolCannotEnd(ToolProblem, frozen=True, kw_only=True):
    """The load tool cannot end a point of a closed loop by this key."""

    end: str
    instead: str

    def text(self) -> str:
        return f"{self.tool} cannot end a point by {self.end}; give {self.instead} instead."


class ToolWholeSeconds(ToolProblem, frozen=True, kw_only=True):
    """The load tool has a clock of whole seconds."""

    key: str

    def text(self) -> str:
        return f"{self.tool} counts whole seconds; give a whole number as {self.key}."


class ToolHasNoLatency(ToolProblem, frozen=True, kw_only=True):
    """A search limits what the load tool cannot measure."""

    keys: tuple[str, ...] = ("search.p99_ms", "load_tool")

    def text(self) -> str:
        return (
            f"{self.tool} does not measure from the scheduled time, as search.p99_ms needs; leave"
            " that out, or choose another load tool."
        )


class ToolShowsSecrets(ToolProblem, frozen=True, kw_only=True):
    """The command line of the load tool would contain secrets."""

    def text(self) -> str:
        return (
            f"{self.tool} shows its headers to every user of the client; leave the secrets out of"
            " workload.headers, or choose another load tool."
        )


class ToolProtocol(ToolProblem, frozen=True, kw_only=True):
    """The load tool does not speak the plan's protocol."""

    protocol: str
    """As in plans, as those of `speaks`."""
    speaks: list[str]

    def text(self) -> str:
        speaks = formatting.listed(self.speaks)
        return (
            f"{self.tool} speaks {speaks} only, not {self.protocol}; set workload.protocol to"
            f" {self.speaks[-1]}."
        )


class ToolLacks(ToolProblem, frozen=True, kw_only=True):
    """The load tool cannot do what a key of the workload asks for."""

    key: Lacking

    def text(self) -> str:
        return (
            f"{self.tool} {_LACKING[self.key]}; leave workload.{self.key} out, or choose another"
            " load tool."
        )


class ToolOnly(ToolProblem, frozen=True, kw_only=True):
    """The load tool can have one value of a key only."""

    key: Literal["arrivals", "think_times"]
    value: Literal["poisson", "uniform", "constant"]

    def text(self) -> str:
        return f"{self.tool} {_ONLY[self.value]}; set workload.{self.key} to {self.value}."


class ToolThinksTooLong(ToolProblem, frozen=True, kw_only=True):
    """Think times keep more connections open than the load tool can have."""

    connections: int
    most: int
    """Of all its workers on a client."""

    def text(self) -> str:
        return (
            f"Think times keep {self.connections:,} connections open, but {self.tool} uses"
            f" select(), which has no descriptors for more than {self.most:,} here; give more"
            " workers, or choose another load tool."
        )


class SearchWithOneTool(Problem, frozen=True, kw_only=True):
    """A search by several load tools."""

    keys: tuple[str, ...] = ("with",)

    def text(self) -> str:
        return "A search chooses its points by one load tool; name one."


class ToolCannotTell(Warned, frozen=True, kw_only=True):
    """Figures that stay unknown with a load tool."""

    level: ClassVar[Severity] = Severity.INFO

    keys: tuple[str, ...] = ("load_tool",)
    tool: str
    untold: list[Untold]

    def text(self) -> str:
        unknown = formatting.listed([_UNTOLD[each] for each in self.untold])
        return f"Unknown with {self.tool}: {unknown}. Verdicts do without."


class ToolOpensFew(Warned, frozen=True, kw_only=True):
    """A load tool with a limit of descriptors of its own."""

    level: ClassVar[Severity] = Severity.INFO

    keys: tuple[str, ...] = ("load_tool", "workers")
    tool: str
    connections: int
    """Of all its workers on a client."""

    def text(self) -> str:
        return (
            f"{self.tool} has at most {self.connections:,} connections open on a client, whatever"
            " nofile is; beyond that they fail. More workers allow more."
        )


class ToolHasOwnPace(Warned, frozen=True, kw_only=True):
    """A load tool that starts users at about the rate of the plan; see `load.tsung`."""

    level: ClassVar[Severity] = Severity.INFO

    keys: tuple[str, ...] = ("load_tool",)
    tool: str

    def text(self) -> str:
        return (
            f"{self.tool} keeps rates only roughly: when measured, 60 to 106 % of those asked for,"
            " beyond 500/s 16 to 117 %. The offered rate of a point is the one it reached."
        )


class ToolCommand(Warned, frozen=True, kw_only=True):
    """The command line of a load tool that is a program."""

    level: ClassVar[Severity] = Severity.INFO

    keys: tuple[str, ...] = ("load_tool",)
    tool: str
    command: str
    """Of the first process."""
    processes: int = 1
    """Of all clients together, among which the load is divided."""

    def text(self) -> str:
        if self.processes == 1:
            return f"{self.tool} runs as: {self.command}"
        return f"{self.tool} runs as {self.processes:,} processes, the first as: {self.command}"
