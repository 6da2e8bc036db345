"""The distribution of response times."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.charts.view_state import Look
from app.export.options import ReportOptions
from app.export.report import chosen
from tests.histograms import histogram_of
from tests.outcomes import Contestant
from tests.recording import record_session
from tests.reports import write_report
from tests.synthetic import session
from workbench.analysis.distribution import TABLE, Distribution, hgrm
from workbench.analysis.series import PointResult
from workbench.analysis.summary import summarise
from workbench.documents import PointStop
from workbench.errors import BadInput


def of(*times_us: int) -> Distribution:
    return Distribution(histogram_of(times_us))


THOUSAND = of(*range(1, 1001))


def test_the_table_has_the_percentiles_of_ab() -> None:
    rows = THOUSAND.table()
    assert [row.label for row in rows] == [
        *("p50", "p66", "p75", "p80", "p90", "p95", "p98", "p99", "max")
    ]
    assert [row.us for row in rows] == [500, 660, 750, 800, 900, 950, 980, 990, 1000]
    assert all(row.supported for row in rows)
    assert THOUSAND.mean_us == pytest.approx(500.5)


def test_percentiles_of_too_few_replies_are_marked() -> None:
    supported = {row.quantile for row in of(*range(1, 101)).table() if row.supported}
    assert supported == {0.5, 0.66, 0.75, 0.8, 0.9, 1.0}
    assert of(*range(1, 101)).sentence == "100 replies, enough up to p90."
    assert THOUSAND.sentence == "1,000 replies, enough up to p99."
    assert of(5).sentence == "1 reply: too few for any percentile."
    assert of().sentence == "No response times."


def test_the_curve_ends_at_the_longest_and_says_where_support_ends() -> None:
    curve = THOUSAND.curve()
    assert [curve[0].us, curve[-1].us] == [1, 1000]
    assert curve[-1].quantile == pytest.approx(0.999)
    assert max(row.quantile for row in curve if row.supported) == pytest.approx(0.99)
    at = {round(row.quantile, 9): row.us for row in curve}
    assert [at[q] for q in (0.5, 0.9, 0.99)] == [500, 900, 990]
    assert of().curve() == of().table() == []


@given(st.lists(st.integers(0, 5_000_000), min_size=1, max_size=300))
def test_the_curve_never_falls(times_us: list[int]) -> None:
    curve = of(*times_us).curve()
    assert all(a.us <= b.us and a.quantile < b.quantile for a, b in pairwise(curve))
    assert curve[-1].us == of(*times_us).at(1.0)


def test_passes_are_merged_by_their_histograms() -> None:
    stops = [d for d in session(1, 1, repeats=2) if isinstance(d, PointStop) and d.judged]
    both = Distribution.of(PointResult(9000.0, tuple(stops)), "latency")
    assert both.count == sum(stop.counts.succeeded for stop in stops)
    assert both.at(0.99) == PointResult(9000.0, tuple(stops)).times("latency").p99


def test_hgrm_is_written_as_other_tools_read_it() -> None:
    # Four values, as in HdrHistogram's own tests, here in microseconds.
    lines = hgrm(histogram_of([100, 200, 250, 600])).splitlines()
    assert lines == [
        "       Value     Percentile TotalCount 1/(1-Percentile)",
        "",
        "       0.100 0.000000000000          1           1.00",
        "       0.100 0.100000000000          1           1.11",
        "       0.100 0.200000000000          1           1.25",
        "       0.200 0.300000000000          2           1.43",
        "       0.200 0.400000000000          2           1.67",
        "       0.200 0.500000000000          2           2.00",
        "       0.250 0.550000000000          3           2.22",
        "       0.250 0.600000000000          3           2.50",
        "       0.250 0.650000000000          3           2.86",
        "       0.250 0.700000000000          3           3.33",
        "       0.250 0.750000000000          3           4.00",
        "       0.600 0.775000000000          4           4.44",
        "       0.600 1.000000000000          4",
        "#[Mean    =        0.287, StdDeviation   =        0.188]",
        "#[Max     =        0.600, Total count    =            4]",
        "#[Buckets =           20, SubBuckets     =         2048]",
    ]


@given(st.lists(st.integers(0, 5_000_000), max_size=300))
def test_hgrm_counts_every_reply(times_us: list[int]) -> None:
    text = hgrm(histogram_of(times_us))
    rows = [line.split() for line in text.splitlines()[2:] if not line.startswith("#")]
    assert not rows or int(rows[-1][2]) == len(times_us)
    assert [float(row[1]) for row in rows] == sorted({float(row[1]) for row in rows})
    assert all(math.isfinite(float(cell)) for row in rows for cell in row)


def test_the_table_can_have_other_percentiles() -> None:
    assert [row.label for row in THOUSAND.table((0.999, 0.9999))] == ["p99.9", "p99.99"]
    assert TABLE[-1] == 1.0


def test_a_point_is_chosen_by_server_and_value() -> None:
    documents = session(2, rates=[1000.0, 4000.0, 9000.0])
    stands = chosen(summarise(documents), "asyncio-streams", None)
    assert stands.x == 4000.0
    assert chosen(summarise(documents), "asyncio-protocol", 9000.0).x == 9000.0
    assert chosen(summarise(session(1, 2)), "", None).x == 4500.0


@pytest.mark.parametrize(
    ("server", "at", "sentence"),
    [
        ("", None, "Choose one server with --server: asyncio-streams and asyncio-protocol."),
        ("x", None, "has no points of 'x'; it has asyncio-streams and asyncio-protocol."),
        ("asyncio-streams", 3.0, "asyncio streams has no point at 3; it has 4,500 and 9,000."),
    ],
)
def test_invalid_choices_are_named(server: str, at: float | None, sentence: str) -> None:
    with pytest.raises(BadInput, match=re.escape(sentence)):
        chosen(summarise(session(2, 2)), server, at)


def test_the_chosen_point_is_written_for_tools_of_hdrhistogram(tmp_path: Path) -> None:
    recorded = record_session(tmp_path / "a.pong.yaml", session(2, 4))
    options = ReportOptions(server="asyncio-streams", look=Look(chosen=4500.0))
    write_report(recorded, tmp_path / "a.hgrm", options)
    lines = (tmp_path / "a.hgrm").read_text().splitlines()
    assert lines[0].split() == ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]
    assert lines[-2].split()[-1] == "9000]", "4,500/s for 2 s"


def test_a_point_without_replies_has_no_hgrm(tmp_path: Path) -> None:
    dead = Contestant("dead", "Dead", "", 0, 100, 1 << 20)
    recorded = record_session(tmp_path / "a.pong.yaml", session([dead], 2))
    with pytest.raises(BadInput, match="no response times at 4,500/s"):
        write_report(recorded, tmp_path / "a.hgrm", ReportOptions(look=Look(chosen=4500.0)))
