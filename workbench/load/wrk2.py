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
from collections.abc import Iterator

from workbench.documents import SparseHistogram
from workbench.load import program
from workbench.load.base import Capabilities, LoadReport, PointSpec
from workbench.load.wrk import SCRIPT_NAME, SUMMARY, errors_of, script, threads_for

_HEADING = re.compile(r"^ *Value +Percentile +TotalCount +1/\(1-Percentile\)$")
_ROW = re.compile(r"^ *(\d+(?:\.\d+)?) +([01]\.\d+) +(\d+)(?: +(?:\d+(?:\.\d+)?|inf))? *$")
_TOTAL = re.compile(r"^#\[Max +=.*Total count += +(\d+)\]$")


def histograms(text: str) -> Iterator[SparseHistogram]:
    """Return the distributions of an output, in its order; empty: cut, or inconsistent.

    A row counts the calls that took its time in ms or less, so each of them counts as the upper end
    of its row: the printed percentiles are exact, those in between at most one row too high.
    """
    times: dict[int, int] | None = None
    before = last = 0
    for line in text.splitlines():
        if _HEADING.match(line):
            if times is not None:
                yield []
            times, before, last = {}, 0, 0
        elif times is None:
            continue
        elif row := _ROW.match(line):
            us, count = round(float(row[1]) * 1000), int(row[3])
            if us < last or count < before:
                times = {}
            times[us] = times.get(us, 0) + count - before
            before, last = count, us
        elif total := _TOTAL.match(line):
            whole = times and before == sum(times.values()) == int(total[1])
            yield program.sparse({us: n for us, n in times.items() if n}) if whole else []
            times = None
    if times is not None:
        yield []


CONNECTIONS = 20
"""Of each thread, where the plan has no number: as many calls may be in flight."""

STAGGER_S = 0.005
"""Between the starts of two connections of a thread."""


def invocation(spec: PointSpec, threads: int) -> program.Invocation:
    connections = spec.concurrency or threads * CONNECTIONS
    argv = ["wrk2", f"-t{threads_for(connections, threads)}", f"-c{connections}"]
    argv += [f"-d{max(1, round(spec.seconds))}s", f"-R{program.calls_per_s(spec)}", "-L", "-U"]
    argv.append(f"--timeout={max(1, round(spec.timeout_s))}s")
    argv += ["-s", SCRIPT_NAME, program.url(spec)]
    return program.Invocation(argv=argv, files={SCRIPT_NAME: script(spec, times=False)})


def parse(output: program.Output, spec: PointSpec) -> LoadReport:
    text = output.output
    found = re.search(SUMMARY, text, re.M)
    if output.status or not found:
        raise program.Unreadable(program.last_line(text))
    requests, duration_us, *lost = map(int, found.groups())
    errors = errors_of(*lost)
    # A late reply is counted once for every 2 s that it is late, and among the requests.
    late = errors.pop("client-timo")
    succeeded = max(0, requests - errors["protocol-status"])
    seconds = min(duration_us / 1e6, spec.seconds)
    running = re.search(r"^ +(\d+) threads and (\d+) connections$", text, re.M)
    of_each = int(running[2]) // int(running[1]) if running else CONNECTIONS
    starting_s = STAGGER_S * (of_each - 1) / 2
    due = int(program.calls_per_s(spec) * max(0.0, seconds - starting_s))
    corrected, uncorrected = (*histograms(text), [], [])[:2]
    if errors["protocol-status"] or late:
        corrected = uncorrected = []
    return program.result(
        succeeded, errors, seconds, due=due, latency=corrected, service=uncorrected
    )


TOOL = program.Program(
    name="wrk2",
    capabilities=Capabilities(
        reports=frozenset(["latency", "percentiles"]),
        traits=frozenset(["threads", "from-send", "keeps", "fixed"]),
        axes=("rate",),
        workloads=("http",),
        whole_seconds=True,
        protocols=("http/1.1",),
        lacks=("requests", "expect_status", "pipeline", "tls", "think_time_s"),
        only={"arrivals": "uniform"},
        resolution_us=1_000,
    ),
    invocation=invocation,
    parse=parse,
).tool()
