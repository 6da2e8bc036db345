"""zrk: an open or closed loop over connections that are kept, with latency from the scheduled time.

https://github.com/zoxy-io/zrk is in no distribution, so it is used where the user has it. It writes
its result as JSON and its times as HdrHistogram prints them (its docs/output.md). A connection has
one call in flight, so calls that are due while all wait are in flight at the end.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from workbench.documents import Histograms
from workbench.load.base import Capabilities, LoadReport, PointSpec
from workbench.load.hgrm import histograms
from workbench.load.output import (
    Invocation,
    Output,
    Unreadable,
    calls_per_s,
    counts,
    last_line,
    url,
)
from workbench.load.program import Program
from workbench.shapes import Whole

CONNECTIONS = 50
"""Of each thread in an open loop: as many calls may be in flight."""

RESULT, TIMES = "result.json", "times.hgrm"


class _Errors(msgspec.Struct):
    connect: Whole = 0
    read: Whole = 0
    write: Whole = 0
    timeout: Whole = 0


class _Result(msgspec.Struct):
    duration_s: Annotated[float, Meta(ge=0, le=1e7)]
    status_codes: dict[str, Whole]
    """By "1xx" to "5xx"."""
    errors: _Errors


def invocation(spec: PointSpec, threads: int) -> Invocation:
    closed = spec.mode == "closed"
    connections = spec.concurrency if closed else threads * CONNECTIONS
    argv = ["zrk", f"-t{min(threads, connections)}", f"-c{connections}", f"-d{spec.seconds:g}s"]
    argv.append("--closed" if closed else f"-R{calls_per_s(spec)}")
    if spec.calls_per_connection == 1:
        argv.append("--disable-keepalive")
    argv += ["--timeout", f"{round(spec.timeout_s * 1000)}ms", "--no-record-timeouts", "--plain"]
    options = spec.options
    argv += ["-m", options.get("method", "GET")]
    files = {}
    if body := options.get("body"):
        files["body"] = body
        argv += ["-b", "@body"]
    for name, value in options.get("headers", []):
        argv += ["-H", f"{name}: {value}"]
    argv += ["--format", "json", "-o", RESULT, "--hdr", TIMES, url(spec)]
    return Invocation(argv=argv, files=files, read=[RESULT, TIMES])


def parse(output: Output, spec: PointSpec) -> LoadReport:
    try:
        found = msgspec.json.decode(output.files.get(RESULT, ""), type=_Result)
    except msgspec.DecodeError:
        raise Unreadable(last_line(output.output)) from None
    succeeded = found.status_codes.get("2xx", 0)
    lost = {
        "client-timo": found.errors.timeout,
        "other-connect": found.errors.connect,
        "other-read": found.errors.read,
        "other-write": found.errors.write,
        **{f"protocol-{n}": c for n, c in sorted(found.status_codes.items()) if n != "2xx"},
    }
    errors = {name: count for name, count in lost.items() if count}
    closed = spec.mode == "closed"
    due = 0 if closed else int(calls_per_s(spec) * min(found.duration_s, spec.seconds))
    (times,) = (*histograms(output.files.get(TIMES, "")), [])[:1]
    if errors.keys() - {"client-timo"}:
        times = []  # Those of failed calls are among them.
    return LoadReport(
        counts=counts(succeeded, errors, due=due),
        histograms=Histograms(service=times) if closed else Histograms(latency=times),
        replies_in_schedule=succeeded,
        schedule_s=found.duration_s,
    )


TOOL = Program(
    name="zrk",
    capabilities=Capabilities(
        due_times=True,
        histograms=True,
        axes=("rate", "concurrency"),
        workloads=("http",),
        clients="many",
        common_start=True,
        stoppable=True,
        needs=("zrk",),
        ends=("seconds",),
        protocols=("http/1.1",),
        lacks=("requests", "pipeline", "tls", "think_time_s"),
        only={"arrivals": "uniform"},
        begins="send",
        replaces=False,
        threads=True,
    ),
    invocation=invocation,
    parse=parse,
).tool()
