"""Sessions and comparisons as pages that explain themselves, pictures, or tables.

Qt, which only pictures and pages need, is imported when they are drawn.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from app.charts.view_state import ACROSS, SWEEP, TIME, Look, Showing
from app.words import letters
from workbench import stores
from workbench.analysis.distribution import Distribution, hgrm
from workbench.analysis.over_time import METRICS
from workbench.analysis.series import PointResult, View
from workbench.analysis.summary import Summary, summarise
from workbench.documents import PointStop
from workbench.errors import BadInput, PongbenchError, why
from workbench.formatting import listed
from workbench.results import differences
from workbench.results.comparison import Comparison
from workbench.results.conditions import Conditions
from workbench.results.render import csv
from workbench.sessions import Session
from workbench.sessions.chart_notes import ChartNote, ChartNotes
from workbench.sessions.labels import Label, Titles
from workbench.sessions.reading import uncollected

if TYPE_CHECKING:
    from app.export.picture import Paint, Size

ENDINGS = (".html", ".png", ".svg", ".pdf", ".csv", ".hgrm")
"""The endings of files that a session can be written as."""
COMPARISON_ENDINGS = ENDINGS[:-1]
SIZE = (1600, 1200)
_CHARTS = ("replies", "time", "errors")


@dataclass(frozen=True)
class ReportOptions:
    """The appearance of a report; it does not apply to a table."""

    theme: str = "light"
    """The theme of pictures; an HTML page has both and follows its reader's."""
    size: tuple[int, int] = SIZE
    """The size of pictures in pixels; a PNG has twice as many."""
    view: View = field(default_factory=View)
    """The view of the charts."""
    notes: bool = False
    """Include the user's notes about the session; HTML only."""
    server: str = ""
    """The server of a distribution, by its id; empty: there is only one."""
    at: float | None = None
    """The value of the axis of a distribution; None: the server's sustained one."""
    showing: Showing = field(default_factory=Showing)
    """The part of the charts, and their scales."""
    plain: bool = False
    """An HTML page without a script."""
    look: Look = field(default_factory=Look)
    """Over the axis, over time, or distributions; of pictures and tables. HTML has all."""


def check_output(output: Path, endings: Collection[str] = ()) -> None:
    """Raises BadInput for an unknown ending (`endings`: those known; empty: of a session), and for
    a directory."""
    known_endings = endings or ENDINGS
    if output.suffix.lower() not in known_endings:
        known = ", ".join(sorted(known_endings))
        raise BadInput(f"A report cannot be written as {output.name}: name it with one of {known}.")
    if output.is_dir():
        raise BadInput(f"{output} is a directory; give the name of a file for the report.")


def write_report(session: Session, output: Path, options: ReportOptions) -> None:
    """Write a session as .html, .png (at twice its size), .svg, .pdf, .csv or .hgrm, by the name of
    `output`. Raises BadInput for what the session does not have, and for a place that cannot be
    written.
    """
    _check(session, options)
    session = replace(session, documents=[session.start, *session.completed()[1:]])
    # An object of Qt destroyed during a call into Qt may wait forever for the lock of that call.
    with uncollected():
        data = _data(session, options, output.suffix.lower())
    _release()
    write(output, data)


def _check(session: Session, options: ReportOptions) -> None:
    """Raises BadInput for a metric or an axis that a view of the session does not have, and for a
    value or a part of an axis where nothing was measured."""
    name, look, showing = session.name, options.look, options.showing
    found = METRICS if look.view == TIME else session.start.metrics
    metrics, key = [metric.key for metric in found], options.view.metric
    if key and key not in metrics:
        has = listed(metrics) or "none beyond the built-in ones"
        raise BadInput(f"{name} has no metric {key!r}; available: {has}.")
    axes = [ACROSS, *_CHARTS, *metrics]
    for key in (*showing.zoom, *showing.log):
        if key not in axes:
            raise BadInput(f"{name} has no axis {key!r}; it has {listed(axes)}.")
    points = {d.x for d in session.documents if isinstance(d, PointStop) and d.judged}
    low, high = showing.zoom.get(ACROSS, (-inf, inf))
    if look.view == SWEEP and points and not any(low <= x <= high for x in points):
        raise BadInput(
            f"{name} has no point from {low:g} to {high:g};"
            f" its points are from {min(points):g} to {max(points):g}."
        )
    _check_chosen(look, points, name)


