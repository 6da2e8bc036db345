"""Servers that sustain the same rate are ranked by their cost."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from msgspec import structs

from workbench import metrics
from workbench.analysis.cost import CPU_PER_CALL, MARGIN, full_core
from workbench.analysis.summary import ServerSummary, Summary
from workbench.documents import Counts, Metric, PointStop, Verdict
from workbench.results import sustained


def server(
    name: str, *costs_us: float | None, verdict: Verdict = "ok", half_us: float | None = None
) -> ServerSummary:
    """A pass for each cost, all at 1,000 connections/s of two calls each."""
    made = ServerSummary(name.lower(), name)
    for number, cost_us in enumerate(costs_us, 1):
        counts = Counts(
            scheduled=2000, unsent=0, sent=2000, late=0, established=1000, succeeded=2000, errors={}
        )
        made.stops.append(
            PointStop(
                t_us=0, point=1, server=made.id, rate_per_s=1000.0, pass_number=number,
                complete=True, seconds=1.0, counts=counts, verdict=verdict, offered_per_s=1000.0,
                values={CPU_PER_CALL: cost_us, MARGIN: half_us},
            )
        )  # fmt: skip
    return made


def ranked(*servers: ServerSummary) -> list[ServerSummary]:
    return Summary(servers={each.id: each for each in servers}).ranked()


def test_among_equals_the_cheapest_comes_first() -> None:
    dear, unknown, cheap = server("Dear", 80.0), server("Unknown", None), server("Cheap", 40.0)
    assert [each.name for each in ranked(dear, unknown, cheap)] == ["Cheap", "Dear", "Unknown"]


@pytest.mark.parametrize(
    ("case", "servers", "reported"),
    [
        (
            "one pass, clearly apart",
            [server("A", 40.0), server("B", 60.0)],
            "At 1,000/s A costs the least CPU time, 40 µs per call; others up to 60 µs"
            " (one pass: differences below 5 % do not count).",
        ),
        (
            "one pass, too close",
            [server("A", 40.0), server("B", 41.5), server("C", 90.0)],
            "At 1,000/s A and B cost the least CPU time, 40 µs per call and cannot be"
            " distinguished; others up to 90 µs"
            " (one pass: differences below 5 % do not count).",
        ),
        (
            "several passes that differ",
            [server("A", 40.0, 40.2, 40.1), server("B", 43.0, 43.2, 43.4)],
            "At 1,000/s A costs the least CPU time, 40.1 ± 0.2 µs per call;"
            " others up to 43.2 ± 0.5 µs.",
        ),
        (
            "several passes that overlap do not",
            [server("A", 40.0, 42.0), server("B", 41.0, 43.0)],
            "At 1,000/s A and B cannot be distinguished by their CPU time per call,"
            " 41.0 ± 12.7 µs.",
        ),
        (
            "several passes that agree show that two are equal",
            [server("A", 40.0, 40.2, 40.1), server("B", 40.1, 40.2, 40.3)],
            "At 1,000/s A and B cost the same CPU time per call within 5 %, 40.1 ± 0.2 µs.",
        ),
        (
            "one pass whose windows differ is less certain",
            [server("A", 40.0, half_us=4.0), server("B", 44.0, half_us=1.0)],
            "At 1,000/s A and B cannot be distinguished by their CPU time per call, 40.0 ± 4.0 µs"
            " (one pass: differences below 5 % do not count).",
        ),
        (
            "one pass whose windows agree",
            [server("A", 40.0, half_us=0.5), server("B", 44.0, half_us=1.0)],
            "At 1,000/s A costs the least CPU time, 40.0 ± 0.5 µs per call;"
            " others up to 44.0 ± 1.0 µs (one pass: differences below 5 % do not count).",
        ),
        (
            "the dearest cannot be distinguished from the cheapest",
            [
                server("A", 40.0, half_us=4.0),
                server("B", 60.0, half_us=1.0),
                server("C", 61.0, half_us=60.0),
            ],
            "At 1,000/s A and C cost the least CPU time, 40.0 ± 4.0 µs per call and cannot be"
            " distinguished; others up to 60.0 ± 1.0 µs"
            " (one pass: differences below 5 % do not count).",
        ),
        ("no server to compare with", [server("A", 40.0), server("B", None)], ""),
        ("no server sustains it", [server("A", 4.0, verdict="server-limited")], ""),
    ],
)
def test_a_tie_is_reported_as_one(case: str, servers: list[ServerSummary], reported: str) -> None:
    assert sustained.tie(ranked(*servers)) == reported, case


def test_a_core_is_busy_where_its_time_is_spent() -> None:
    # Two calls a connection at 100 µs each: a second of CPU time pays for 5,000 connections.
    assert full_core(server("A", 100.0)) == 5000.0
    assert full_core(server("A", 100.0, verdict="inconclusive")) is None
    assert full_core(server("A", None)) is None
    # Calls of an overloaded server cost less, but it does not answer more of them in time.
    overloaded = server("A", 100.0)
    beyond = structs.replace(overloaded.stops[0], point=2, x=9000.0, offered_per_s=9000.0)
    cheaper = structs.replace(
        beyond, verdict="server-limited", values={CPU_PER_CALL: 40.0}, errors_pct=30.0
    )
    overloaded.stops.append(cheaper)
    assert full_core(overloaded) == 5000.0


def test_a_failing_metric_does_not_lose_the_point(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        record = Metric(key="broken", label="Broken")

        def of(self, measured: object) -> float | None:
            return 1 / 0

    class Endless(Broken):
        record = Metric(key="endless", label="Endless")

        def of(self, measured: object) -> float | None:
            return float("inf")

    monkeypatch.setattr(metrics, "METRICS", (Broken(), Endless()))
    nothing = SimpleNamespace(held=0, statuses=False)
    assert metrics.values(nothing) == {"broken": None, "endless": None, MARGIN: None}  # type: ignore[arg-type]
    assert "The metric broken failed" in caplog.text
