"""The sources of an export: a recorded session, or charts as they are shown."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QPointF, QRectF, QTimer
from PySide6.QtGui import QColor, QGuiApplication, QPainter
from PySide6.QtWidgets import QWidget

from app.charts.drawing import draw_text, elided
from app.charts.looks import SWEEP, Look
from app.charts.series import Quantity
from app.charts.showing import Showing
from app.charts.trio import Trio
from app.export import picture, report, report_command
from app.export.report import ReportOptions
from app.theme import Weight, font
from app.widgets import column, frame, label
from workbench.analysis.results import View
from workbench.errors import PongbenchError

_SHOWN_FOR_MS = 2500
_MARGIN, _HEAD = 24, 34
"""Margins of a picture, in pixels."""


@dataclass(frozen=True)
class Kind:
    """A kind of exported file."""

    name: str
    about: str
    is_picture: bool = False


KINDS: dict[str, Kind] = {
    ".html": Kind("HTML", "Report with charts, tables and conditions"),
    ".png": Kind("PNG", "Image at twice the size, for slides and chats", True),
    ".svg": Kind("SVG", "Vector image, sharp at every size", True),
    ".pdf": Kind("PDF", "For print and papers", True),
    ".csv": Kind("CSV", "Every point with all figures"),
    ".hgrm": Kind("HGRM", "Response times of one point, for HdrHistogram's tools"),
}
"""The kinds of files by their endings."""


@dataclass(frozen=True)
class Recorded:
    """A session's file. A separate process draws it, so that the window stays responsive."""

    path: Path
    title: str
    notes: str = ""
    view: View = field(default_factory=View)
    """What its charts show."""
    showing: Showing = field(default_factory=Showing)
    """Which part of them, on which scales."""
    look: Look = field(default_factory=Look)
    """Which view they show."""
    server: str = ""
    """Whose distribution an .hgrm file has; empty: there is none to write."""
    at: float | None = None
    """The value of the axis of that distribution; None: the server's sustained one."""

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind in KINDS if kind != ".hgrm" or self.server)

    def write(self, output: Path, options: ReportOptions) -> Coroutine[Any, Any, str]:
        """Return the work for the engine's thread; its result is a remark, empty: none. Raises
        PongbenchError.
        """
        width, height = options.size
        # An HTML page has all views, so it is the sweep that has a part and a metric there.
        whole = output.suffix.lower() in (".html", ".hgrm")
        look = [] if whole else self.look.arguments()
        own = bool(look) or self.look.view == SWEEP
        metric = options.view.metric if own else ""
        arguments = [
            *("report", str(self.path.absolute()), "-o", str(output), "--theme", options.theme),
            *("--size", f"{width}x{height}", "--percentile", options.view.percentile),
            *("--clock", options.view.clock, "--newer"),
            *(["--metric", metric] if metric else []),
            *(["--notes"] if options.notes else []),
            *(look or report_command.showing_arguments(options.showing)),
            *self._distribution(output),
        ]
        return _run(arguments, output)

    def _distribution(self, output: Path) -> list[str]:
        if output.suffix.lower() != ".hgrm":
            return []
        return ["--server", self.server, *([] if self.at is None else [f"--at={self.at!r}"])]


@dataclass(frozen=True)
class Charts:
    """Charts as they are on the screen; `points` returns their figures as CSV, if available."""

    trio: Trio
    title: str
    points: Callable[[], str] | None = None
    notes: str = ""

    @property
    def view(self) -> View:
        return self.trio.view

    @property
    def showing(self) -> Showing:
        return self.trio.showing

    @property
    def kinds(self) -> tuple[str, ...]:
        return (".png", ".svg", ".pdf", *((".csv",) if self.points else ()))

    def write(self, output: Path, options: ReportOptions) -> Coroutine[Any, Any, str]:
        """Draw at once, in the GUI's thread; the returned work writes the file. Raises BadInput."""
        kind = output.suffix.lower()
        paint, size = _painted(self.trio, self.title)
        if kind == ".csv" and self.points is not None:
            data = self.points().encode()
        elif kind == ".png":
            data = picture.png(paint, size)
        elif kind == ".svg":
            data = picture.svg(paint, size, self.title, "")
        else:
            data = picture.pdf(paint, size, self.title)
        return asyncio.to_thread(_write, output, data)


def copy_chart(trio: Trio, title: str = "") -> None:
    """Copy the visible charts to the clipboard, as a picture and as SVG."""
    paint, size = _painted(trio, title)
    clipboard = QGuiApplication.clipboard()
    # Not our own QMimeData: the offscreen platform deletes it after Python has ended, and crashes.
    clipboard.setImage(picture.image(paint, size))
    drawing = QByteArray(picture.svg(paint, size, title, ""))
    clipboard.mimeData().setData("image/svg+xml", drawing)
    _flash(trio, "Charts copied.")


def _flash(over: QWidget, text: str) -> None:
    """Show a message for a moment at the top of a widget."""
    card = frame("floating")
    card.setParent(over)
    column(card, margin=10).addWidget(label(text))
    card.setAccessibleName(text)
    card.adjustSize()
    card.move((over.width() - card.width()) // 2, 6)
    card.show()
    card.raise_()
    QTimer.singleShot(_SHOWN_FOR_MS, card, card.deleteLater)


def _painted(trio: Trio, title: str) -> tuple[picture.Paint, picture.Size]:
    """Return the painting of the charts with a margin and a title, and its size."""
    head = _HEAD if title else 0
    size = trio.width() + 2 * _MARGIN, trio.height() + 2 * _MARGIN + head
    theme = trio.charts[Quantity.REPLIES].theme
    big = font(18, Weight.DemiBold)

    def paint(painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(QRectF(0, 0, *size), QColor(theme.card))
        at = QPointF(_MARGIN + 1, _MARGIN + 8)
        draw_text(painter, at, elided(title, big, trio.width()), big, theme.text)
        trio.paint(painter, QRectF(_MARGIN, _MARGIN + head, trio.width(), trio.height()))

    return paint, size


def _write(output: Path, data: bytes) -> str:
    report.check_output(output)
    report.write(output, data)
    return ""


def _stamp(output: Path) -> object:
    """Return a value that changes with the file."""
    try:
        status = output.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


async def _run(arguments: list[str], output: Path) -> str:
    """Run this same installation in another process, wherever the window was started."""
    frozen = getattr(sys, "frozen", False)
    # -P: the working directory may contain another folder named app.
    program = [sys.executable] if frozen else [sys.executable, "-P", "-m", "app"]
    before = await asyncio.to_thread(_stamp, output)
    process = await asyncio.create_subprocess_exec(
        *program,
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, stderr = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    lines = stderr.decode(errors="replace").strip().splitlines() or [""]
    remark = lines[-1].removeprefix("pongbench: ")
    after = await asyncio.to_thread(_stamp, output)
    if after is None or after == before:
        raise PongbenchError(remark or f"Nothing was written to {output}.")
    return remark
