"""Charts, and anything else that can be painted, as the content of a file: PNG, SVG, PDF."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QPointF, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QImage, QPageLayout, QPageSize, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgGenerator

from app.charts.drawing import draw_text, elided
from app.charts.trio import Trio
from app.theme import Weight, font
from workbench.untrusted import safe

Paint: TypeAlias = Callable[[QPainter], None]
Size: TypeAlias = tuple[int, int]
"""Width and height in the painter's units."""

RATIO = 2
"""Device pixels per pixel of a PNG."""


def image(paint: Paint, size: Size) -> QImage:
    """Paint an image with `RATIO` pixels per unit."""
    made = QImage(size[0] * RATIO, size[1] * RATIO, QImage.Format.Format_RGB32)
    made.setDevicePixelRatio(RATIO)
    _run(paint, QPainter(made))
    return made


def png(paint: Paint, size: Size, *, small: bool = False) -> bytes:
    """`small`: of 256 colours, a quarter of the bytes."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    made = image(paint, size)
    if small:
        plain = Qt.ImageConversionFlag.ThresholdDither | Qt.ImageConversionFlag.AvoidDither
        made = made.convertToFormat(QImage.Format.Format_Indexed8, plain)
    made.save(buffer, "PNG")  # type: ignore[call-overload]
    return buffer.data().data()


def svg(paint: Paint, size: Size, title: str, description: str) -> bytes:
    """`description`: the picture as text, for those who cannot see it."""
    buffer = QBuffer()
    drawing = QSvgGenerator()
    drawing.setOutputDevice(buffer)
    drawing.setSize(QSize(*size))
    drawing.setViewBox(QRect(0, 0, *size))
    drawing.setTitle(safe(title))
    drawing.setDescription(safe(description))
    _run(paint, QPainter(drawing))
    # Qt ends lines as the system does; a page that holds this has one kind of line end.
    return _tidy(buffer.data().data().decode().replace("\r\n", "\n"), size).encode()


def pdf(paint: Paint, size: Size, title: str) -> bytes:
    """Paint a page of exactly this size."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    paper = QPdfWriter(buffer)
    # A pixel of the page is a unit of the paper: cosmetic pens are as wide as on the screen.
    paper.setResolution(96)
    points = QSizeF(size[0] * 0.75, size[1] * 0.75)
    shape = QPageSize(points, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch)
    portrait = QPageLayout.Orientation.Portrait
    paper.setPageLayout(QPageLayout(shape, portrait, QMarginsF(0, 0, 0, 0)))
    paper.setTitle(safe(title))

    _run(paint, QPainter(paper))
    return buffer.data().data()


def encoded(kind: str, paint: Paint, size: Size, title: str, about: str = "") -> bytes:
    """Return the content of a picture with this ending. `about`: it in words, of SVG."""
    if kind == ".png":
        return png(paint, size)
    return svg(paint, size, title, about) if kind == ".svg" else pdf(paint, size, title)


def _run(paint: Paint, painter: QPainter) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    try:
        paint(painter)
    finally:
        painter.end()


def _tidy(drawn: str, size: Size) -> str:
    """Set the size in pixels (Qt rounds it to millimetres), and round coordinates to hundredths."""
    drawn = re.sub(
        r'width="[\d.]+mm" height="[\d.]+mm"', f'width="{size[0]}" height="{size[1]}"', drawn
    )
    short = re.compile(r"-?\d+\.\d{3,}")

    def shorten(outline: re.Match[str]) -> str:
        return short.sub(lambda number: f"{float(number[0]):.2f}", outline[0])

    return re.sub(r' (?:d|points)="[^"]*"', shorten, drawn)


MARGIN = 24
_HEAD, _CAPTION = 34, 20
"""Heights of the title and of the line below it, in pixels."""


def head(title: str, caption: str, scale: float = 1.0) -> int:
    """Return the height above the charts, without the margin."""
    return round(scale * (_HEAD * bool(title) + _CAPTION * bool(caption)))


def framed(trio: Trio, title: str, caption: str = "", *, scale: float = 1.0) -> tuple[Paint, Size]:
    """Return the painting of charts as they are, and its size. `caption`: explains them; `scale`:
    of the text above them, as of theirs."""
    above = head(title, caption, scale)
    size = trio.width() + 2 * MARGIN, trio.height() + 2 * MARGIN + above
    big, plain = font(18 * scale, Weight.DemiBold), font(12 * scale)

    def paint(painter: QPainter) -> None:
        painter.fillRect(QRectF(0, 0, *size), QColor(trio.theme.card))
        at = QPointF(MARGIN + 1, MARGIN + 8 * scale)
        draw_text(painter, at, elided(title, big, trio.width()), big, trio.theme.text)
        at += QPointF(0, (_HEAD - 8) * scale)
        draw_text(painter, at, elided(caption, plain, trio.width()), plain, trio.theme.soft)
        trio.paint(painter, QRectF(MARGIN, MARGIN + above, trio.width(), trio.height()))

    return paint, size
