"""A session as a page that explains itself, a picture, or a table."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from app.charts.looks import SWEEP, TIME, Look
from app.charts.showing import ACROSS, Showing
from workbench import stores
from workbench.analysis.distribution import Distribution, hgrm
from workbench.analysis.results import PointResult, View
from workbench.analysis.slices import METRICS
from workbench.analysis.summary import Summary, summarise
from workbench.documents import PointStop
from workbench.errors import BadInput, PongbenchError, why
from workbench.formatting import listed
from workbench.results.cross_check import HEADING, TITLES, cross_checks, remark
from workbench.results.render import csv
from workbench.sessions import Session, read_session
from workbench.sessions.chart_notes import ChartNote, ChartNotes
from workbench.sessions.labels import Label, Titles
from workbench.sessions.reading import uncollected

if TYPE_CHECKING:
    from app.charts.page import Page

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
    look: Look = field(default_factory=Look)
    """Over the axis, over time, or distributions; of pictures and tables. HTML has all."""


def write_report(session: Path, output: Path, options: ReportOptions | None = None) -> None:
    """Write a session as .html, .png (at twice its size), .svg, .pdf, .csv or .hgrm, by `output`'s
    name.

    Raises BadInput for an unreadable session, an unknown ending or a place that cannot be written.
    """
    check_output(output)
    write_read(read_session(session), output, options or ReportOptions())


def check_output(output: Path, endings: Collection[str] = ()) -> None:
    """Raises BadInput for an unknown ending (`endings`: those known; empty: of a session), and for
    a directory."""
    known_endings = endings or _MAKERS
    if output.suffix.lower() not in known_endings:
        known = ", ".join(sorted(known_endings))
        raise BadInput(f"A report cannot be written as {output.name}: name it with one of {known}.")
    if output.is_dir():
        raise BadInput(f"{output} is a directory; give the name of a file for the report.")


def write_read(session: Session, output: Path, options: ReportOptions) -> None:
    """Like `write_report`, of a session that was read."""
    _check_metric(session, options)
    _check_axes(session, options)
    _check_points(session, options)
    session = replace(session, documents=[session.start, *session.completed()[1:]])
    # An object of Qt destroyed during a call into Qt may wait forever for the lock of that call.
    with uncollected():
        data = _MAKERS[output.suffix.lower()](session, options)
    write(output, data)


def _metrics(session: Session, look: Look) -> list[str]:
    """Return the metrics that the bottom chart of a view can show."""
    return [metric.key for metric in (METRICS if look.view == TIME else session.start.metrics)]


def _check_points(session: Session, options: ReportOptions) -> None:
    """Raises BadInput for a value of a view at which nothing was measured."""
    chosen = options.look.chosen
    if chosen is None or isinstance(chosen, str):
        return
    points = {d.x for d in session.documents if isinstance(d, PointStop) and d.judged}
    if chosen not in points:
        known = listed([f"{x:g}" for x in sorted(points)]) or "none"
        raise BadInput(f"{session.name} has no point at {chosen:g}; its points are at {known}.")


def _check_metric(session: Session, options: ReportOptions) -> None:
    key, known = options.view.metric, _metrics(session, options.look)
    if key and key not in known:
        has = listed(known) or "none beyond the built-in ones"
        raise BadInput(f"{session.name} has no metric {key!r}; available: {has}.")


def _check_axes(session: Session, options: ReportOptions) -> None:
    """Raises BadInput for an unknown axis, and for a part of it where nothing was measured."""
    showing = options.showing
    known = [ACROSS, *_CHARTS, *_metrics(session, options.look)]
    for key in (*showing.zoom, *showing.log):
        if key not in known:
            raise BadInput(f"{session.name} has no axis {key!r}; it has {listed(known)}.")
    points = [d.x for d in session.documents if isinstance(d, PointStop) and d.judged]
    low, high = showing.zoom.get(ACROSS, (-inf, inf))
    if options.look.view == SWEEP and points and not any(low <= x <= high for x in points):
        raise BadInput(
            f"{session.name} has no point from {low:g} to {high:g};"
            f" its points are from {min(points):g} to {max(points):g}."
        )


def _csv(session: Session, options: ReportOptions) -> bytes:
    return csv.of_session(session.documents, options.look.view, options.view.clock).encode()


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
    from workbench.results.render import html  # noqa: PLC0415 - only for this one

    prepare_qt()
    from app.export.htmlcharts import drawing  # noqa: PLC0415

    label, documents = _label(session), session.documents
    # The path on this computer does not concern readers of the report.
    name = Path(session.name).name
    remarks = [
        text.replace(session.name, name) for text in (session.damage, *session.notes) if text
    ]
    report = html.Report(documents, label.title, label.notes if options.notes else "", remarks)
    drawn = drawing(documents, options.view, options.showing, _notes(session))
    return html.render(report, drawn).encode()


def _png(session: Session, options: ReportOptions) -> bytes:
    page = _page(session, options)
    from app.export import picture  # noqa: PLC0415

    return picture.png(page.paint, options.size)


def _svg(session: Session, options: ReportOptions) -> bytes:
    page = _page(session, options)
    from app.export import picture  # noqa: PLC0415

    return picture.svg(page.paint, options.size, page.title(), page.describe())


def _pdf(session: Session, options: ReportOptions) -> bytes:
    page = _page(session, options)
    from app.export import picture  # noqa: PLC0415
    from app.export.table_pages import Table  # noqa: PLC0415
    from app.theme import THEMES  # noqa: PLC0415

    summary = summarise(session.documents)
    checks = cross_checks(summary.plan, summary.servers.values())
    compared = Table(HEADING, remark(checks), TITLES, [check.cells for check in checks])
    more = compared.pages(THEMES[options.theme], options.size)
    return picture.pdf(page.paint, options.size, page.title(), more)


_MAKERS: dict[str, Callable[[Session, ReportOptions], bytes]] = {
    ".html": _html,
    ".png": _png,
    ".svg": _svg,
    ".pdf": _pdf,
    ".csv": _csv,
    ".hgrm": _hgrm,
}

ENDINGS = tuple(_MAKERS)
"""The endings of files that can be written."""


def _page(session: Session, options: ReportOptions) -> Page:
    prepare_qt()
    from app.charts.page import Page  # noqa: PLC0415
    from app.theme import THEMES  # noqa: PLC0415

    return Page(
        session.documents,
        THEMES[options.theme],
        options.size,
        options.view,
        options.showing,
        look=options.look,
        title=_label(session).title,
        notes=_notes(session),
    )


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
        raise _unwritable(output, error) from None


def _unwritable(output: Path, error: OSError) -> BadInput:
    return BadInput(
        f"The report cannot be written to {output}: {why(error)}. Choose another place."
    )
