"""Messages about points that must not be trusted. No Qt."""

from __future__ import annotations

from app.charts.model import ChartModel
from workbench.analysis.knee import last_attempts
from workbench.analysis.series import TRUSTED
from workbench.documents import Note
from workbench.messages.base import Said
from workbench.messages.notes import notice


def doubts(model: ChartModel) -> list[Note]:
    """Return messages about each server's first point that must not be trusted, the first after a
    good one, and the first that is faulty, by time. Of several attempts at a point the last one
    counts, as in the ranking.
    """
    stops = (stop for series in model.series.values() for stop in series.stops if stop.complete)
    trusted: dict[str, bool] = {}
    faulty: set[str] = set()
    # After the clients sustained no rate, which is reported, no point can be trusted.
    reported = model.ceiling_per_s == 0
    found = []
    for point in sorted(last_attempts(stops), key=lambda stop: stop.t_us):
        name, suffix = model.series[point.series].name, model.axis.suffix
        cause = " ".join(point.reasons[:1])
        message: Said
        if point.verdict == "faulty" and point.series not in faulty:
            faulty.add(point.series)
            message = notice("faulty", name=name, x=point.x, suffix=suffix, cause=cause)
        else:
            before = trusted.get(point.series)
            trusted[point.series] = point.verdict in TRUSTED
            if trusted[point.series] or before is False:
                continue
            first = before is None and not reported
            reported = reported or first
            cause = cause or f"The verdict is {point.verdict}."
            where = {"x": point.x, "suffix": suffix}
            message = notice("not-judged", name=name, **where, first=first, cause=cause)
        found.append(message.note(point.t_us, server=point.server))
    return found
