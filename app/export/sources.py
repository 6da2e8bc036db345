"""The sources of an export: a recorded session, or charts as they are shown."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.charts.trio import Trio
from app.charts.view_state import SWEEP, Look, Showing
from app.export import command, picture, report
from app.export.options import SIZE
from app.export.picture import framed
from app.widgets import column, frame, label
from workbench import paths
from workbench.analysis.series import View
from workbench.errors import PongbenchError

_SHOWN_FOR_MS = 2500
_PAPER = 1123, 794
"""A4 landscape, in pixels of 1/96 inch."""

KINDS = {
    ".html": "HTML report",
    ".png": "PNG image",
    ".svg": "SVG drawing",
    ".pdf": "PDF page",
    ".csv": "CSV table of every point",
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
    kinds = tuple(KINDS)

    def write(self, output: Path, theme: str, *, notes: bool = False) -> Coroutine[Any, Any, str]:
        """Return the work for the engine's thread; its result is a remark, empty: none. Paper is
        light. Raises PongbenchError.
        """
        kind = output.suffix.lower()
        theme, (width, height) = ("light", _PAPER) if kind == ".pdf" else (theme, SIZE)
        # An HTML page has all views, so it is the sweep that has a part and a metric there.
        look = [] if kind == ".html" else self.look.arguments()
        own = bool(look) or self.look.view == SWEEP
        arguments = [
            *("report", str(self.path.absolute()), "-o", str(output), "--theme", theme),
            *("--size", f"{width}x{height}", "--percentile", self.view.percentile),
            *("--clock", self.view.clock, "--newer"),
            *(["--metric", self.view.metric] if self.view.metric and own else []),
            *(["--notes"] if notes else []),
            *(look or command.showing_arguments(self.showing)),
        ]
        return _run(arguments, output)


@dataclass(frozen=True)
class Charts:
    trio: Trio
    title: str
    caption: str = ""
    arguments: Sequence[str] = ()
    """Of the command that writes a page or a table of them; empty: none does."""
    look: Look = field(default_factory=Look)
    """The view that a table has."""
    notes: str = ""

    @property
    def kinds(self) -> tuple[str, ...]:
        drawn = ".png", ".svg", ".pdf"
        return (".html", *drawn, ".csv") if self.arguments else drawn

    def write(self, output: Path, theme: str, *, notes: bool = False) -> Coroutine[Any, Any, str]:
        """Draw at once, in the GUI's thread, unless another process does; the returned work writes
        the file. Raises BadInput."""
        kind = output.suffix.lower()
        if kind in (".html", ".csv"):
            view, look = self.trio.view, self.look.arguments() if kind == ".csv" else []
            shown = "--percentile", view.percentile, "--clock", view.clock
            return _run([*self.arguments, *look, *shown, "-o", str(output)], output)
        paint, size = framed(self.trio, self.title, self.caption)
        data = picture.encoded(kind, paint, size, self.title)
        return asyncio.to_thread(_write, output, data)


def copy_chart(trio: Trio, title: str = "") -> None:
    """Copy the visible charts to the clipboard, as a picture and as SVG."""
    paint, size = framed(trio, title)
    clipboard = QGuiApplication.clipboard()
    # Not our own QMimeData: the offscreen platform deletes it after Python has ended, and crashes.
    clipboard.setImage(picture.image(paint, size))
    drawing = QByteArray(picture.svg(paint, size, title, ""))
    clipboard.mimeData().setData("image/svg+xml", drawing)
    flash(trio, "Charts copied.")


def flash(over: QWidget, text: str) -> None:
    """Show a message for a moment at the top of a widget."""
    card = frame("floating")
    card.setParent(over)
    column(card, label(text), margin=10)
    card.setAccessibleName(text)
    card.adjustSize()
    card.move((over.width() - card.width()) // 2, 6)
    card.show()
    card.raise_()
    QTimer.singleShot(_SHOWN_FOR_MS, card, card.deleteLater)


def _write(output: Path, data: bytes) -> str:
    report.write(output, data)
    return ""


async def _run(arguments: list[str], output: Path) -> str:
    """Run this same installation in another process, wherever the window was started."""
    process = await asyncio.create_subprocess_exec(
        *paths.program(),
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        said, stderr = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    lines = stderr.decode(errors="replace").strip().splitlines() or [""]
    remark = lines[-1].removeprefix("pongbench: ")
    if not said:  # what it wrote, which it may have done although it ends with a failure
        raise PongbenchError(remark or f"Nothing was written to {output}.")
    return remark
