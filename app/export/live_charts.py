"""The charts of an HTML page as data, for the script that draws them there.

Every view of a session or a comparison is a sheet: charts, and for every server a line in each.
Numbers are rounded to four figures; what is not known is null, which the script draws as a gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from app.charts import words
from app.charts.bars import BarsModel, stated
from app.charts.model import ChartModel
from app.charts.projection import DistributionModel, Projection
from app.charts.series import Quantity, Span
from app.charts.view_state import BARS, DISTRIBUTION, SWEEP, TIME, Look, first_view
from app.theme import DARK, LIGHT, SeriesStyle, Theme, mix
from workbench.analysis.flame import HUES
from workbench.analysis.series import PERCENTILES, View
from workbench.sessions.chart_notes import ChartNote
from workbench.untrusted import safe

_NINES = 6
"""Of the percentile axis' marks."""
_TOKENS = (
    *("bg", "card", "sunken", "line", "line2", "text", "soft", "muted"),
    *("ok", "warn", "bad"),
)


def tokens() -> dict[str, tuple[str, str]]:
    """Return the page's colours by name: light and dark."""
    hues = {f"h{n}": (_box_colour(LIGHT, n), _box_colour(DARK, n)) for n in range(HUES)}
    return {name: (getattr(LIGHT, name), getattr(DARK, name)) for name in _TOKENS} | hues


def _box_colour(theme: Theme, hue: int) -> str:
    """Return the colour of boxes of a flame graph; names on them stay legible."""
    return mix(theme.card, theme.hues[hue % len(theme.hues)], 0.42 if theme.dark else 0.34)


def styles_of(model: ChartModel) -> dict[str, tuple[SeriesStyle, SeriesStyle]]:
    """Return how the servers of a session are drawn, light and dark, by key."""
    return {s.id: (LIGHT.series(s.index), DARK.series(s.index)) for s in model.series.values()}


def of(
    model: ChartModel,
    view: View,
    styles: Mapping[str, tuple[SeriesStyle, SeriesStyle]],
    zoom: Span | None = None,
    notes: Sequence[ChartNote] = (),
) -> dict[str, Any]:
    """Return all that the script draws. `styles`: of every server, light and dark, by its key;
    `zoom`: the part of the axis that is shown first; `notes`: the user's."""
    views = {BARS: "Servers", TIME: "Over time", DISTRIBUTION: "Distribution"}
    if first_view(model.axis) == SWEEP:
        views = {SWEEP: "Sweep" if model.axis.per_second else "Results", **views}
    looks = ((key, title, Look(key).of(model) or model) for key, title in views.items())
    return {
        "percentile": view.percentile,
        "ideal": model.axis.calibrated,
        "limit": model.ceiling_per_s if model.axis.calibrated else None,
        "zoom": zoom,
        "notes": [note.x for note in notes],
        "servers": [
            {
                "key": series.id,
                "name": safe(series.name),
                "colours": [style.colour for style in styles[series.id]],
                "dash": list(styles[series.id][0].dash or ()),
                "best": series.best.x if series.best else None,
            }
            for series in model.ranked()
        ],
        "sheets": [_sheet(key, title, shown, view) for key, title, shown in looks],
    }


def _sheet(key: str, title: str, model: ChartModel | Projection, view: View) -> dict[str, Any]:
    log = model.axis.scale == "log"
    if key not in (SWEEP, BARS):
        view = replace(view, metric="")  # of points; other views have metrics of their own
    charts = [_chart(model, quantity, view) for quantity in model.charts]
    return {
        "key": key,
        "title": title,
        "across": {
            "title": model.axis.title,
            "log": log,
            "last": model.last_x,
            "suffix": model.axis.suffix,
            "marks": _marks(model),
        },
        "charts": charts,
        "says": _says(model, view) if key in (SWEEP, BARS) else {},
    }


def _marks(model: ChartModel | Projection) -> list[tuple[float | str, ...]]:
    """Return the marks of an axis whose figures are no plain numbers; else nothing. Those of bars
    have the key of their server.
    """
    if isinstance(model, BarsModel):
        x = model.axis.values
        return list(zip(x, map(safe, model.marks(x)), model.order, strict=True))
    if not isinstance(model, DistributionModel):
        return []
    x = [1.0, 2.0, *(10.0**n for n in range(1, _NINES))]
    return list(zip(x, model.marks(x), strict=True))


def _chart(model: ChartModel | Projection, quantity: Quantity, view: View) -> dict[str, Any]:
    time = quantity is Quantity.TIME
    each = PERCENTILES if time and Quantity.REPLIES in model.charts else (view.percentile,)
    explains = model.explains(quantity, view)
    if isinstance(model, BarsModel):
        if time and model.seen(view) != view:
            each = (model.seen(view).percentile,)
        explains += ("across a bar: published",) * bool(model.published)
    title, unit = {
        Quantity.REPLIES: model.axis.served_axis,
        Quantity.TIME: ("Response time", words.CLOCKS[view.clock]),
        Quantity.ERRORS: ("Errors", "% of attempts"),
    }[quantity]
    described = model.metric(view.metric) if quantity is Quantity.ERRORS else None
    if described:
        title, unit = described.label, described.unit
    return {
        "key": "metric" if described else quantity.value,
        "title": title,
        "unit": unit,
        "log": time and not model.bars,
        "lines": {
            key: {p: _line(series, quantity, replace(view, percentile=p)) for p in each}
            for key, series in model.series.items()
        },
        "explains": explains,
        "published": list(_published(model, quantity)),
    }


def _published(
    model: ChartModel | Projection, quantity: Quantity
) -> Iterator[tuple[float, float | None, Sequence[str]]]:
    """Yield x, y and texts, the longest first, of figures of the source; response times there are
    means. A y of None has no place on the axis.
    """
    for figure, at, kind, value in model.published_at(model.series, quantity.value, View("mean")):
        if model.bars:
            yield at, value, stated(figure, kind)
        elif value is not None and quantity is not Quantity.ERRORS:
            yield at, value, [f"{figure.name}, published"]


def _line(series: Any, quantity: Quantity, view: View) -> dict[str, Any]:
    """Return one line. `marks`: a character a point: trusted, untrusted or faulty."""
    values = series.values(quantity, view)
    flags = zip(values.trusted, values.faulty, strict=True)
    return {
        "x": _rounded(values.x, 7),
        "y": _rounded(values.y, 4),
        "marks": "".join("x" if bad else "+" if good else "o" for good, bad in flags),
    }


def _rounded(values: Iterable[float], digits: int) -> list[float | None]:
    """Round to significant digits; whole numbers lose their ".0"."""
    found = (float(f"{value:.{digits}g}") if isfinite(value) else None for value in values)
    return [int(v) if v is not None and v == int(v) else v for v in found]


def _says(model: Any, view: View) -> dict[str, Sequence[str]]:
    """Return what is said of every point, by the key of its server."""
    each = {
        key: (model.card(series, point, view) for point in series.shown)
        for key, series in model.series.items()
    }
    return {
        key: [safe(". ".join(filter(None, (card.causes, card.sentence)))) for card in cards]
        for key, cards in each.items()
    }
