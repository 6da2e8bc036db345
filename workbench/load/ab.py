"""ab (ApacheBench): a closed loop of HTTP/1.0, with a new connection for each call or kept ones.

Times come from two files of ab: `-e` has the percentiles 0 to 100 in us, `-g` every call in whole
ms. Each call counts as the upper bound of what both say of it, so no percentile is too low. Its own
timeout ends it only if nothing at all arrives for so long, so calls that took longer are found
here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from workbench.load import program
from workbench.load.base import Capabilities, LoadReport, PointSpec

MOST_PER_S = 100_000
"""Calls a second for which `-t` makes room; ab reserves memory for each."""

PERCENTILES, CALLS = "percentiles.csv", "calls.tsv"


def invocation(spec: PointSpec, threads: int) -> program.Invocation:
    calls = spec.connections * spec.calls_per_connection
    argv = ["ab", "-q", "-r", "-s", str(max(1, math.ceil(spec.timeout_s))), "-c"]
    argv.append(str(spec.concurrency))
    if spec.seconds:
        # -t sets -n to 50,000, which would end the point.
        argv += ["-t", str(round(spec.seconds)), "-n", str(round(spec.seconds) * MOST_PER_S)]
    else:
        argv += ["-n", str(max(calls, spec.concurrency))]
    if spec.calls_per_connection > 1:
        argv.append("-k")
    if "body" not in spec.reply:
        argv.append("-l")  # Replies of different lengths may be right.
    files = {}
    headers = dict(spec.options.get("headers", []))
    method, body = spec.options.get("method", "GET"), spec.options.get("body", "")
    if body:
        files["body"] = body
        kind = next((v for n, v in headers.items() if n.lower() == "content-type"), "text/plain")
        argv += ["-u" if method == "PUT" else "-p", "body", "-T", kind]
    if method != ("PUT" if "-u" in argv else "POST" if body else "GET"):
        argv += ["-m", method]
    for name, value in headers.items():
        if name.lower() != "content-type" or not body:
            argv += ["-H", f"{name}: {value}"]
    argv += ["-e", PERCENTILES, "-g", CALLS, program.url(spec)]
    counted = {CALLS: program.Table(columns=["ttime"])}
    return program.Invocation(argv=argv, files=files, read=[PERCENTILES], counted=counted)


def parse(output: program.Output, spec: PointSpec) -> LoadReport:
    text = output.output

    def figure(label: str) -> int:
        # At the beginning of a line, or within the brackets of the failed ones.
        found = re.search(rf"(?:^|[(,] ?){re.escape(label)}:\s+(\d+)", text, re.M)
        return int(found[1]) if found else 0

    took = re.search(r"^Time taken for tests:\s+([\d.]+) seconds$", text, re.M)
    if not took or "Complete requests:" not in text or "Requests per second:" not in text:
        raise program.Unreadable(program.last_line(text))
    complete, bad_status = figure("Complete requests"), figure("Non-2xx responses")
    # A connection that breaks may count as both.
    broken = max(figure("Receive"), figure("Exceptions"))
    # The length is compared with that of the first reply, so a reply with a status, and one that
    # broke, may count twice.
    wrong_length = max(0, figure("Length") - bad_status - broken)
    of_complete = {
        "other-receive": broken,
        "protocol-body": wrong_length,
        "protocol-status": bad_status,
    }
    errors = {**of_complete, "other-connect": figure("Connect")}
    succeeded = max(0, complete - sum(of_complete.values()))
    whole = not sum(of_complete.values())  # Otherwise the times of failed calls are among them.
    times = _times(output, complete) if whole else {}
    in_time = {us: count for us, count in times.items() if us <= spec.timeout_s * 1e6}
    errors["client-timo"] = late = sum(times.values()) - sum(in_time.values())
    return program.result(succeeded - late, errors, float(took[1]), service=program.sparse(in_time))


def _times(output: program.Output, complete: int) -> dict[int, int]:
    percentiles = re.findall(r"^(\d+),([\d.]+)$", output.files.get(PERCENTILES, ""), re.M)
    anchors = {int(q): round(float(ms) * 1000) for q, ms in percentiles}
    counts = output.counted.get(CALLS, {})
    by_ms = {int(ms): count for ms, count in counts.items() if ms.isdigit()}
    if sum(by_ms.values()) != complete or len(by_ms) != len(counts) or not anchors:
        return {}
    if anchors.keys() != set(range(101)):
        raise program.Unreadable("its file of percentiles is incomplete")
    return refined(by_ms, [anchors[q] for q in range(101)])


def refined(by_ms: Mapping[int, int], percentiles: Sequence[int]) -> dict[int, int]:
    """Return counts by us, from counts by rounded ms and the percentiles 0 to 100 in us."""
    total = sum(by_ms.values())
    times: dict[int, int] = {}
    rank = 0
    for ms, count in sorted(by_ms.items()):
        highest, end = ms * 1000 + 499, rank + count
        while rank < end:
            # ab's percentile q is the call of this rank, counted from 0: round(q x total / 100).
            q = math.ceil((rank - 0.5) * 100 / total) if rank else 0
            q = min(100, max(0, q))
            last = min(end, max(rank + 1, math.floor(q * total / 100 + 0.5) + 1))
            us = min(highest, percentiles[q])
            times[us] = times.get(us, 0) + last - rank
            rank = last
    return times


TOOL = program.Program(
    name="ab",
    capabilities=Capabilities(
        reports=frozenset(["percentiles"]),
        traits=frozenset(["keeps"]),
        axes=("concurrency",),
        workloads=("http",),
        whole_seconds=True,
        # It counts a reply whose connection is then reset as failed, and ping-pong servers, which
        # read no request, reset all; it then also loses connections and may not end.
        protocols=("http/1.0",),
        lacks=("requests", "expect_status", "pipeline", "tls", "think_time_s"),
    ),
    invocation=invocation,
    parse=parse,
).tool()
