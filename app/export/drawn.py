"""Sessions and comparisons as pictures and pages."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication

from app.charts.overlay import Overlay
from app.charts.page import Page
from app.charts.sizes import Sizes
from app.charts.trio import Trio
from app.export import htmlcharts, picture
from app.export.options import ReportOptions
from app.theme import THEMES, load_fonts
from app.words import letters
from workbench.documents import AnyDocument
from workbench.results import differences
from workbench.results.comparison import Comparison
from workbench.results.conditions import Conditions
from workbench.results.render import html
from workbench.sessions.chart_notes import ChartNote
from workbench.sessions.labels import Label

_applications: list[QApplication] = []
"""Without a reference the application would be collected while a page is painted."""


def begin() -> None:
    """Make an application, if there is none; no display is required."""
    if QApplication.instance() is None:
        _applications.append(QApplication(["pongbench", "-platform", "offscreen"]))
    load_fonts()


def end() -> None:
    """Delete the charts that were drawn: they refer to each other through Qt, where no collector
    sees it, and without an event loop nothing else deletes them."""
    for each in QApplication.topLevelWidgets():
        if each.testAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen):
            each.deleteLater()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def of_session(  # noqa: PLR0917 - all that a report has
    documents: Sequence[AnyDocument],
    options: ReportOptions,
    kind: str,
    label: Label,
    notes: Sequence[ChartNote],
    remarks: Sequence[str],
) -> bytes:
    """Return the content of a file with this ending. `remarks`: found when the session was read."""
    if kind == ".html":
        view, showing = options.view, options.showing
        charts = htmlcharts.drawing(documents, view, showing, notes, plain=options.plain)
        noted = label.notes if options.notes else ""
        return html.render(documents, charts, label.title, noted, remarks).encode()
    page = Page(
        documents,
        THEMES[options.theme],
        options.size,
        options.view,
        options.showing,
        look=options.look,
        title=label.title,
        notes=notes,
    )
    return picture.encoded(kind, page.paint, options.size, page.title(), page.describe())


def of_comparison(
    found: Comparison, differing: Conditions, options: ReportOptions, kind: str
) -> bytes:
    """Return the content of a file with this ending."""
    title, about = differences.title(found), differences.described(found)
    if kind == ".html":
        drawing = htmlcharts.comparison_drawing(found, options.view, plain=options.plain)
        return html.render_comparison(found, differing, drawing).encode()
    caption = letters(found.sides)
    trio = Trio(Overlay(found), THEMES[options.theme])
    trio.project(options.look)
    trio.set_view(options.view)
    width, height = (side - 2 * picture.MARGIN for side in options.size)
    scale = max(1.0, min(width / 960, height / 720))
    trio.set_sizes(Sizes(scale=scale))
    trio.prepare(width, height - picture.head(title, caption, scale))
    paint, size = picture.framed(trio, title, caption, scale=scale)
    return picture.encoded(kind, paint, size, title, about)
