"""wrk2: an open loop over connections that are kept, with latency from the scheduled time.

https://github.com/giltene/wrk2 is in no distribution, so it is used where the user has installed
it as `wrk2`. Its connections start 5 ms apart, each with its share of the rate, and a connection
has one call in flight: calls that are due while all of them wait for the server are sent later, and
are in flight at the end if there is no time left. Its schedule is therefore known only from its
rate and duration. Beyond 10 s it forgets the times of the first 10 (its "calibration"). It ends
with the first reply after its duration, or, if none comes, at its next search for timeouts, which
is every 2 s.
"""

from __future__ import annotations

import re

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
from workbench.load.wrk import SCRIPT_NAME, SUMMARY, errors_of, script

CONNECTIONS = 20
"""Of each thread: as many calls may be in flight."""

STAGGER_S = 0.005
"""Between the starts of two connections of a thread."""


def invocation(spec: PointSpec, threads: int) -> Invocation:
    argv = ["wrk2", f"-t{threads}", f"-c{threads * CONNECTIONS}", f"-d{round(spec.seconds)}s"]
    argv += [f"-R{calls_per_s(spec)}", "-L", "-U", f"--timeout={max(1, round(spec.timeout_s))}s"]
    text = script(spec, times=False)
    return Invocation(argv=[*argv, "-s", SCRIPT_NAME, url(spec)], files={SCRIPT_NAME: text})


def parse(output: Output, spec: PointSpec) -> LoadReport:
    text = output.output
    found = re.search(SUMMARY, text, re.M)
    if output.status or not found:
        raise Unreadable(last_line(text))
    requests, duration_us, *lost = map(int, found.groups())
    errors = errors_of(*lost)
    # A late reply is counted once for every 2 s that it is late, and among the requests.
    late = errors.pop("client-timo", 0)
    succeeded = max(0, requests - errors.get("protocol-status", 0))
    seconds = min(duration_us / 1e6, spec.seconds)
    starting_s = STAGGER_S * (CONNECTIONS - 1) / 2
    due = int(calls_per_s(spec) * max(0.0, seconds - starting_s))
    corrected, uncorrected = (*histograms(text), [], [])[:2]
    known = not errors.get("protocol-status") and not late
    return LoadReport(
        counts=counts(succeeded, errors, due=due),
        histograms=Histograms(
            latency=corrected if known else [], service=uncorrected if known else []
        ),
        replies_in_schedule=succeeded,
        schedule_s=seconds,
    )


TOOL = Program(
    name="wrk2",
    capabilities=Capabilities(
        due_times=True,
        histograms=True,
        axes=("rate",),
        workloads=("http",),
        clients="many",
        needs=("wrk2",),
        whole_seconds=True,
        protocols=("http/1.1",),
        lacks=("requests", "pipeline", "tls", "think_time_s"),
        only={"arrivals": "uniform"},
        begins="send",
        resolution_us=1_000,
        replaces=False,
        threads=True,
    ),
    invocation=invocation,
    parse=parse,
).tool()
