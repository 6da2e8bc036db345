"""Invalid values of a plan's keys."""

from __future__ import annotations

from typing import Literal, TypeAlias

from workbench import formatting
from workbench.messages.plans.problem import Problem, Warned


class NoServers(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("servers",)

    def text(self) -> str:
        return "None is listed; name at least one of the catalogue."


class ServerTwice(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("servers",)
    server: str

    def text(self) -> str:
        return f"'{self.server}' is listed twice; for a second measurement use `repeats`."


class ProtocolNotSupported(Problem, frozen=True, kw_only=True):
    """Servers that support the same protocols, but not the plan's."""

    keys: tuple[str, ...] = ("servers",)
    servers: tuple[str, ...]
    protocols: list[str]
    wanted: str

    def text(self) -> str:
        named, supported = formatting.listed(self.servers), ", ".join(self.protocols)
        support, them = ("support", "them") if len(self.servers) > 1 else ("supports", "it")
        return f"{named} {support} {supported}, not {self.wanted}. Leave {them} out of the plan."


class OneClientOnly(Problem, frozen=True, kw_only=True):
    """A server or a transport has one client, but the plan connects several at once."""

    what: str
    """Subject of the sentence: the name of the server, "The transport inproc"."""
    clients: int
    """Connections at once."""

    def text(self) -> str:
        one = "concurrency" if "concurrency" in self.keys else "workers and clients"
        return (
            f"{self.what} has one client at a time, here {self.clients:,}; leave it out, or set"
            f" {one} to 1."
        )


class LengthUnclear(Problem, frozen=True, kw_only=True):
    """The length of a point is given twice or not at all."""

    keys: tuple[str, ...] = ("connections", "seconds")
    both: bool

    def text(self) -> str:
        return f"{'Both are' if self.both else 'Neither is'} given; give exactly one of the two."


class SecondsOnly(Problem, frozen=True, kw_only=True):
    """Points of a workload that holds its connections."""

    keys: tuple[str, ...] = ("connections",)
    workload: str

    def text(self) -> str:
        return (
            f"Points of {self.workload} last a number of seconds; give seconds, and"
            " workload.connections for those held open."
        )


class NoClosedLoop(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("workload.mode",)
    workload: str

    def text(self) -> str:
        return f"{self.workload} has no closed loop; set workload.mode to open, and give rates."


class RequestProblem(Problem, frozen=True, kw_only=True):
    """A problem of a request."""

    number: int = 0
    """Of several requests, counted from 1; 0: there is one."""

    def of(self, text: str) -> str:
        """Return the text with the number of the request."""
        return f"Request {self.number}: {formatting.continued(text)}" if self.number else text


class InvalidPath(RequestProblem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("workload.path",)

    def text(self) -> str:
        it = "The path" if self.number else "It"
        return self.of(f"{it} must begin with / and have no spaces or control characters.")


WrongHeader: TypeAlias = Literal["name", "value", "framing", "credential"]


class InvalidHeader(RequestProblem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("workload.headers",)
    header: str
    wrong: WrongHeader

    def text(self) -> str:
        name = repr(self.header[:40])
        says = {
            "name": f"The header name {name} has characters that are not allowed.",
            "value": f"The value of {self.header} has line breaks or other characters that are not"
            " allowed.",
            "framing": f"{self.header} follows from the protocol, the calls and the body; leave it"
            " out.",
            "credential": f"{self.header} may be a credential, and sessions record plans; give"
            " {secret: NAME} in place of the value.",
        }
        return self.of(says[self.wrong])


class UnusableSecret(Warned, frozen=True, kw_only=True):
    """A header's secret is missing here, or no header can have it; a run is refused then."""

    keys: tuple[str, ...] = ("workload.headers",)
    secret: str
    """Its name."""
    missing: bool = True

    def text(self) -> str:
        if self.missing:
            return (
                f"The secret {self.secret} of a header is missing; set the environment variable"
                f" PONGBENCH_SECRET_{self.secret}, or store it with: keyring set pongbench"
                f" {self.secret}."
            )
        return (
            f"The secret {self.secret} has line breaks or other characters that a header cannot"
            " have; store it again without them."
        )


class BodyTooLarge(RequestProblem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("workload.body",)
    bytes: int
    most: int

    def text(self) -> str:
        return self.of(f"The body has {self.bytes:,} bytes; a body has at most {self.most:,}.")


class InvalidType(RequestProblem, frozen=True, kw_only=True):
    """Replies are compared with the Content-Type without its parameters."""

    keys: tuple[str, ...] = ("workload.expect_type",)

    def text(self) -> str:
        it = "The expected type" if self.number else "It"
        return self.of(f"{it} must be a media type without parameters, like application/json.")


class NoBodyOfHead(RequestProblem, frozen=True, kw_only=True):
    keys: tuple[str, ...]

    def text(self) -> str:
        return self.of("A reply to HEAD has no body to check; leave it out.")


class BesideRequests(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...]

    def text(self) -> str:
        return "Requests are given, too; give it in each of these."


class OneCallOnly(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("workload.calls_per_connection",)
    protocol: str

    def text(self) -> str:
        if self.protocol == "websocket":
            return "Messages are not counted by connection; give rates (per second) and seconds."
        return f"It must be 1 with {self.protocol}."


class QueuesTooLarge(Problem, frozen=True, kw_only=True):
    """A socket's queue would take too much memory."""

    keys: tuple[str, ...] = ("workload.message_size",)
    message_size: int
    high_water_mark: int
    most_bytes: int

    def text(self) -> str:
        return (
            f"A queue of {self.high_water_mark:,} messages of {self.message_size:,} bytes takes"
            f" more than {self.most_bytes / (1 << 30):g} GiB; lower message_size or"
            " high_water_mark."
        )


class PipelineTooDeep(Problem, frozen=True, kw_only=True):
    keys: tuple[str, ...] = ("workload.pipeline",)
    pipeline: int

    def text(self) -> str:
        return f"{self.pipeline} calls at once need as many calls_per_connection."


class ReconnectAlone(Problem, frozen=True, kw_only=True):
    """Connections are made again, with pipelined calls or think times."""

    keys: tuple[str, ...] = ("workload.on_close",)

    def text(self) -> str:
        return (
            "reconnect needs equal calls one after another: no pipeline, think_time_s or requests."
        )


class RunTooLong(Problem, frozen=True, kw_only=True):
    shortest_s: float
    longest_s: float
    limit_s: float

    def text(self) -> str:
        lasts = formatting.time_span((self.shortest_s, self.longest_s))
        return (
            f"It takes {lasts}, but a run is ended after {self.limit_s / 3600:.0f} h. Use fewer "
            "servers, rates or repeats, or shorter points."
        )
