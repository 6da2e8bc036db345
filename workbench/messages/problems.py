"""Problems of a plan: one table of their sentences, with the keys of the plan concerned."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, TypeAlias

from workbench import formatting
from workbench.messages.base import FORMATS, Stated, Templates

Lacking: TypeAlias = Literal["requests", "body", "expect_status", "pipeline", "tls", "think_time_s"]
OnlyKey: TypeAlias = Literal["arrivals", "think_times", "engine"]
OnlyValue: TypeAlias = Literal["poisson", "uniform", "constant", "agent", "locust"]
Resource: TypeAlias = Literal["descriptors", "ports"]
"""A limited resource of a machine."""

_LACKS: dict[Lacking, str] = {
    "requests": "has one request",
    "body": "sends no body here",
    "expect_status": "takes a status of 2xx alone for a success",
    "pipeline": "is used without pipelining here",
    "tls": "is used without TLS here",
    "think_time_s": "does not pause between calls",
}
_ONLY: dict[OnlyValue, str] = {
    "poisson": "starts users at random instants only",
    "uniform": "has a constant rate only",
    "constant": "has constant think times only",
    "agent": "runs users by Pongbench's own agent",
    "locust": "runs users by Locust's own master and workers",
}
RESOURCES: dict[Resource, str] = {"descriptors": "file descriptors", "ports": "local ports"}

FORMATS |= {
    "continued": formatting.continued,
    "lacks": _LACKS.__getitem__,
    "only": _ONLY.__getitem__,
    "resource": RESOURCES.__getitem__,
}

PROBLEMS = Templates("""
no-servers: servers
    None is listed; name at least one of the catalogue.
server-twice: servers
    '{server}' is listed twice; for a second measurement use `repeats`.
not-among-servers: running
    {address} is not among `servers`; add it there, or leave it out here.
protocol-not-supported: servers
    {servers:listed} {servers:1?supports|support} {protocols:joined}, not {wanted}. Leave
    {servers:1?it|them} out of the plan.
one-client-only:
    {what} has one client at a time, here {clients:,}; leave it out, or set {one} to 1.
not-in-this-loop:
    {given:rates?A closed loop offers no rate; give concurrency in their place
    |Beside rates it is one number; to vary it, set workload.mode to closed}.
range-descends: rates
    They run from {first:g} down to {last:g}; swap the two.
step-or-points: rates
    A range has either a step or a number of points; give one of the two.
ceiling-in-points: rates.points
    A range up to the ceiling needs a number of points in place of a step.
ceiling-of-field: vary
    Nothing limits '{field}' before a run; give its highest value.
ceiling-unknown: rates calibrate
    The rates end at the client limit, which only a calibration finds; set calibrate to true, or
    give the highest rate.
search-in-closed-loop: search
    A closed loop offers no rate to search for; remove search, or set workload.mode to open.
beside-search:
    A search chooses its rates by itself; remove this, or remove search.
profile-outside: profile.at
    {at:figure} is outside what the plan measures, {low:figure} to {highest}.
search-bounds-descend: search.to
    It must be above from ({low:g}), and is {high:g}.
search-step-too-large: search.step
    {step:g} is more than lies between {low:g} and {high:g}; use {tenth:.3g} or less.
too-many-points:
    {points:,} points for one server are more than {most:,}; widen the step.
no-values:
    None is given; {varied:?list the values, for example [1, 2, 4] |{closed:?a closed loop needs
    a list, for example [50] |give a list, or from, to and step}}.
one-field-only: vary
    {fields:listed} cannot vary together; keep one of them.
not-varied: vary
    {workload} {fields:?cannot vary '{field}', only {fields:listed}; or |has no field that can
    vary;} give several rates{fields:?| instead}.
one-load-only:
    With '{field}' varied, the load stays the same; give a single value.
invalid-value:
    {value:,.12g} is not possible: {said}
not-ascending:
    {later:g} {twice:?is listed twice; list each value once|comes after {earlier:g}; list
    them in ascending order}.
length-unclear: connections seconds
    {both:?Both are|Neither is} given; give exactly one of the two.
seconds-only: connections
    Points of {workload} last a number of seconds; give seconds, and workload.connections for
    those held open.
run-too-long:
    It takes {lasts}, but a run is ended after {limit_h:.0f} h. Use fewer servers, rates or
    repeats, or shorter points.
point-too-short:
    At {at} a point lasts {seconds:.2g} s: too short for a verdict, which takes {shortest_s:g}
    s. {remedy}
no-steady-part:
    At {at} a point lasts {seconds:g} s and think time alone keeps each connection open for
    {think_s:g} s, so nothing is measured at a steady load. {remedy}
point-too-small:
    At {at} a point has {calls:number_of calls}: too few for a verdict, which takes {fewest}.
    {remedy}
too-few-for-limit:
    At {at} a point has {calls:,} calls: too few for a p99, which takes {needed:,}. {remedy}
not-enough-ports:
    The client has {ports:,} free ports and needs {needed:,} at {at}, because it closes first.
    Widen its range (net.ipv4.ip_local_port_range){addresses:?, give it {lacking} more local
    addresses}, or use fewer connections per point.
