"""wrk: a closed loop over connections that are kept.

wrk reports its percentiles after a correction for coordinated omission: for every time above twice
the mean interval between a connection's calls, it adds those that calls in between would have had
(`stats_correct` in its src/stats.c). The correction is exact arithmetic on its histogram, which a
script of ours prints, so `uncorrected` returns what was measured.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from workbench.documents import Errors, SparseHistogram
from workbench.load import program
from workbench.load.base import Capabilities, LoadReport, PointSpec

MOST_VALUES = 40_000
"""Distinct times of the histogram, beyond which wrk would take seconds to print it."""

SCRIPT_NAME = "point.lua"
SCRIPT = """\
wrk.method = %(method)s
wrk.body = %(body)s
%(headers)s
function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format("pongbench %%d %%d %%d %%d %%d %%d %%d\\n", summary.requests,
    summary.duration, errors.connect, errors.read, errors.write, errors.status, errors.timeout))
  if %(times)s and #latency <= %(most)d then
    for i = 1, #latency do
      local us, count = latency(i)
      io.write(string.format("%%d %%d\\n", us, count))
    end
    io.write("pongbench end\\n")
  end
end
"""


def invocation(spec: PointSpec, threads: int) -> program.Invocation:
    threads = threads_for(spec.concurrency, threads)
    argv = ["wrk", f"-t{threads}", f"-c{spec.concurrency}", f"-d{max(1, round(spec.seconds))}s"]
    argv += [f"--timeout={spec.timeout_s:.0f}s", "-s", SCRIPT_NAME]
    return program.Invocation(argv=[*argv, program.url(spec)], files={SCRIPT_NAME: script(spec)})


def threads_for(connections: int, most: int) -> int:
    """Each thread has the same number of connections, and wrk drops the rest."""
    return max(n for n in range(1, most + 1) if connections % n == 0)


SUMMARY = r"^pongbench (\d+) (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)\n"
"""The line of the result: requests, duration in us, and errors; see `errors_of`."""


def script(spec: PointSpec, *, times: bool = True) -> str:
    """The point's script in Lua. `times`: whether it prints the histogram."""
    headers = [("User-Agent", "pongbench"), *spec.options.get("headers", [])]
    if spec.calls_per_connection == 1:
        headers.append(("Connection", "close"))
    return SCRIPT % {
        "method": quoted(spec.options.get("method", "GET")),
        "body": quoted(spec.options.get("body", "")) if spec.options.get("body") else "nil",
        "headers": "\n".join(f"wrk.headers[{quoted(n)}] = {quoted(v)}" for n, v in headers),
        "most": MOST_VALUES,
        "times": "true" if times else "false",
    }


def quoted(text: str) -> str:
    """Return a string of Lua with every byte but letters and digits escaped."""
    escaped = "".join(
        chr(byte) if chr(byte).isalnum() and byte < 128 else f"\\{byte:03d}"
        for byte in text.encode()
    )
    return f'"{escaped}"'


def parse(output: program.Output, spec: PointSpec) -> LoadReport:
    text = output.output
    found = re.search(SUMMARY, text, re.M)
    if output.status or not found:
        raise program.Unreadable(program.last_line(text))
    requests, duration_us, connect, read, *lost = map(int, found.groups())
    if spec.calls_per_connection == 1:
        # The ends of connections are no calls. A server that does not announce that it closes after
        # a reply, as it was asked to, does so when wrk has already sent the next request, and then
        # after every reply.
        read -= min(read, requests) if read >= requests - spec.concurrency else 0
    errors = errors_of(connect, read, *lost)
    status, timeout = errors["protocol-status"], errors["client-timo"]
    # Replies with a status and those that came too late are among the requests.
    succeeded = max(0, requests - status - timeout)
    times: SparseHistogram = []
    # The times of replies with another status are among the others.
    if text.rstrip().endswith("pongbench end") and not status:
        pairs = re.findall(r"^(\d+) (\d+)$", text[found.end() :], re.M)
        corrected = {int(us): int(count) for us, count in pairs}
        if max(corrected, default=0) > spec.timeout_s * 1e6:
            raise program.Unreadable("its times are longer than its timeout")
        interval_us = duration_us // max(1, requests // max(1, spec.concurrency))
        measured = uncorrected(corrected, interval_us if requests >= spec.concurrency else 0)
        if sum(measured.values()) == requests - timeout:
            times = program.sparse(measured)
    return program.result(succeeded, errors, duration_us / 1e6, service=times)


def errors_of(connect: int, read: int, write: int, status: int, timeout: int) -> Errors:
    """Return the errors of wrk's summary by our names, in the order of `SUMMARY`."""
    return {
        "client-timo": timeout,
        "other-connect": connect,
        "other-read": read,
        "other-write": write,
        "protocol-status": status,
    }


def uncorrected(times: Mapping[int, int], interval_us: int) -> dict[int, int]:
    """Undo wrk's correction. `times`: counts by us, `interval_us`: between a connection's calls;
    0: wrk corrected nothing.

    wrk goes through the times from twice the interval upwards and adds each one's count at that
    time less one interval, less two, and so on, while above the interval. From the highest time
    down, each count is therefore known once what was added for those above it is subtracted.
    Empty where that is more than there is: then it is no histogram of wrk's.
    """
    if not interval_us:
        return dict(times)
    left, added = dict(times), sum(times.values())
    for us in sorted(times, reverse=True):
        count = left[us]
        if us < 2 * interval_us or not count:
            continue
        steps = range(us - interval_us, interval_us, -interval_us)
        added -= count * len(steps)
        if count < 0 or added < 0:
            return {}
        for below in steps:
            left[below] = left.get(below, 0) - count
    return {us: count for us, count in left.items() if count}


TOOL = program.Program(
    name="wrk",
    capabilities=Capabilities(
        reports=frozenset(["percentiles"]),
        traits=frozenset(["threads", "from-send", "keeps"]),
        axes=("concurrency",),
        workloads=("http",),
        ends=("seconds",),
        whole_seconds=True,
        protocols=("http/1.1",),
        lacks=("requests", "expect_status", "pipeline", "tls", "think_time_s"),
    ),
    invocation=invocation,
    parse=parse,
).tool()
