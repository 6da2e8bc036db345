"""The charts of an HTML page: the window's trio as SVG, with the figures under the pointer."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from math import isnan
from typing import Any

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter

from app.charts.curve import PALE, PASS
from app.charts.drawing import draw_swatch
from app.charts.model import ChartModel
from app.charts.overlay import Overlay, contender_style
from app.charts.sizes import Sizes
from app.charts.trio import Trio
from app.charts.view_state import ACROSS, DISTRIBUTION, SWEEP, TIME, Look, Showing, first_view
from app.export import live_charts, picture
from app.theme import DARK, LIGHT, SeriesStyle, mix
from workbench import formatting
from workbench.analysis.series import View
from workbench.documents import AnyDocument
from workbench.results import sustained
from workbench.results.comparison import Comparison
from workbench.results.differences import described
from workbench.results.render.html import Drawing
from workbench.sessions.chart_notes import ChartNote

_WIDTH, _HEIGHT = 1100, 820
_OF_ONE = 440
"""The height of a view with a single chart."""
_ABOUT = {
    TIME: "The session over time, each server from its own start",
    DISTRIBUTION: "Response times by percentile",
}
_EACH_SERVER = 15
_SPOT = 7

_SWATCH = QRectF(0, 0, 46, 18)

Styles = tuple[SeriesStyle, SeriesStyle]
"""Of a server, light and dark."""


def drawing(
    documents: Sequence[AnyDocument],
    view: View,
    showing: Showing | None = None,
    notes: Sequence[ChartNote] = (),
    *,
    plain: bool = False,
) -> Drawing:
    """Draw a session's charts; `plain`: for a page without a script. Needs an application."""
    model = ChartModel()
    for document in documents:
        model(document)
    if not model.over:
        model.end()
    trio = Trio(model, LIGHT)
    trio.set_notes(notes)
    about = ", ".join(map(sustained.sentence, model.ranked()))
    styles = live_charts.styles_of(model)
    showing = showing or Showing()
    zoom = showing.zoom.get(ACROSS)
    live = None if plain else live_charts.of(model, view, styles, zoom, notes)
    trio.show_part(showing)
    found = _views(trio, view, about, styles, live)
    return replace(found, notes=model.numbered(notes))


def comparison_drawing(found: Comparison, view: View, *, plain: bool = False) -> Drawing:
    """Draw the charts of a comparison; see `drawing`. Needs an application."""
    trio = Trio(Overlay(found), LIGHT)
    styles = {
        each.key: (contender_style(found, each, LIGHT), contender_style(found, each, DARK))
        for each in found.contenders
    }
    live = None if plain else live_charts.of(trio.model, view, styles)
    return _views(trio, view, described(found), styles, live)


def _views(
    trio: Trio,
    view: View,
    description: str,
    styles: Mapping[str, Styles],
    live: Mapping[str, Any] | None,
) -> Drawing:
    """Draw all views; the first one only where they are data (`live`). `styles`: by the
    keys of servers."""
    trio.set_view(view)
    trio.set_sizes(Sizes(scale=1.15))
    more = _EACH_SERVER * max(0, len(trio.model.series) - 8)
    drawn: dict[str, str] = {}
    if (first := first_view(trio.model.axis)) != SWEEP:
        trio.project(Look(first))
    if live is None:
        drawn[first] = _drawn(trio, _HEIGHT + more)
        charts = _inlined(drawn[first], description, "".join(_spots(trio)))
        if view.metric:
            trio.set_view(metric="")
        for name, height in ((TIME, _HEIGHT), (DISTRIBUTION, _OF_ONE)):
            trio.project(Look(name))
            drawn[name] = _drawn(trio, height + more)
    else:
        charts = _still(trio, _HEIGHT + more, description)
    trio.hide()
    trio.deleteLater()
    return Drawing(
        charts=charts,
        views={n: _inlined(drawn[n], about, "") for n, about in _ABOUT.items() if n in drawn},
        swatches={key: _swatch(light) for key, (light, _) in styles.items()},
        tokens=live_charts.tokens(),
        recolour=_recolour(styles, plain=live is None),
        live=live,
    )


def _drawn(trio: Trio, height: int) -> str:
    """Return what a trio shows as SVG."""
    return picture.svg(_painting(trio, height), (_WIDTH, height), "", "").decode()


def _still(trio: Trio, height: int, description: str) -> str:
    """Return a picture for readers without scripts, and for print."""
    drawn = picture.png(_painting(trio, height), (_WIDTH, height), small=True)
    data = base64.b64encode(drawn).decode()
    return f'<img alt="{escape(description, quote=True)}" src="data:image/png;base64,{data}">'


def _painting(trio: Trio, height: int) -> picture.Paint:
    trio.prepare(_WIDTH, height)

    def paint(painter: QPainter) -> None:
        painter.fillRect(QRectF(0, 0, _WIDTH, height), QColor(LIGHT.card))
        trio.paint(painter, QRectF(0, 0, _WIDTH, height))

    return paint


def _inlined(drawn: str, description: str, more: str) -> str:
    """Return an SVG as part of an HTML page: without the XML header, and with `more` elements."""
    body = drawn[drawn.index("<defs>") :].strip()
    body = body.removesuffix("</svg>")
    box = drawn[drawn.index('viewBox="') :].split('"')[1]
    about = f'role="img" aria-label="{escape(description, quote=True)}"'
    about = about if description else 'aria-hidden="true"'
    return f'<svg viewBox="{box}" {about}>{body}{more}</svg>'


def _swatch(style: SeriesStyle) -> str:
    drawn = picture.svg(
        lambda painter: draw_swatch(painter, style, _SWATCH, LIGHT.card), (46, 18), "", ""
    )
    return _inlined(drawn.decode(), "", "")


def _spots(trio: Trio) -> Iterable[str]:
    """Yield a circle with a tool tip for each point."""
    model = trio.drawn
    for chart in trio.charts.values():
        left, top = chart.x(), chart.y()
        for series in reversed(model.ranked()):
            for reading in series.shown:
                value = reading.value(chart.metric, trio.view)
                if isnan(value):
                    continue
                at = chart.at(reading.x, value)
                if not chart.contains(at):
                    continue  # the zoom leaves it out
                text = model.card(series, reading, trio.view).text
                if other := model.metric(chart.metric):
                    text += f" {other.label} {formatting.figure(value, other.unit)}."
                yield (
                    f'<circle class="spot" cx="{left + at.x():.1f}" cy="{top + at.y():.1f}"'
                    f' r="{_SPOT}"><title>{escape(text)}</title></circle>'
                )


def _recolour(styles: Mapping[str, Styles], *, plain: bool) -> list[tuple[str, str]]:
    """Return every colour of light drawings with that of dark ones: of swatches, and on a plain
    page of charts, where lines of single passes and of what must not be trusted are pale.
    """
    pairs = [(LIGHT.card, DARK.card)]
    if plain:
        pairs += [*live_charts.tokens().values(), (LIGHT.edge, DARK.edge)]
    for light, dark in styles.values():
        for share in (1.0, PALE, PASS) if plain else (1.0,):
            pairs.append((mix(LIGHT.card, light.colour, share), mix(DARK.card, dark.colour, share)))
    return sorted({(a.lower(), b.lower()) for a, b in pairs})
