"""The headline of a presentation: one server and its metrics. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import floor, isnan

from app.charts.model import ChartModel
from app.charts.series import Quantity, Series
from workbench.analysis.evidence import SUSTAINED_SHARE
from workbench.analysis.series import PointResult
from workbench.formatting import listed
from workbench.results import sustained

_MOST_NAMES = 3


@dataclass(frozen=True)
class Figure:
    caption: str
    value: str
    unit: str = ""
    tone: str = "text"


@dataclass(frozen=True)
class Lead:
    """The headline: a server and its metrics."""

    name: str
    index: int | None = None
    """The index of the server's style; None: the headline is about no single server."""
    figures: tuple[Figure, ...] = ()

    @property
    def sentence(self) -> str:
        parts = (f"{f.caption} {f.value}{f.unit}" for f in self.figures)
        return ", ".join((self.name, *parts))


def lead(
    model: ChartModel,
    pointed_at: str,
    rate: float,
    is_shown: Callable[[str], bool] = lambda server: True,
    *,
    otherwise: str = "Preparing",
) -> Lead:
    """Return the headline: of the selected server, else the running one, else the visible one with
    the highest sustained rate, else the plan, else `otherwise`.
    """
    series = model.series.get(pointed_at)
    if series is not None:
        found = model.reading(pointed_at, rate)
        return _of_reading(model, series, found) if found else _of_series(series, model)
    if model.running is not None:
        return _running(model)
    series = model.series.get(model.running_server)
    if series is not None and series.complete:
        last = series.complete[-1]
        return _of_reading(model, series, PointResult(last.x, (last,), model.axis))
    ranked = [each for each in model.ranked() if each.complete and is_shown(each.id)]
    if ranked:
        first = ranked[0].figure, ranked[0].unknown is None
        best = [each for each in ranked if (each.figure, each.unknown is None) == first]
        return _of_series(best[0], model) if len(best) == 1 else _of_equals(best, model)
    plan = model.start.plan if model.start else {}
    return Lead(plan.get("name") or otherwise)


def _running(model: ChartModel) -> Lead:
    running = model.running
    assert running is not None
    series = model.series.get(running.server)
    name = series.name if series else "Null server"
    index = series.index if series else None
    if doing := {"warm_up": "warming up", "profile": "profiling"}.get(running.start.purpose):
        return Lead(name, index, (Figure("", doing, tone="muted"),))
    if running.start.purpose == "ceiling":
        return Lead("Client calibration", None, (_offered(model, running.x),))
    lost = running.value(Quantity.ERRORS.value)
    unseen = Figure("answered", "–", tone="muted")
    answered = unseen if isnan(lost) else _answered(100 - lost)
    ceiling = model.ceiling_per_s if model.axis.calibrated else None
    if not isnan(lost) and ceiling is not None and running.x > ceiling:
        answered = replace(answered, caption="answered, beyond the client limit", tone="muted")
    return Lead(name, index, (_offered(model, running.x), answered))


def _of_reading(model: ChartModel, series: Series, reading: PointResult) -> Lead:
    answered = _answered(100 - reading.errors_pct)
    if not reading.trusted:
        # Hollow like its point.
        answered = replace(answered, caption="answered, unreliable", tone="muted")
    if reading.verdict == "faulty":
        answered = replace(answered, caption="answered, faulty", tone="bad")
    return Lead(series.name, series.index, (_offered(model, reading.x), answered))


def _of_series(series: Series, model: ChartModel) -> Lead:
    return Lead(series.name, series.index, (_figure(series, model),))


def _figure(series: Series, model: ChartModel, *, several: bool = False) -> Figure:
    result = sustained.parts(series, over=model.over)
    if several:
        result = result.of_several()
    if not result.figure:
        return Figure("", result.caption, tone="muted")
    value, slash, unit = result.figure.partition("/")
    tone = "bad" if series.faulty and series.knee is None else "text"
    return Figure(result.caption, value, slash + unit, tone)


def _of_equals(best: list[Series], model: ChartModel) -> Lead:
    """Return the headline of the best servers: with equal results none is the first. A server of
    several sessions counts as one, and a limit that one session shows is more than "at least". For
    several servers, only what is true of all is stated.
    """
    names = list(dict.fromkeys(series.label for series in best))
    several = len(names) > 1
    one = next((s for s in best if s.knee_is_floor is several), best[0])
    if not several:
        return replace(_of_series(one, model), name=names[0])
    if len(names) > _MOST_NAMES:
        names = [*names[:2], f"{len(names) - 2} more"]
    return Lead(listed(names), None, (_figure(one, model, several=True),))


def _offered(model: ChartModel, rate: float) -> Figure:
    axis = model.axis
    if not axis.per_second:
        return Figure(axis.unit or axis.label, axis.figure(rate))
    return Figure("offered", axis.figure(rate), axis.suffix)


def _answered(pct: float) -> Figure:
    tone = "ok" if pct >= 100 * SUSTAINED_SHARE else "warn" if pct >= 50 else "bad"
    shown = f"{floor(pct * 10 + 1e-6) / 10:.1f}" if pct < 100 else "100"  # never up to all
    return Figure("answered", shown, "%", tone)
