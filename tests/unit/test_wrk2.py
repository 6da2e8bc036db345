"""What is read of the output of wrk2. No registry has it, so none was recorded: texts have the
format of its documentation (README.md)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from workbench.analysis import histogram
from workbench.load import wrk2
from workbench.load.base import PointSpec
from workbench.load.merge import shared
from workbench.load.program import Output, Unreadable
from workbench.load.registry import load_tool, problems, remarks, spec_of
from workbench.load.wrk2 import histograms
from workbench.plan import checks as check
from workbench.plan.model import Plan
from workbench.plan.reading import load_plan
from workbench.plan.schedule import points
from workbench.workloads.registry import workload

HEADING = "       Value   Percentile   TotalCount 1/(1-Percentile)\n\n"


def spectrum(*rows: tuple[float, float, int]) -> str:
    """A percentile distribution of (ms, share, calls up to there)."""
    lines = []
    for ms, share, count in rows:
        inverse = "inf" if share == 1 else f"{1 / (1 - share):12.2f}"
        lines.append(f"{ms:12.3f} {share:12.6f} {count:12d} {inverse}")
    return (
        HEADING
        + "\n".join(lines)
        + "\n#[Mean    =        6.602, StdDeviation   =        1.919]\n"
        + f"#[Max     =       12.496, Total count    = {rows[-1][2]:12d}]\n"
        + "#[Buckets =           27, SubBuckets     =         2048]\n"
    )


CORRECTED = spectrum((0.921, 0, 1), (6.671, 0.5, 1_000), (11.183, 0.99, 1_980), (12.503, 1, 2_000))
UNCORRECTED = spectrum((0.5, 0, 1), (2.001, 0.5, 1_000), (3.003, 0.99, 1_980), (4.5, 1, 2_000))


def a_spec(**more: Any) -> PointSpec:
    fields: dict[str, Any] = {
        "host": "127.0.0.1",
        "port": 8080,
        "workload": "http",
        "rate_per_s": 1_000.0,
        "connections": 2_000,
        "seconds": 2.0,
    }
    return PointSpec(**fields | more)


def of_wrk2(summary: str = "2000 2000000 0 0 0 0 0", text: str = CORRECTED + UNCORRECTED) -> Output:
    head = "Running 2s test @ http://127.0.0.1:8080/\n  1 threads and 20 connections\n"
    tail = "  2000 requests in 2.00s, 1.00MB read\nRequests/sec:   1000.00\n"
    return Output(status=0, output=f"{head}{text}{tail}pongbench {summary}\n")


def test_percentiles_are_read_from_the_spectrum() -> None:
    (found,) = histograms(CORRECTED)
    times = histogram.percentiles(found)
    assert times is not None and times.count == 2_000
    assert times.p50 == pytest.approx(6_671, rel=0.001)
    assert times.p99 == pytest.approx(11_183, rel=0.001)
    assert times.max == pytest.approx(12_503, rel=0.001)


def test_a_spectrum_that_is_cut_or_inconsistent_is_unknown() -> None:
    for end in range(len(HEADING), CORRECTED.index("#[Max"), 13):
        assert list(histograms(CORRECTED[:end])) == [[]]
    assert list(histograms(CORRECTED.replace("1980", "3980"))) == [[]]
    assert list(histograms("nothing")) == []


def test_wrk2_measures_from_the_scheduled_time_and_from_the_send() -> None:
    report = wrk2.parse(of_wrk2(), a_spec())
    counts = report.counts
    assert (counts.succeeded, counts.errors, counts.in_flight, counts.late) == (2_000, {}, 0, None)
    latency = histogram.percentiles(report.histograms.latency)
    service = histogram.percentiles(report.histograms.service)
    assert latency and service and latency.p50 > 3 * service.p50
    assert report.schedule_s == 2


def test_calls_that_wrk2_had_no_time_for_are_in_flight() -> None:
    """1,000/s over 2 s, less the start of its 20 connections, 5 ms apart."""
    counts = wrk2.parse(of_wrk2("900 2000000 0 0 0 0 3"), a_spec()).counts
    assert counts.scheduled == 900 + counts.in_flight == 1_952
    assert wrk2.parse(of_wrk2("900 2000000 0 0 0 0 3"), a_spec()).histograms.latency == []
    # Where nothing answers at the end, it ends up to 2 s later, with nothing more in its schedule.
    late = wrk2.parse(of_wrk2("900 3900000 0 0 0 0 3"), a_spec())
    assert late.schedule_s == 2 and late.counts.scheduled == 1_952
    lost = wrk2.parse(of_wrk2("1900 2000000 2 40 1 30 0"), a_spec()).counts
    assert lost.errors == {
        "other-connect": 2,
        "other-read": 40,
        "other-write": 1,
        "protocol-status": 30,
    }
    assert lost.scheduled == lost.succeeded + sum(lost.errors.values()) + lost.in_flight


def test_of_a_truncated_output_of_wrk2_nothing_is_invented() -> None:
    whole = of_wrk2().output
    for end in range(0, len(whole) - 4, 37):
        with pytest.raises(Unreadable):
            wrk2.parse(Output(status=0, output=whole[:end]), a_spec())
    refused = Output(status=1, output="unable to connect to h:1 Connection refused\n")
    with pytest.raises(Unreadable, match="unable to connect"):
        wrk2.parse(refused, a_spec())


def test_its_command_is_the_point() -> None:
    def command(**more: Any) -> str:
        found = load_tool("wrk2").command
        assert found is not None
        return found(a_spec(**more), 2)

    assert command() == (
        "wrk2 -t2 -c40 -d2s -R1000 -L -U --timeout=5s -s point.lua http://127.0.0.1:8080/"
    )
    assert " -R5000 " in command(calls_per_connection=5)


def test_the_plans_number_of_connections_reaches_it() -> None:
    """As round 2 of 2015 asks for it; wrk2 drops connections that its threads cannot share."""
    plan = load_plan("gasc-2015-constant-json")
    (point,) = points(plan, "flask")
    spec = spec_of(plan, point, {"path": "/index"}, host="h", port=80)
    assert wrk2.invocation(spec, 12).argv[:5] == ["wrk2", "-t10", "-c400", "-d300s", "-R4000"]
    assert [each.concurrency for each in shared(spec, 3)] == [134, 133, 133]
    few = replace(spec, concurrency=1)
    assert [each.concurrency for each in shared(few, 2)] == [1, 1]  # 0 would be its own number
    assert "tool-connects-as-due" in [each.code for each in remarks(plan)]
    with_wrk2 = msgspec.structs.replace(plan, load_tool="wrk2")
    assert "tool-connects-as-due" not in [each.code for each in remarks(with_wrk2)]
    assert next(check.problems(msgspec.structs.replace(plan, concurrency=[4, 8])), None)
    late = of_wrk2("900 2000000 0 0 0 0 0").output.replace("1 threads and 20", "10 threads and 400")
    counts = wrk2.parse(Output(status=0, output=late), a_spec(concurrency=400)).counts
    assert counts.scheduled == 1_902  # Less the start of 40 on each thread, 5 ms apart.


def test_a_script_for_wrk2_prints_no_times() -> None:
    script = wrk2.invocation(a_spec(), 1).files["point.lua"]
    assert "if false and #latency" in script and "summary.requests" in script


def test_what_it_cannot_offer_is_said_before_the_run() -> None:
    asked = workload(protocol="http/1.1")
    plan = Plan(servers=["x"], workload=asked, rates=[100.0], seconds=2.0, load_tool="wrk2")
    assert not list(problems(load_tool("wrk2"), plan))
    asked = workload(protocol="http/1.1", arrivals="poisson")
    poisson = msgspec.structs.replace(plan, workload=asked)
    (found,) = problems(load_tool("wrk2"), poisson)
    assert "constant rate only" in found.text()