too-many-open:
    {what} need as many {resource:resource}; the {where} {where:target?has|have} {available:,}.
    {resource:descriptors?Raise nofile and the machine's hard limit{where:clients?, use more workers
    or clients}, or {fewer}|Use {clients:,} clients, {addresses:,} local addresses in all, or a
    wider net.ipv4.ip_local_port_range}.
no-closed-loop: workload.mode
    {workload} has no closed loop; set workload.mode to open, and give rates.
invalid-path: workload.path
    {number:?Request {number}: the path|It} must begin with / and have no spaces or control
    characters.
invalid-header: workload.headers
    {number:?Request {number}: {said:continued}|{said}}{header:?}
body-too-large: workload.body
    {number:?Request {number}: the|The} body has {bytes:,} bytes; a body has at most {most:,}.
invalid-type: workload.expect_type
    {number:?Request {number}: the expected type|It} must be a media type without parameters,
    like application/json.
no-body-of-head:
    {number:?Request {number}: a|A} reply to HEAD has no body to check; leave it out.
beside-requests:
    Requests are given, too; give it in each of these.
one-call-only: workload.calls_per_connection
    {protocol:websocket?Messages are not counted by connection; give rates (per second) and
    seconds|It must be 1 with {protocol}}.
queues-too-large: workload.message_size
    A queue of {high_water_mark:,} messages of {message_size:,} bytes takes more than
    {most_gib:g} GiB; lower message_size or high_water_mark.
pipeline-too-deep: workload.pipeline
    {pipeline} calls at once need as many calls_per_connection.
reconnect-alone: workload.on_close
    reconnect needs equal calls one after another: no pipeline, think_time_s or requests.
locustfile-missing: workload.locustfile
    {path:?{path} cannot be read: {said}|None is named; give the path of a locustfile}.
locustfile-invalid: workload.locustfile
    {path}, line {at_line}: {said}.
load-shape-given: workload.locustfile
    {path}, line {at_line}: {name} is a LoadTestShape, and the plan decides the load; remove it,
    or give engine: locust.
master-invalid: workload.master
    {said} Workers that join by themselves need an address of this computer and a port:
    192.0.2.7:5557.
of-other-engine:
    {key} is of engine: locust; give that, or leave {key} out.
requirement-invalid: workload.requirements
    {requirement!r} names no package of the index with its version; write faker==40.1.0.
tool-of-another-workload: load_tool
    {tool} runs {runs:listed} only, not {workload}; leave it out, or choose another load tool.
tool-cannot-vary: load_tool
    {tool} cannot vary the {axis}; give {axis:rate?concurrency (workload.mode: closed)|rates},
    or choose another load tool.
tool-with-one-connection: load_tool
    {tool} has one connection per worker, here {connections:,}; lower the concurrency, or add
    workers or clients.
tool-cannot-end: load_tool
    {tool} cannot end a point by {end}; give {instead} instead.
tool-whole-seconds: load_tool
    {tool} counts whole seconds; give a whole number as {key}.
tool-has-no-latency: search.p99_ms load_tool
    {tool} does not measure from the scheduled time, as search.p99_ms needs; leave that out, or
    choose another load tool.
tool-shows-secrets: load_tool
    {tool} shows its headers to every user of the client; leave the secrets out of
    workload.headers, or choose another load tool.
tool-protocol: load_tool
    {tool} speaks {speaks:listed} only, not {protocol}; set workload.protocol to {best}.
tool-lacks: load_tool
    {tool} {key:lacks}; leave workload.{key} out, or choose another load tool.
tool-only: load_tool
    {tool} {value:only}; set workload.{key} to {value}.
tool-thinks-too-long: load_tool
    Think times keep {connections:,} connections open, but {tool} uses select(), which has no
    descriptors for more than {most:,} here; give more workers, or choose another load tool.
search-with-one-tool: with
    A search chooses its points by one load tool; name one.
""")
"""With the keys that each concerns unless `problem` is given others."""


@dataclass(frozen=True)
class Problem(Stated):
    """Prevents a plan from running."""

    keys: tuple[str, ...]
    """Keys of the plan that are invalid or best changed; shown beside the last one."""

    def line(self) -> str:
        """ "connections, seconds: what is wrong; what to do." A name at its beginning stays as it
        is written."""
        text = self.text()
        each = (v if isinstance(v, list) else [v] for v in self.parameters.values())
        strings = (value for value in chain(*each) if value and isinstance(value, str))
        # What ends with a full stop is a sentence.
        names = tuple(name for name in strings if not name.endswith("."))
        said = text if text.startswith(names) else formatting.continued(text)
        return f"{', '.join(self.keys)}: {said}"


def problem(code: str, *keys: str, **parameters: Any) -> Problem:
    """A problem of the table; `keys`: in place of its own."""
    found = PROBLEMS.stated(code, **parameters)
    return Problem(code, found.template, found.parameters, keys or PROBLEMS[code][0])
