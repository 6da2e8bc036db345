"""The charts of an HTML page: the window's trio as SVG, with the figures under the pointer."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from math import isnan

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QApplication

from app.charts import note_text, words
from app.charts.drawing import draw_swatch
from app.charts.model import ChartModel
from app.charts.overlay import Overlay, OverlayTrio, contender_style
from app.charts.page import Page
from app.charts.series import Quantity
from app.charts.sizes import Sizes
from app.charts.trio import Trio
from app.charts.view_state import DISTRIBUTION, TIME, Look, Showing
from app.export import picture
from app.profiling import box_colour
from app.theme import DARK, LIGHT, SeriesStyle, Theme
from workbench import formatting
from workbench.analysis.flame import HUES
from workbench.analysis.results import View
from workbench.documents import AnyDocument
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
_MOST_SPOTS = 1500
"""In all charts together; where there are more, only replies show figures, to limit the file's
size.
"""

_SWATCH = QRectF(0, 0, 46, 18)
_COLOUR = re.compile(r'(?:fill|stroke)="(#[0-9a-f]{6})"')
_ELEMENT = re.compile(r"<(\w+)([^>]*)>")
_TOKENS = (
    *("bg", "card", "sunken", "line", "line2", "text", "soft", "muted"),
    *("ok", "warn", "bad"),
)


def drawing(
    documents: Sequence[AnyDocument],
    view: View,
    showing: Showing | None = None,
    notes: Sequence[ChartNote] = (),
) -> Drawing:
    """Draw a session's charts. Needs an application."""
    model = ChartModel()
    for document in documents:
        model(document)
    if not model.over:
        model.end()
    trio = Trio(model, LIGHT)
    trio.set_notes(notes)
    page = Page(documents, LIGHT, (1600, 1200), view, showing)
    styles = {
        series.id: (LIGHT.series(series.index), DARK.series(series.index))
        for series in model.series.values()
    }
    found = _views(trio, view, showing or Showing(), page.describe(), styles)
    return replace(found, notes=note_text.numbered(model, notes))


def comparison_drawing(found: Comparison, view: View) -> Drawing:
    """Draw the charts of a comparison. Needs an application."""
    trio = OverlayTrio(Overlay(found), LIGHT)
    styles = {
        each.key: (contender_style(found, each, LIGHT), contender_style(found, each, DARK))
        for each in found.contenders
    }
    return _views(trio, view, Showing(), described(found), styles)


def _views(
    trio: Trio,
    view: View,
    showing: Showing,
    description: str,
    styles: Mapping[str, tuple[SeriesStyle, SeriesStyle]],
) -> Drawing:
    """Draw all views. `styles`: of every server, by the key of its swatch: light and dark."""
    trio.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    trio.set_view(view)
    trio.show_part(showing)
    trio.set_sizes(Sizes(scale=1.15, controls=2))
    more = _EACH_SERVER * max(0, len(trio.model.series) - 8)
    sweep = _drawn(trio, _HEIGHT + more)
    charts = _inlined(sweep[0], description, "".join(_spots(trio)))
    if view.metric:
        trio.set_metric("")
    others = {TIME: _HEIGHT + more, DISTRIBUTION: _OF_ONE + more}
    each = {}
    for name, height in others.items():
        trio.project(Look(name))
        each[name] = _drawn(trio, height)
    trio.hide()
    trio.deleteLater()
    swatches = {
        key: (_swatch(light, LIGHT), _swatch(dark, DARK)) for key, (light, dark) in styles.items()
    }
    pairs = [sweep, *each.values(), *swatches.values()]
    return Drawing(
        charts=charts,
        views={name: _inlined(svg, _ABOUT[name], "") for name, (svg, _) in each.items()},
        swatches={key: light for key, (light, _) in swatches.items()},
        tokens={name: (getattr(LIGHT, name), getattr(DARK, name)) for name in _TOKENS}
        | {f"h{n}": (box_colour(LIGHT, n), box_colour(DARK, n)) for n in range(HUES)},
        recolour=recolour(pairs),
    )


