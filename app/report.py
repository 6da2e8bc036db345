"""`pongbench report`: a session as a picture, a drawing or a table."""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.documents import (
    ERROR_CLASSES,
    AnyDocument,
    Percentiles,
    PointStop,
    RunStart,
    error_class,
)
from workbench.errors import BadInput, PongbenchError
from workbench.sessions import read_session

if TYPE_CHECKING:
    from app.charts.page import Page

SIZE = (1600, 1200)
_RATIO = 2
"""Device pixels per pixel of a PNG."""

_TIMES = ("latency", "service", "connect", "first_byte", "lateness")
_PERCENTILES = ("p50", "p90", "p99", "p999", "max")


def write_report(
    session: Path, output: Path, *, theme: str = "light", size: tuple[int, int] = SIZE
) -> None:
    """Write a session as .png (at twice `size`), .svg, .pdf or .csv, by the name of `output`.

    Raises BadInput for an unreadable session, an unknown ending or a place that cannot be written.
    """
    make = _MAKERS.get(output.suffix.lower())
    if make is None:
        known = ", ".join(sorted(_MAKERS))
        raise BadInput(f"A report cannot be written as {output.name}: name it with one of {known}.")
    read = read_session(session)
    documents = [read.start, *read.completed()[1:]]
    _write(output, make(documents, theme, size))


