"""Reads percentile distributions as HdrHistogram prints them (`.hgrm`), which wrk2 does."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.documents import SparseHistogram
from workbench.load.output import sparse

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
            yield sparse({us: n for us, n in times.items() if n}) if whole else []
            times = None
    if times is not None:
        yield []
