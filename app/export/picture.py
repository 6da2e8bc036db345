"""Renders anything that can be painted as a file's content: PNG, SVG, PDF."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QRect, QSize, QSizeF
from PySide6.QtGui import QImage, QPageLayout, QPageSize, QPainter, QPdfWriter
from PySide6.QtSvg import QSvgGenerator

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


def png(paint: Paint, size: Size) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image(paint, size).save(buffer, "PNG")  # type: ignore[call-overload]
    return data.data()


def svg(paint: Paint, size: Size, title: str, description: str) -> bytes:
    """`description`: the picture as text, for those who cannot see it."""
    data = QByteArray()
    buffer = QBuffer(data)
    drawing = QSvgGenerator()
    drawing.setOutputDevice(buffer)
    drawing.setSize(QSize(*size))
    drawing.setViewBox(QRect(0, 0, *size))
    drawing.setTitle(safe(title))
    drawing.setDescription(safe(description))
    _run(paint, QPainter(drawing))
    return _tidy(data.data().decode(), size).encode()


def pdf(paint: Paint, size: Size, title: str, more: Sequence[Paint] = ()) -> bytes:
    """Paint a page of exactly this size, and `more` of them."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    paper = QPdfWriter(buffer)
    # A pixel of the page is a unit of the paper: cosmetic pens are as wide as on the screen.
    paper.setResolution(96)
    points = QSizeF(size[0] * 0.75, size[1] * 0.75)
    shape = QPageSize(points, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch)
    portrait = QPageLayout.Orientation.Portrait
    paper.setPageLayout(QPageLayout(shape, portrait, QMarginsF(0, 0, 0, 0)))
    paper.setTitle(safe(title))

    def paint_all(painter: QPainter) -> None:
        paint(painter)
        for each in more:
            paper.newPage()
            each(painter)

    _run(paint_all, QPainter(paper))
    return data.data()


def _run(paint: Paint, painter: QPainter) -> None:
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