def _check_chosen(look: Look, points: Collection[float], name: str) -> None:
    if isinstance(look.chosen, float) and look.chosen not in points:
        known = listed([f"{x:g}" for x in sorted(points)]) or "none"
        raise BadInput(f"{name} has no point at {look.chosen:g}; its points are at {known}.")


def _data(session: Session, options: ReportOptions, kind: str) -> bytes:
    """Return the content of a file with this ending."""
    if kind == ".csv":
        return csv.of_session(session.documents, options.look.table, options.view.clock).encode()
    if kind == ".hgrm":
        return _hgrm(session, options)
    prepare_qt()
    if kind == ".html":
        return _html(session, options)
    from app.charts.page import Page  # noqa: PLC0415
    from app.theme import THEMES  # noqa: PLC0415

    theme = THEMES[options.theme]
    page = Page(
        session.documents,
        theme,
        options.size,
        options.view,
        options.showing,
        look=options.look,
        title=_label(session).title,
        notes=_notes(session),
    )
    return drawn(kind, page.paint, options.size, page.title(), about=page.describe())


def drawn(kind: str, paint: Paint, size: Size, title: str, *, about: str = "") -> bytes:
    """Return the content of a picture with this ending. `about`: it in words, of SVG."""
    from app.export import picture  # noqa: PLC0415

    if kind == ".png":
        return picture.png(paint, size)
    if kind == ".svg":
        return picture.svg(paint, size, title, about)
    return picture.pdf(paint, size, title)


def _hgrm(session: Session, options: ReportOptions) -> bytes:
    point = chosen(summarise(session.documents), options.server, options.at)
    found = Distribution.of(point, options.view.clock)
    if not found.count:
        raise BadInput(
            f"There are no response times at {point.axis.at(point.x)}: no call was answered, or the"
            " load tool does not report them."
        )
    return hgrm(found.sparse).encode()


def chosen(summary: Summary, server: str, at: float | None) -> PointResult:
    """Return the point of a server (empty: the only one) at a value of the axis (None: where its
    `best` is). Raises BadInput."""
    servers = {each.id: each for each in summary.servers.values() if each.points}
    if not servers:
        raise BadInput("The session has no complete points, so it has no distribution.")
    if not server and len(servers) > 1:
        raise BadInput(f"Choose one server with --server: {listed(list(servers))}.")
    series = servers.get(server or next(iter(servers)))
    if series is None:
        raise BadInput(f"The session has no points of {server!r}; it has {listed(list(servers))}.")
    point = series.best if at is None else series.at(at)
    if point is None:
        values = listed([series.axis.figure(each.x) for each in series.points])
        raise BadInput(f"{series.name} has no point at {at:g}; it has {values}.")
    return point


def _html(session: Session, options: ReportOptions) -> bytes:
    from app.export.htmlcharts import drawing  # noqa: PLC0415
    from workbench.results.render import html  # noqa: PLC0415 - only for this one

    label, documents = _label(session), session.documents
    # The path on this computer does not concern readers of the report.
    name = Path(session.name).name
    remarks = [
        text.replace(session.name, name) for text in (session.damage, *session.notes) if text
    ]
    charts = drawing(documents, options.view, options.showing, _notes(session), plain=options.plain)
    notes = label.notes if options.notes else ""
    return html.render(documents, charts, label.title, notes, remarks).encode()


