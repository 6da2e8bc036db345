"""Several clients side by side: which of them is the limit, and how well they start together."""

from synthetic import session

from workbench.analysis.clients import all_clients
from workbench.documents import AnyDocument, ClientPart, Percentiles, PointStop


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
