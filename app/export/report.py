"""Sessions and comparisons as pages that explain themselves, pictures, or tables. No Qt before one
is drawn.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import Any

from app.charts.view_state import ACROSS, SWEEP, TIME, Look
from app.export.options import ReportOptions
from workbench import stores
from workbench.analysis.distribution import Distribution, hgrm
from workbench.analysis.over_time import METRICS
from workbench.analysis.series import PointResult
from workbench.analysis.summary import Summary, summarise
from workbench.documents import AnyDocument, PointStop
from workbench.errors import BadInput, PongbenchError, why
from workbench.formatting import listed
from workbench.results.comparison import Comparison
from workbench.results.conditions import Conditions
from workbench.results.render import csv
from workbench.sessions import Session
from workbench.sessions.chart_notes import ChartNotes
from workbench.sessions.labels import Label, Titles
from workbench.sessions.reading import uncollected

ENDINGS = (".html", ".png", ".svg", ".pdf", ".csv", ".hgrm")
"""The endings of files that a session can be written as."""
COMPARISON_ENDINGS = ENDINGS[:-1]
_CHARTS = ("replies", "time", "errors")


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
    documents, kind = [session.start, *session.completed()[1:]], output.suffix.lower()
    if kind == ".csv":
        data = csv.of_session(documents, options.look.table, options.view.clock).encode()
    elif kind == ".hgrm":
        data = _hgrm(documents, options)
    else:
        label = Titles().read().get(session.start.session, Label())
        notes = ChartNotes(Path(session.name)).read()
        # The path on this computer does not concern readers of the report.
        texts, name = filter(None, (session.damage, *session.notes)), Path(session.name).name
        remarks = [text.replace(session.name, name) for text in texts]
        with _drawing() as drawn:
            data = drawn.of_session(documents, options, kind, label, notes, remarks)
    write(output, data)


@contextmanager
def _drawing() -> Iterator[Any]:
    """Import what draws, with Qt, which only pictures and pages need."""
    try:
        from app.export import drawn  # noqa: PLC0415
    except ImportError as error:
        raise PongbenchError(
            f"A picture needs Qt, which this system cannot load ({error}). "
            "Run `make demo` once, or install the libraries that README names."
        ) from None
    drawn.begin()
    # An object of Qt destroyed during a call into Qt may wait forever for the lock of that call.
    with uncollected():
        yield drawn
    drawn.end()


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


def _hgrm(documents: Sequence[AnyDocument], options: ReportOptions) -> bytes:
    at = options.look.chosen if isinstance(options.look.chosen, float) else None
    point = chosen(summarise(documents), options.server, at)
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
    kind = output.suffix.lower()
    if kind == ".csv":
        data = csv.of_comparison(found, options.look.table, options.view.clock).encode()
    else:
        with _drawing() as drawn:
            data = drawn.of_comparison(found, differing, options, kind)
    write(output, data)
