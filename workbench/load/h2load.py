"""h2load: a closed loop of streams on connections that are kept, in HTTP/2; `h2load-h1` is the same
program over HTTP/1.1, with a connection for each stream.

Its log has a line for each call that ended: when it began, the status (-1 where its stream failed)
and how long it took. All counts and times are of that log (docs/tools.md).
"""

from __future__ import annotations

import functools
import re
from collections import Counter

from workbench.load import program
from workbench.load.base import Capabilities, LoadReport, PointSpec, Trait
from workbench.remote.agent.tls import NAME

CALLS = "calls"
BODY = "body"
CALLS_TABLE = program.Table(columns=["status", "us"], heading="began\tstatus\tus")
FAILED, NO_STATUS = "-1", "0"
"""In place of the status; the second of replies as `HTTP/1.1 200`, which Hypercorn sends."""


def invocation(spec: PointSpec, threads: int, *, h1: bool = False) -> program.Invocation:
    options = spec.options
    streams = options.get("streams", 1)
    connections = spec.concurrency * streams if h1 else spec.concurrency
    argv = ["h2load", *["--h1"] * h1, f"-t{min(threads, connections)}", f"-c{connections}"]
    argv += [f"-m{1 if h1 else streams}", f"-D{round(1000 * spec.seconds)}ms"]
    argv += [f"--log-file={CALLS}", f"-H:method: {options.get('method', 'GET')}"]
    given = {"user-agent": "pongbench"} | {n.lower(): v for n, v in options.get("headers", [])}
    for name, value in given.items():
        argv.append(f"-H{':authority' if name == 'host' else name}: {value}")
    if options.get("body"):
        argv.append(f"-d{BODY}")
    where = program.url(spec)
    if options.get("protocol") == "http/2":
        # To the server's address, by the name in its certificate.
        place = where.removeprefix("http://").partition("/")[0]
        argv.append(f"--connect-to={place}")
        name = spec.tls.get("name", NAME)
        where = f"https://{name}:{spec.port}{options.get('path', '/')}"
    files = {BODY: options["body"]} if options.get("body") else {}
    return program.Invocation(argv=[*argv, where], files=files, counted={CALLS: CALLS_TABLE})


def parse(
    output: program.Output, spec: PointSpec, *, spoken: tuple[str, ...] = ("h2", "h2c")
) -> LoadReport:
    text = output.output
    found = re.search(r"^requests: (\d+) total, (\d+) started, (\d+) done, ", text, re.M)
    if output.status or not found:
        raise program.Unreadable(program.last_line(text))
    chosen = re.search(r"^Application protocol: (\S+)$", text, re.M)
    _, started, done = map(int, found.groups())
    if not chosen:
        raise program.Unreadable("it established no connection")
    if chosen[1] not in spoken:
        raise program.Unreadable(f"the server chose {chosen[1]}")
    wanted = str(spec.reply.get("status") or spec.reply.get("checks", {}).get("status") or "2")
    errors: Counter[str] = Counter()
    times: Counter[int] = Counter()
    for row, count in output.counted.get(CALLS, {}).items():
        status, _, us = row.partition("\t")
        if status == FAILED:
            errors["other-stream"] += count
        elif status == NO_STATUS:
            raise program.Unreadable("it reads no status of replies without a reason phrase")
        elif not re.fullmatch(r"\d{3}", status):
            raise program.Unreadable("its log is damaged")
        elif not status.startswith(wanted):
            errors[f"protocol-{status}"] += count
        elif float(us) > 1e6 * spec.timeout_s:
            errors["client-timo"] += count
        else:
            times[round(float(us))] += count
    errors["other-stream"] += max(0, done - errors.total() - times.total())
    # Those that it gives up when the time is over are no errors, unless there are no others.
    due = 0 if times or errors.total() else started
    service = program.sparse(times)
    return program.result(times.total(), errors, spec.seconds, due=due, service=service)


def _capabilities(*more: Trait) -> Capabilities:
    return Capabilities(
        reports=frozenset(["percentiles"]),
        traits=frozenset(["threads", "from-send", "keeps", *more]),
        axes=("concurrency",),
        workloads=("http2",),
        ends=("seconds",),
        lacks=("think_time_s",),
    )


TOOL = program.Program(
    name="h2load", capabilities=_capabilities(), invocation=invocation, parse=parse
).tool()
TOOL_H1 = program.Program(
    name="h2load-h1",
    program="h2load",
    capabilities=_capabilities("http/1.1"),
    invocation=functools.partial(invocation, h1=True),
    parse=functools.partial(parse, spoken=("http/1.1",)),
).tool()
