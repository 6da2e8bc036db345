"""Only the area beyond the client limit is hatched, in every kind of file."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QByteArray, QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
from pytestqt.qtbot import QtBot

from app import theme
from app.charts.model import ChartModel
from app.charts.series import Quantity
from app.charts.trio import Trio
from app.export import picture
from tests.synthetic import session
from workbench.documents import Note

SIZE = (900, 640)
SHADES = [theme.DARK, theme.LIGHT]


@pytest.mark.parametrize("shade", SHADES, ids=lambda shade: shade.name)
def test_a_drawing_is_hatched_beyond_the_clients_limit_only(
    qtbot: QtBot, shade: theme.Theme
) -> None:
    model = ChartModel()
    for document in session(1, 8):
        model(document)
    model(Note(t_us=0, topic="ceiling", text="", data={"ceiling_per_s": 6000}))
    trio = Trio(model, shade)
    qtbot.addWidget(trio, before_close_func=lambda _: trio)
    trio.resize(*SIZE)
    trio.refresh()
    with qtbot.waitExposed(trio):
        trio.show()

    def paint(painter: QPainter) -> None:
        painter.fillRect(QRectF(0, 0, *SIZE), QColor(shade.card))
        trio.paint(painter, QRectF(0, 0, *SIZE))

    drawn = QImage(*SIZE, QImage.Format.Format_RGB32)
    onto = QPainter(drawn)
    QSvgRenderer(QByteArray(picture.svg(paint, SIZE, "", ""))).render(onto)
    onto.end()
    chart = trio.charts[Quantity.ERRORS]

    def colours(first: float, last: float) -> set[str]:
        """Between two rates, above every error and between the grid's lines."""
        at, end = (chart.at(rate, pct) for rate, pct in ((first, 95), (last, 80)))
        place = QPointF(chart.pos())
        area = QRectF(at + place, end + place).toAlignedRect()
        xs = range(area.left(), area.right())
        ys = range(area.top(), area.bottom())
        return {drawn.pixelColor(x, y).name() for x in xs for y in ys}

    assert colours(200, 5800) == {QColor(shade.card).name()}
    assert len(colours(6200, 8800)) > 2