def _drawn(trio: Trio, height: int) -> tuple[str, str]:
    """Draw what a trio shows; returns (light, dark) SVG."""
    trio.resize(_WIDTH, height)
    trio.refresh()
    trio.show()
    QApplication.sendPostedEvents()
    found = []
    for theme in (DARK, LIGHT):
        trio.set_theme(theme)

        def paint(painter: QPainter, ground: str = theme.card) -> None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.fillRect(QRectF(0, 0, _WIDTH, height), QColor(ground))
            trio.paint(painter, QRectF(0, 0, _WIDTH, height))

        found.append(picture.svg(paint, (_WIDTH, height), "", "").decode())
    return found[1], found[0]


def _inlined(drawn: str, description: str, more: str) -> str:
    """Return an SVG as part of an HTML page: without the XML header, and with `more` elements."""
    body = drawn[drawn.index("<defs>") :].strip()
    body = body.removesuffix("</svg>")
    box = drawn[drawn.index('viewBox="') :].split('"')[1]
    return (
        f'<svg viewBox="{box}" role="img" aria-label="{escape(description, quote=True)}">'
        f"{body}{more}</svg>"
    )


def _swatch(style: SeriesStyle, theme: Theme) -> str:
    drawn = picture.svg(
        lambda painter: draw_swatch(painter, style, _SWATCH, theme.card), (46, 18), "", ""
    )
    return _inlined(drawn.decode(), "", "").replace(
        ' role="img" aria-label=""', ' aria-hidden="true"'
    )


def _spots(trio: Trio) -> Iterable[str]:
    """Yield a circle with a tool tip for each point."""
    model = trio.model
    count = sum(len(series.shown) for series in model.series.values())
    few = count * len(trio.charts) <= _MOST_SPOTS
    for quantity, chart in trio.charts.items():
        if not few and quantity is not Quantity.REPLIES:
            continue
        left, top = chart.x(), chart.y()
        for series in reversed(model.ranked()):
            for reading in series.shown:
                value = reading.value(chart.metric, trio.view)
                if isnan(value):
                    continue
                at = chart.at(reading.x, value)
                if not chart.contains(at):
                    continue  # the zoom leaves it out
                offered = words.offered(reading)
                time = reading.value(Quantity.TIME.value, trio.view)
                time_text = (
                    f"{words.percentile(trio.view.percentile)} {formatting.duration(time * 1000)}"
                    if not isnan(time)
                    else "unknown response time"
                    if reading.replies_per_s
                    else "no reply"
                )
                text = (
                    f"{series.name}, {offered}: {words.per_second(reading.replies_per_s)}"
                    f" answered, {time_text}, {formatting.percent(reading.errors_pct)} errors"
                    f"{words.metric(reading, model.metric(chart.metric))}."
                    f" {words.verdict(reading)} {words.failed_audits(series, reading)}".rstrip()
                )
                yield (
                    f'<circle class="spot" cx="{left + at.x():.1f}" cy="{top + at.y():.1f}"'
                    f' r="{_SPOT}"><title>{escape(text)}</title></circle>'
                )


def recolour(drawn: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Map every colour of light drawings to that of the dark ones, which have the same strokes in
    the same order.
    """
    places: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for light, dark in drawn:
        for a, b in zip(_colours(light), _colours(dark), strict=True):
            places[a][b] += 1
    found = ((a, among.most_common(1)[0][0]) for a, among in places.items())
    return sorted((a, b) for a, b in found if a != b)


def _colours(svg: str) -> Iterator[str]:
    """Yield the colours of every shape. Qt writes them once for neighbours that look the same,
    which may be so in one theme only.
    """
    group: list[str] = []
    for tag, attributes in _ELEMENT.findall(svg):
        own = _COLOUR.findall(attributes)
        if tag == "g":
            group = own
        else:
            yield from (*group, *own)
