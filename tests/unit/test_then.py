"""Then and now: the figures of a source beside those of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.synthetic import CONTESTANTS, session
from workbench.analysis.summary import summarise
from workbench.plan import library
from workbench.plan.reading import to_data
from workbench.report.then import ThenAndNow, then_and_now


def compared(source: str, server: str, *, passes: int = 1, **changes: Any) -> ThenAndNow | None:
    """A run of a source's preset, of one server that fails some of its calls, with changes of the
    plan or its workload."""
    (preset,) = (each for each in library.presets() if each.id == source)
    assert preset.plan
    data = to_data(preset.plan)
    for key, value in changes.items():
        data["workload" if key in data["workload"] else key] = (
            data["workload"] | {key: value} if key in data["workload"] else value
        )
    slow = replace(CONTESTANTS[0], id=server, name=server, capacity_per_s=1_000.0)
    return then_and_now(data, summarise(session([slow], rates=[4_000.0], repeats=passes)).servers)


def test_then_and_now_print_the_same_kinds_of_figures() -> None:
    found = compared("gasc-2015-calibration-json", "flask", passes=2)
    assert found
    (row,) = found.measured
    requests, mean, errors = row.then.split(", ")
    assert (requests, mean, errors) == ("79,598 in the run", "mean 13.16 s", "4,433 errors")
    there = row.now.split(", ")
    assert there[0].endswith(" in the run")
    assert there[1].startswith("mean ")
    assert there[2].endswith(" errors")
    # 4,000/s for 2 s, of which each pass is a run.
    made = [int(part.split()[0].replace(",", "")) for part in (there[0], there[2])]
    assert sum(made) == 8_000
    assert min(made) > 0


def test_where_the_source_states_a_mean_alone_so_does_the_run() -> None:
    found = compared("gasc-2015-slow-db", "flask")
    assert found
    (row,) = found.measured
    assert row.then == "mean 18.74 ms"
    assert row.now.startswith("mean ")
