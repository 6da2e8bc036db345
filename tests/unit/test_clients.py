"""Several clients side by side: which of them is the limit, and how well they start together."""

import io

import msgspec
from synthetic import session

from workbench.analysis.clients import all_clients
from workbench.analysis.summary import summarise
from workbench.commands.summary import print_summary
from workbench.documents import AnyDocument, ClientPart, Percentiles, PointStop
from workbench.report.facts import facts
from workbench.terminal import Terminal


def shared(*, slow_from: float = 1e9) -> list[AnyDocument]:
    """A session of two clients; `c2` is late with most from that rate on."""
    return [
        part(document, slow_from) if isinstance(document, PointStop) else document
        for document in session(1, 4)
    ]


def part(point: PointStop, slow_from: float) -> PointStop:
    half = point.counts.scheduled // 2
    late = half // 2 if point.offered_per_s >= slow_from else 0
    parts = [
        ClientPart(machine="c1", scheduled=point.counts.scheduled - half, sent=half),
        ClientPart(
            machine="c2",
            scheduled=half,
            sent=half,
            late=late,
            cpu_pct=97.0 if late else 20.0,
            lateness_us=lateness(half, 7_000 if late else 900),
            clock_uncertainty_us=80,
        ),
    ]
    fields = {name: getattr(point, name) for name in point.__struct_fields__}
    return PointStop(**fields | {"clients": parts, "start_skew_us": 400})


def lateness(count: int, p99: int) -> Percentiles:
    return Percentiles(count=count, p50=90, p90=200, p99=p99, p999=p99, max=p99)


def points(documents: list[AnyDocument]) -> list[PointStop]:
    return [document for document in documents if isinstance(document, PointStop)]


def test_the_client_that_falls_behind_first_is_identified_by_its_own_limit() -> None:
    rates = sorted(p.offered_per_s for p in points(shared()) if p.purpose == "ceiling")
    first, second = all_clients(points(shared(slow_from=rates[-1]))).clients
    assert (first.machine, second.machine) == ("c1", "c2")
    assert first.ceiling_is_floor and not second.ceiling_is_floor
    assert first.ceiling_per_s is not None
    if len(rates) > 1:
        assert second.ceiling_per_s is not None and second.ceiling_per_s < first.ceiling_per_s
    else:
        assert second.ceiling_per_s is None
    assert (second.cpu_pct, second.lateness_p99_us) == (97.0, 7_000)


def test_a_summary_puts_several_clients_side_by_side() -> None:
    output = io.StringIO()
    print_summary(summarise(shared()), Terminal(file=output, width=140))
    printed = output.getvalue()
    assert "Own ceiling" in printed and "≥ " in printed
    assert "Clients started within 0.40 ms of each other (median of" in printed
    assert "clock uncertainty 0.08 ms)." in printed


def test_one_client_is_not_compared_with_itself() -> None:
    output = io.StringIO()
    print_summary(summarise(session(1, 4)), Terminal(file=output, width=140))
    assert "Own ceiling" not in output.getvalue()
    assert not facts(session(1, 4)).clients


def test_a_report_has_them_too() -> None:
    report = facts(shared())
    assert [row[0] for row in report.clients[0].rows] == ["c1", "c2"]
    assert any("Clients started within" in sentence for sentence in report.conditions)


def test_the_response_times_of_each_client_stand_beside_one_another() -> None:
    own = {"c1": lateness(5_000, 2_000), "c2": lateness(50, 9_000)}

    def timed(point: PointStop) -> PointStop:
        fields = {name: getattr(point, name) for name in point.__struct_fields__}
        parts = [
            msgspec.structs.replace(
                each,
                latency_us=own[each.machine],
                # Those recorded earlier have none.
                latency_mean_us=250.0 if each.machine == "c1" else None,
            )
            for each in point.clients
        ]
        return PointStop(**fields | {"clients": parts})

    documents = [timed(d) if isinstance(d, PointStop) else d for d in shared()]
    _, times = facts(documents).clients
    assert [row[2] for row in times.rows] == ["c1", "c2"]
    # 50 calls are too few for a p99.
    assert [row[-1] for row in times.rows] == ["2.00 ms", ""]
    assert times.columns[3] == "Mean"
    assert [row[3] for row in times.rows] == ["250 µs", ""]


def test_summaries_for_machines_have_every_figure() -> None:
    data = summarise(shared()).to_data()
    assert data["start_skew_ms"] == {"median": 0.4, "max": 0.4}
    assert [client["machine"] for client in data["clients"]] == ["c1", "c2"]
    assert data["clients"][1]["clock_uncertainty_us"] == 80