def add_parser(subparsers: Any) -> None:
    """Register the command."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "report",
        help="draw a session as PNG, SVG or PDF, or list its points as CSV",
        description="Draw a session on one page, or list its points in a table.",
    )
    parser.add_argument("session", type=Path, metavar="FILE", help="a session")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="X", help="X.png, .svg, .pdf or .csv"
    )
    parser.add_argument("--theme", choices=("light", "dark"), default="light")
    parser.add_argument(
        "--size",
        type=_size,
        default=SIZE,
        metavar="WxH",
        help="of the page in pixels (a PNG has twice as many; default: 1600x1200)",
    )
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """The command: its exit code; what goes wrong is a PongbenchError."""
    write_report(arguments.session, arguments.output, theme=arguments.theme, size=arguments.size)
    return 0


def points_as_csv(documents: Iterable[AnyDocument]) -> str:
    """One line for every point of every server's sweep, RFC 4180, units in the header.

    Empty cells: not known, for example a percentile where no call was answered.
    """
    names: dict[str, str] = {}
    out = io.StringIO()
    table = csv.DictWriter(out, _COLUMNS)
    table.writeheader()
    for document in documents:
        if isinstance(document, RunStart):
            names = {record.id: record.name for record in document.servers}
        elif isinstance(document, PointStop) and document.purpose == "sweep":
            table.writerow(_row(document, names.get(document.server, "")))
    return out.getvalue()


_PLAIN = (
    "verdict",
    "complete",
    "concurrency",
    "seconds",
    "offered_per_s",
    "replies_per_s",
    "errors_pct",
    "client_cpu_pct",
    "server_cpu_pct",
    "server_rss_bytes",
    "conserved",
)
_COUNTS = ("scheduled", "unsent", "sent", "late", "succeeded", "in_flight")
_COLUMNS = [
    "server",
    "server_name",
    "pass_number",
    "point",
    "rate_per_s",
    *_PLAIN[:7],
    *(f"{name}_calls" for name in _COUNTS),
    "established_connections",
    *(f"error_{name.replace('-', '_')}_calls" for name in ERROR_CLASSES),
    *(f"{time}_{percentile}_ms" for time in _TIMES for percentile in _PERCENTILES),
    *_PLAIN[7:],
    "reasons",
]


def _row(stop: PointStop, name: str) -> dict[str, object]:
    counts = stop.counts
    row: dict[str, object] = {
        "server": stop.server,
        "server_name": name,
        "pass_number": stop.pass_number,
        "point": stop.point,
        "rate_per_s": stop.rate_per_s,
        **{name: getattr(stop, name) for name in _PLAIN},
        **{f"{name}_calls": getattr(counts, name) for name in _COUNTS},
        "established_connections": counts.established,
        "reasons": " ".join(stop.reasons),
    }
    for known in ERROR_CLASSES:
        lost = sum(n for name, n in counts.errors.items() if error_class(name) == known)
        row[f"error_{known.replace('-', '_')}_calls"] = lost
    for time in _TIMES:
        times: Percentiles | None = getattr(stop, f"{time}_us")
        for percentile in _PERCENTILES:
            value = "" if times is None else getattr(times, percentile) / 1000
            row[f"{time}_{percentile}_ms"] = value
    return row


def _csv(documents: Sequence[AnyDocument], theme: str, size: tuple[int, int]) -> bytes:
    return points_as_csv(documents).encode()


def _png(documents: Sequence[AnyDocument], theme: str, size: tuple[int, int]) -> bytes:
    page = _page(documents, theme, size)
    from PySide6.QtCore import QBuffer, QByteArray, QIODevice  # noqa: PLC0415
    from PySide6.QtGui import QImage, QPainter  # noqa: PLC0415

    image = QImage(size[0] * _RATIO, size[1] * _RATIO, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(_RATIO)
    painter = QPainter(image)
    page.paint(painter)
    painter.end()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return data.data()


def _svg(documents: Sequence[AnyDocument], theme: str, size: tuple[int, int]) -> bytes:
    page = _page(documents, theme, size)
    from PySide6.QtCore import QBuffer, QByteArray, QRect, QSize  # noqa: PLC0415
    from PySide6.QtGui import QPainter  # noqa: PLC0415
    from PySide6.QtSvg import QSvgGenerator  # noqa: PLC0415

    data = QByteArray()
    buffer = QBuffer(data)
    drawing = QSvgGenerator()
    drawing.setOutputDevice(buffer)
    drawing.setSize(QSize(*size))
    drawing.setViewBox(QRect(0, 0, *size))
    drawing.setTitle(page.title())
    drawing.setDescription(page.describe())
    painter = QPainter(drawing)
    page.paint(painter)
    painter.end()
    return _tidy_svg(data.data().decode(), size).encode()


def _tidy_svg(svg: str, size: tuple[int, int]) -> str:
    """The size in pixels (Qt rounds it to millimetres), and hundredths of a pixel are enough."""
    svg = re.sub(
        r'width="[\d.]+mm" height="[\d.]+mm"', f'width="{size[0]}" height="{size[1]}"', svg
    )
    short = re.compile(r"-?\d+\.\d{3,}")

    def shorten(outline: re.Match[str]) -> str:
        return short.sub(lambda number: f"{float(number[0]):.2f}", outline[0])

    return re.sub(r' (?:d|points)="[^"]*"', shorten, svg)


def _pdf(documents: Sequence[AnyDocument], theme: str, size: tuple[int, int]) -> bytes:
    page = _page(documents, theme, size)
    from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QSizeF  # noqa: PLC0415
    from PySide6.QtGui import QPageLayout, QPageSize, QPainter, QPdfWriter  # noqa: PLC0415

    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    paper = QPdfWriter(buffer)
    points = QSizeF(size[0] * 0.75, size[1] * 0.75)
    shape = QPageSize(points, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch)
    portrait = QPageLayout.Orientation.Portrait
    paper.setPageLayout(QPageLayout(shape, portrait, QMarginsF(0, 0, 0, 0)))
    paper.setTitle(page.title())
    painter = QPainter(paper)
    painter.scale(paper.width() / size[0], paper.height() / size[1])
    page.paint(painter)
    painter.end()
    return data.data()


_MAKERS: dict[str, Callable[[Sequence[AnyDocument], str, tuple[int, int]], bytes]] = {
    ".png": _png,
    ".svg": _svg,
    ".pdf": _pdf,
    ".csv": _csv,
}


def _page(documents: Sequence[AnyDocument], theme: str, size: tuple[int, int]) -> Page:
    """Qt is needed for pictures only, and no display: Qt is imported here."""
    try:
        from PySide6.QtWidgets import QApplication  # noqa: PLC0415

        from app import theme as look  # noqa: PLC0415
        from app.charts.page import Page  # noqa: PLC0415
    except ImportError as error:
        raise PongbenchError(
            f"A picture needs Qt, which this system cannot load ({error}). "
            "Run `make demo` once, or install the libraries that README names."
        ) from None
    if QApplication.instance() is None:
        # Without a reference the application would be collected while the page is painted.
        global _application  # noqa: PLW0603
        _application = QApplication(["pongbench", "-platform", "offscreen"])
    look.load_fonts()
    return Page(documents, look.THEMES[theme], size)


_application: object = None


def _write(output: Path, data: bytes) -> None:
    """The whole file or none of it."""
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=output.parent, prefix=f".{output.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            Path(name).chmod(0o666 & ~_umask())
            Path(name).replace(output)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise BadInput(
            f"The report cannot be written to {output}: {error.strerror}. Choose another place."
        ) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _size(text: str) -> tuple[int, int]:
    """ "1600x1200"."""
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is no size like 1600x1200")
    size = int(width), int(height)
    if not (800 <= size[0] <= 8000 and 600 <= size[1] <= 8000):
        raise argparse.ArgumentTypeError(f"{text} is outside 800x600 to 8000x8000")
    return size
