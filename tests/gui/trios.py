"""Charts as a user sees them."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO

from pypdf import PdfReader
from PySide6.QtCore import QPoint, QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from pytestqt.qtbot import QtBot

from app import theme
from app.charts.chart import Chart
from app.charts.model import ChartModel
from app.charts.trio import Trio
from app.export import picture
from app.live.session_view import Board
from workbench.documents import AnyDocument


def shown(
    qtbot: QtBot, documents: Iterable[AnyDocument], size: tuple[int, int] = (960, 640)
) -> Trio:
    """A chart view of this size in pixels, painted."""
    model = ChartModel()
    for document in documents:
        model(document)
    trio = Trio(model, theme.LIGHT)
    # Kept until it is closed: otherwise the garbage collector may delete it during painting.
    qtbot.addWidget(trio, before_close_func=lambda _: trio)
    trio.resize(*size)
    trio.refresh()
    with qtbot.waitExposed(trio):
        trio.show()
    trio.grab()
    return trio


def resized(trio: Trio, size: tuple[int, int]) -> None:
    """The same charts as another window would show them."""
    trio.highlight("")
    trio.resize(*size)
    trio.grab()


def written(trio: Trio) -> str:
    """All texts in the charts."""
    made = picture.pdf(lambda painter: paint(trio, painter), (trio.width(), trio.height()), "")
    return " ".join(PdfReader(BytesIO(made)).pages[0].extract_text().split())


def texts(chart: Chart) -> list[QRectF]:
    """The boxes of texts other than names: the header's, the timeout's, the ideal line's."""
    return [chart.head.box(), *chart.marks.texts()]


def paint(trio: Trio, painter: QPainter) -> None:
    trio.paint(painter, QRectF(trio.rect()))


def live_board(qtbot: QtBot) -> Board:
    """A run's charts with the side column, still without data."""
    made = Board(theme.LIGHT, live=True)
    qtbot.addWidget(made, before_close_func=lambda _: made)
    made.resize(1300, 760)
    with qtbot.waitExposed(made):
        made.show()
    return made


def rest(qtbot: QtBot, chart: Chart, at: QPoint) -> None:
    """Let the mouse rest at a pixel."""
    qtbot.mouseMove(chart.viewport(), at - QPoint(1, 0))
    qtbot.mouseMove(chart.viewport(), at)


def beside_lines(chart: Chart, rate: float) -> QPoint:
    """A pixel of the plot above a rate, far from every line."""
    plot = chart.plot_rect()
    heights = range(int(plot.top()) + 20, int(plot.bottom()) - 20, 4)
    places = (QPoint(int(chart.at(rate, 1).x()), y) for y in heights)
    return next(at for at in places if not chart.nearest(at.toPointF())[0])


def seen(chart: Chart) -> QImage:
    return chart.grab().toImage()


def near(image: QImage, at: QPointF, colour: str, *, within: int = 4) -> bool:
    """Is the colour found, nearly, at a pixel or next to it?"""
    want = QColor(colour)
    for x in range(round(at.x()) - within, round(at.x()) + within + 1):
        for y in range(round(at.y()) - within, round(at.y()) + within + 1):
            if image.valid(x, y):
                got = image.pixelColor(x, y)
                off = abs(got.red() - want.red()) + abs(got.green() - want.green())
                if off + abs(got.blue() - want.blue()) < 30:
                    return True
    return False


def colour_of(trio: Trio, server: str) -> str:
    return theme.LIGHT.series(trio.model.series[server].index).colour


def at(chart: Chart, server: str, index: int) -> QPointF:
    reading = chart.model.series[server].points[index]
    return chart.at(reading.x, reading.value(chart.quantity.value, chart.view_shown))
