"""Requests of HTTP: their keys in a plan, what may be wrong, and their form for the driver."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from workbench.messages.problems import Problem, problem
from workbench.workloads.base import Secrets
from workbench.workloads.gating import Server

MOST_BODY = 65_536
"""Bytes of a request's body."""
MOST_REQUESTS = 20
MOST_WEIGHT = 1_000
SAFE = ("GET", "HEAD", "OPTIONS")
"""Methods that change nothing on a server (RFC 9110, 9.2.1)."""


class Secret(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A value that the plan names and does not contain; see `machines.secrets.named`."""

    secret: Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]


PLACE = re.compile(r"\{secret: ([A-Za-z_][A-Za-z0-9_]{0,99})\}")
"""Where a path or a body has a secret."""
CREDENTIAL = re.compile(
    r"authorization|cookie|token|secret|passw|api-?key|session|signature|credential", re.IGNORECASE
)
"""In names of headers whose values are no business of a plan."""


Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
Headers = dict[str, str | Secret]
Status = Annotated[int, Meta(ge=200, le=599)] | None
Length = Annotated[int, Meta(ge=0, le=1 << 30)] | None


class Request(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One of several requests of a plan; the keys are those of the workload, and its weight."""

    path: str
    weight: Annotated[int, Meta(ge=1, le=MOST_WEIGHT)] = 1
    name: Annotated[str, Meta(max_length=40)] = ""
    method: Method = "GET"
    headers: Headers = {}
    body: str = ""
    expect_status: Status = None
    expect_text: str = ""
    expect_type: str = ""
    expect_bytes: Length = None

    @property
    def label(self) -> str:
        """ "/json", "POST /orders"."""
        return self.name or (self.path if self.method == "GET" else f"{self.method} {self.path}")

    @property
    def checks(self) -> dict[str, Any]:
        """What the plan states of the reply, for the driver; empty: nothing."""
        stated = {
            "status": self.expect_status,
            "text": self.expect_text,
            "type": self.expect_type,
            "bytes": self.expect_bytes,
        }
        return {name: value for name, value in stated.items() if value not in (None, "")}

    def reply(self, entry: Server) -> dict[str, Any]:
        """Return the expected response, for the driver; empty: any 2xx."""
        if self.checks:
            return {"checks": self.checks}
        if answered := entry.expected.get(self.label):
            return {"checks": answered}
        wanted = entry.replies.get(self.path) if self.method in ("GET", "HEAD") else None
        if wanted is None:
            return {}
        body = {} if wanted.body is None else {"body": wanted.body, "json": wanted.json}
        return {"status": wanted.status, **body}

    @property
    def secrets(self) -> set[str]:
        """Names of those that it takes."""
        values = [value for value in self.headers.values() if isinstance(value, Secret)]
        return {value.secret for value in values} | {*PLACE.findall(f"{self.path} {self.body}")}

    def driven(self, secrets: Secrets) -> dict[str, Any]:
        """Return the request for the driver, without defaults. `secrets`: values by name."""
        headers = [
            (name, secrets[value.secret] if isinstance(value, Secret) else value)
            for name, value in self.headers.items()
        ]
        path, body = (
            PLACE.sub(lambda place: secrets[place[1]], text) for text in (self.path, self.body)
        )
        own = {"method": self.method, "headers": headers, "body": body, "weight": self.weight}
        usual = {"method": "GET", "headers": [], "body": "", "weight": 1}
        return {"path": path.replace(" ", "%20")} | {k: v for k, v in own.items() if v != usual[k]}


Requests = Annotated[list[Request], Meta(max_length=MOST_REQUESTS)]
Tls = Literal["none", "full", "resumed"]

OF_ONE = tuple(name for name in Request.__struct_fields__ if name not in ("name", "weight"))
"""Keys that a request and the workload have."""

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_MEDIA_TYPE = re.compile(rf"{_TOKEN.pattern}/{_TOKEN.pattern}")
_VALUE = re.compile(r"[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?|")
FRAMING = ("connection", "content-length", "transfer-encoding", "upgrade", "expect")


def path_problems(
    path: str, *, keys: tuple[str, ...] = ("workload.path",), number: int = 0
) -> Iterator[Problem]:
    """Return what is wrong with a path; `keys` and `number` as of `problems`."""
    if not re.fullmatch(r"/[\x21-\x7e]*", path):
        yield problem("invalid-path", *keys, number=number)


def problems(request: Request, number: int = 0) -> Iterator[Problem]:
    """Return what is wrong with a request; `number` counts those of several from 1."""

    def keys(key: str) -> tuple[str, ...]:
        return ("workload.requests" if number else f"workload.{key}",)

    yield from path_problems(PLACE.sub("*", request.path), keys=keys("path"), number=number)
    for name, value in request.headers.items():
        wrong = _wrong_with(name, value)
        if wrong:
            yield problem(
                "invalid-header", *keys("headers"), number=number, header=name, said=wrong
            )
    if request.expect_type and not _MEDIA_TYPE.fullmatch(request.expect_type):
        yield problem("invalid-type", *keys("expect_type"), number=number)
    if request.method == "HEAD":
        for key in request.checks:
            if key in ("text", "bytes"):
                yield problem("no-body-of-head", *keys(f"expect_{key}"), number=number)
    length = len(request.body.encode())
    if length > MOST_BODY:
        yield problem("body-too-large", *keys("body"), number=number, bytes=length, most=MOST_BODY)


def _wrong_with(name: str, value: str | Secret) -> str:
    if not _TOKEN.fullmatch(name):
        return f"The header name {name[:40]!r} has characters that are not allowed."
    if name.lower() in FRAMING:
        return f"{name} follows from the protocol, the calls and the body; leave it out."
    if isinstance(value, Secret):
        return ""
    if not _VALUE.fullmatch(value):
        return f"The value of {name} has line breaks or other characters that are not allowed."
    if not CREDENTIAL.search(name):
        return ""
    return (
        f"{name} may be a credential, and sessions record plans; give {{secret: NAME}} in place of"
        " the value."
    )
