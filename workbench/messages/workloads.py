"""Problems of a plan's workload: its requests, or its locustfile."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from workbench import formatting
from workbench.messages.plans import Problem, Warned


class NoClosedLoop(Problem):
    keys: tuple[str, ...] = ("workload.mode",)
    workload: str
    template = "{workload} has no closed loop; set workload.mode to open, and give rates."


class RequestProblem(Problem):
    number: int = 0
    """Of several requests, counted from 1; 0: there is one."""


class InvalidPath(RequestProblem):
    keys: tuple[str, ...] = ("workload.path",)
    template = """{number:?Request {number}: the path|It} must begin with / and have no spaces or
        control characters."""


WrongHeader: TypeAlias = Literal["name", "value", "framing", "credential"]


class InvalidHeader(RequestProblem):
    keys: tuple[str, ...] = ("workload.headers",)
    header: str
    wrong: WrongHeader
    says: ClassVar[dict[WrongHeader, str]] = {
        "name": "The header name {name!r} has characters that are not allowed.",
        "value": "The value of {header} has line breaks or other characters that are not allowed.",
        "framing": "{header} follows from the protocol, the calls and the body; leave it out.",
        "credential": "{header} may be a credential, and sessions record plans; give"
        " {{secret: NAME}} in place of the value.",
    }
    template = "{number:?Request {number}: {continued}|{wrong:says}}"

    def name(self) -> str:
        return self.header[:40]

    def continued(self) -> str:
        return formatting.continued(self.filled("{wrong:says}"))


class UnusableSecret(Warned):
    keys: tuple[str, ...] = ("workload.headers",)
    secret: str
    missing: bool = True
    template = """The secret {secret}{missing:? is missing; set the environment variable
        PONGBENCH_SECRET_{secret}, or store it with: keyring set pongbench {secret}| has line breaks
        or other characters that a header cannot have; store it again without them}."""


class BodyTooLarge(RequestProblem):
    keys: tuple[str, ...] = ("workload.body",)
    bytes: int
    most: int
    template = """{number:?Request {number}: the|The} body has {bytes:,} bytes; a body has at most
        {most:,}."""


class InvalidType(RequestProblem):
    """Replies are compared with the Content-Type without its parameters."""

    keys: tuple[str, ...] = ("workload.expect_type",)
    template = """{number:?Request {number}: the expected type|It} must be a media type without
        parameters, like application/json."""


class NoBodyOfHead(RequestProblem):
    keys: tuple[str, ...]
    template = """{number:?Request {number}: a|A} reply to HEAD has no body to check; leave it
        out."""


class BesideRequests(Problem):
    keys: tuple[str, ...]
    template = "Requests are given, too; give it in each of these."


class OneCallOnly(Problem):
    keys: tuple[str, ...] = ("workload.calls_per_connection",)
    protocol: str
    template = """{protocol:websocket?Messages are not counted by connection; give rates (per
        second) and seconds|It must be 1 with {protocol}}."""


class QueuesTooLarge(Problem):
    keys: tuple[str, ...] = ("workload.message_size",)
    message_size: int
    high_water_mark: int
    most_bytes: int
    template = """A queue of {high_water_mark:,} messages of {message_size:,} bytes takes more than
        {most_gib:g} GiB; lower message_size or high_water_mark."""

    def most_gib(self) -> float:
        return self.most_bytes / (1 << 30)


class PipelineTooDeep(Problem):
    keys: tuple[str, ...] = ("workload.pipeline",)
    pipeline: int
    template = "{pipeline} calls at once need as many calls_per_connection."


class ReconnectAlone(Problem):
    keys: tuple[str, ...] = ("workload.on_close",)
    template = """reconnect needs equal calls one after another: no pipeline, think_time_s or
        requests."""


# Locustfiles that cannot be run.


class LocustfileMissing(Problem):
    keys: tuple[str, ...] = ("workload.locustfile",)
    path: str = ""
    said: str = ""
    """Why, without a full stop."""
    template = """{path:?{path} cannot be read: {said}|None is named; give the path of a
        locustfile}."""


class LocustfileInvalid(Problem):
    """Python cannot compile it."""

    keys: tuple[str, ...] = ("workload.locustfile",)
    path: str
    at_line: int
    said: str
    """Without a full stop."""
    template = "{path}, line {at_line}: {said}."


class LoadShapeGiven(Problem):
    keys: tuple[str, ...] = ("workload.locustfile",)
    path: str
    at_line: int
    name: str
    template = """{path}, line {at_line}: {name} is a LoadTestShape, and the plan decides the load;
        remove it, or give engine: locust."""


class MasterInvalid(Problem):
    """Where Locust's master is to listen."""

    keys: tuple[str, ...] = ("workload.master",)
    said: str
    template = """{said} Workers that join by themselves need an address of this computer and a
        port: 192.0.2.7:5557."""


class OfOtherEngine(Problem):
    keys: tuple[str, ...]
    key: str
    template = "{key} is of engine: locust; give that, or leave {key} out."


class MasterListens(Warned):
    keys: tuple[str, ...] = ("workload.master",)
    workers: int
    address: str
    port: int
    file: str
    template = """{workers:number_of workers} of Locust {workers:1?has|have} to join by
        {workers:1?itself|themselves}: locust --worker --master-host {address} --master-port
        {port} -f -. This port has no password: whoever reaches it gets {file}, and may report
        anything."""


class RequirementInvalid(Problem):
    keys: tuple[str, ...] = ("workload.requirements",)
    requirement: str
    template = """{requirement!r} names no package of the index with its version; write
        faker==40.1.0."""
