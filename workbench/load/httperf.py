"""httperf: an open loop with connections at a constant rate or at random, as in 2009.

Several of them work in autobench's manner: each has its share of the rate, as client i of n. Counts
and rates add up, and so do the connection times, because `-v -v` prints their histogram, with a
resolution of 1 ms. Averages do not, and are not used. A connection's time is a call's where it has
one call; of several calls httperf prints an average only, so their percentiles are unknown.
"""

from __future__ import annotations

import re
from collections import Counter

from workbench.documents import SparseHistogram
from workbench.load import program
from workbench.load.base import Capabilities, LoadReport, PointSpec

MOST_OPEN = 1_000
"""Connections that one httperf may have open: it uses select(), so 1,024 descriptors at most."""

GRACE_S = 5.0
"""It ends by itself in time, or hardly ever."""

BIN_US = 1_000
"""Width of a bin of its histogram of connection times, which prints the middle of each."""

_NEVER_CONNECTED = ("fd-unavail", "addrunavail", "ftab-full", "connrefused", "socket-timo")
"""Errors that end a connection before its first call."""
_NEVER_ISSUED = _NEVER_CONNECTED[:3]
"""Of these, not counted among its connections."""


def invocation(spec: PointSpec, threads: int) -> program.Invocation:
    options = spec.options
    # Without --hog, with which it binds each port itself: while many are in TIME_WAIT it may try
    # them for ever. The kernel chooses among its ephemeral ports, which the plan counts.
    argv = ["httperf", "-v", "-v", f"--timeout={spec.timeout_s:g}"]
    # The number of a client is the seed of its random arrivals, and nothing else.
    argv += [f"--client={spec.seed % 65_536}/65536", f"--server={spec.host}", f"--port={spec.port}"]
    argv += [f"--uri={options.get('path', '/')}", f"--method={options.get('method', 'GET')}"]
    if options.get("protocol") != "http/1.1":
        argv.append("--http-version=1.0")
    headers = options.get("headers", [])
    if any(name.lower() == "host" for name, _ in headers):
        argv.append("--no-host-hdr")
    for name, value in headers:
        escaped = f"{name}: {value}".replace("\\", "\\\\")
        argv.append(f"--add-header={escaped}\\n")
    if spec.arrivals == "poisson":
        argv.append(f"--period=e{1 / spec.rate_per_s:.9g}")
    else:
        argv.append(f"--rate={spec.rate_per_s:.9g}")
    calls = spec.calls_per_connection
    if spec.think_time_s and calls > 1:
        argv.append(f"--wsess={spec.connections},{calls},{spec.think_time_s:g}")
    else:
        argv += [f"--num-conns={spec.connections}", f"--num-calls={calls}"]
    return program.Invocation(argv=argv)


def parse(output: program.Output, spec: PointSpec) -> LoadReport:
    text = output.output
    total = re.search(
        r"^Total: connections (\d+) requests (\d+) replies (\d+) test-duration (\d+\.\d+) s$",
        text,
        re.M,
    )
    status = re.search(
        r"^Reply status: 1xx=\d+ 2xx=(\d+) 3xx=(\d+) 4xx=(\d+) 5xx=(\d+)$", text, re.M
    )
    lines = re.findall(r"^Errors: (?:total \d+ )?(.+)$", text, re.M)
    events = {n: int(c) for line in lines for n, c in re.findall(r"([\w-]+) (\d+)", line)}
    # The errors are the last that it prints; without them the output is cut.
    if not total or not status or not {"client-timo", "other"} <= events.keys():
        raise program.Unreadable(program.last_line(text))
    connections, requests, replies = (int(total[n]) for n in (1, 2, 3))
    succeeded = int(status[1])
    refused = {f"protocol-{n}xx": int(status[n - 1]) for n in (3, 4, 5)}
    scheduled = spec.connections * spec.calls_per_connection
    issued = connections + sum(events[name] for name in _NEVER_ISSUED)
    errors, in_flight = program.lost_calls(
        events,
        scheduled - succeeded - sum(refused.values()),
        spec.calls_per_connection,
        whole=_NEVER_CONNECTED,
        interrupted=issued < spec.connections and replies + sum(events.values()) < scheduled,
    )
    schedule_s = spec.connections / spec.rate_per_s
    stay_s = (spec.calls_per_connection - 1) * spec.think_time_s
    took_s = float(total[4]) - stay_s
    longest = re.search(r"^Connection time \[ms\]: min [\d.]+ avg [\d.]+ max ([\d.]+)", text, re.M)
    if in_flight and longest:  # It was interrupted, perhaps long after the last reply.
        took_s = min(took_s, schedule_s + float(longest[1]) / 1000 - stay_s)
    return program.result(
        succeeded,
        errors | refused,
        schedule_s,
        due=scheduled,
        sent=requests,
        # Its rate is of the whole test, which lasts until the last reply or timeout, less the time
        # that the last connection takes because of think times.
        replies=round(succeeded * schedule_s / max(schedule_s, took_s)),
        service=_times(text, spec, succeeded),
    )


def _times(text: str, spec: PointSpec, succeeded: int) -> SparseHistogram:
    """The service times; empty: unknown, as with several calls, or failed ones among them."""
    table = re.search(r"^Connection lifetime histogram .*\n((?: +(?:[\d.]+ \d+|:)\n)*)", text, re.M)
    ends = re.search(r"^Connection time \[ms\]: min ([\d.]+) avg [\d.]+ max ([\d.]+)", text, re.M)
    if not table or not ends or spec.calls_per_connection > 1:
        return []
    least, most = (round(float(end) * 1000) for end in ends.groups())
    times: Counter[int] = Counter()
    for middle_ms, count in re.findall(r"([\d.]+) (\d+)", table[1]):
        middle_us = round(float(middle_ms) * 1000)
        times[min(max(middle_us, least), most)] += int(count)
    return program.sparse(times) if times.total() == succeeded else []


TOOL = program.Program(
    name="httperf",
    capabilities=Capabilities(
        reports=frozenset(["percentiles"]),
        traits=frozenset(["polls", "of-connections", "to-the-end"]),
        axes=("rate",),
        workloads=("pong", "http"),
        most_open=MOST_OPEN,
        lacks=("requests", "body", "expect_status", "pipeline", "tls"),
        only={"think_times": "constant"},
        resolution_us=BIN_US,
    ),
    invocation=invocation,
    parse=parse,
    grace_s=GRACE_S,
).tool()