def prepare_qt() -> None:
    """Import Qt, which only pictures need; no display is required."""
    try:
        from PySide6.QtWidgets import QApplication  # noqa: PLC0415

        from app.theme import load_fonts  # noqa: PLC0415
    except ImportError as error:
        raise PongbenchError(
            f"A picture needs Qt, which this system cannot load ({error}). "
            "Run `make demo` once, or install the libraries that README names."
        ) from None
    if QApplication.instance() is None:
        # Without a reference the application would be collected while the page is painted.
        global _application  # noqa: PLW0603
        _application = QApplication(["pongbench", "-platform", "offscreen"])
    load_fonts()


_application: object = None


def _release() -> None:
    """Delete the charts that were drawn: they refer to each other through Qt, where no collector
    sees it, and without an event loop nothing else deletes them."""
    if "PySide6.QtWidgets" not in sys.modules:  # a table or a histogram
        return
    from PySide6.QtCore import QEvent, Qt  # noqa: PLC0415 - see above
    from PySide6.QtWidgets import QApplication  # noqa: PLC0415

    for each in QApplication.topLevelWidgets():
        if each.testAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen):
            each.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _label(session: Session) -> Label:
    """Return the user's title and notes."""
    return Titles().read().get(session.start.session, Label())


def _notes(session: Session) -> list[ChartNote]:
    """Return the user's notes on the charts."""
    return ChartNotes(Path(session.name)).read()


def write(output: Path, data: bytes) -> None:
    """Write the whole file or nothing, and create its folder. Raises BadInput."""
    try:
        stores.write(output, data, stores.DEFAULT_MODE)
    except OSError as error:
        raise BadInput(
            f"The report cannot be written to {output}: {why(error)}. Choose another place."
        ) from None


def write_comparison(
    found: Comparison, differing: Conditions, output: Path, options: ReportOptions
) -> None:
    """Write a comparison by the ending of `output`. Raises BadInput for a value at which nothing
    was measured, and for a place that cannot be written."""
    points = {x for each in found.comparable() for x in each.xs}
    _check_chosen(options.look, points, "The comparison")
    with uncollected():  # see above
        data = _comparison(found, differing, options, output.suffix.lower())
    _release()
    write(output, data)


def _comparison(
    found: Comparison, differing: Conditions, options: ReportOptions, kind: str
) -> bytes:
    if kind == ".csv":
        return csv.of_comparison(found, options.look.table, options.view.clock).encode()
    prepare_qt()
    title = differences.title(found)
    if kind == ".html":
        from app.export.htmlcharts import comparison_drawing  # noqa: PLC0415
        from workbench.results.render import html  # noqa: PLC0415 - only for this one

        drawing = comparison_drawing(found, options.view, plain=options.plain)
        return html.render_comparison(found, differing, drawing).encode()
    paint, size = _painting(found, options, title)
    return drawn(kind, paint, size, title, about=differences.described(found))


def _painting(found: Comparison, options: ReportOptions, title: str) -> tuple[Paint, Size]:
    from PySide6.QtCore import Qt  # noqa: PLC0415 - see above
    from PySide6.QtWidgets import QApplication  # noqa: PLC0415

    from app.charts.overlay import Overlay  # noqa: PLC0415
    from app.charts.sizes import Sizes  # noqa: PLC0415
    from app.charts.trio import Trio  # noqa: PLC0415
    from app.export.picture import MARGIN, framed, head  # noqa: PLC0415
    from app.theme import THEMES  # noqa: PLC0415

    caption = letters(found.sides)
    trio = Trio(Overlay(found), THEMES[options.theme])
    trio.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    trio.project(options.look)
    trio.set_view(options.view)
    width, height = (side - 2 * MARGIN for side in options.size)
    scale = max(1.0, min(width / 960, height / 720))
    height -= head(title, caption, scale)
    trio.set_sizes(Sizes(scale=scale))
    trio.resize(width, height)
    trio.refresh()
    trio.show()
    QApplication.sendPostedEvents()
    return framed(trio, title, caption, scale=scale)
