"""Leaders within a plot, from a text to its point."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from pytestqt.qtbot import QtBot

from app.charts.drawing import draw_leader

CLEAR = 10.0


def inked(to_x: float) -> list[int]:
    """Where a leader from a text that ends at x = 50 is drawn, which leads to a point to its right.
    The space around the point is `CLEAR` wide.
    """
    picture = QImage(200, 20, QImage.Format.Format_RGB32)
    picture.fill(QColor("black"))
    painter = QPainter(picture)
    draw_leader(painter, QRectF(10, 5, 40, 10), QPointF(to_x, 10), "#ffffff", CLEAR, 1.0)
    painter.end()
    return [x for x in range(200) if picture.pixelColor(x, 10).lightness() > 128]


@pytest.mark.parametrize("gap", [0, 12, 17])
def test_a_text_beside_its_point_has_none(qtbot: QtBot, gap: int) -> None:
    assert not inked(50 + gap)


def test_a_short_one_is_whole_and_leaves_the_point_clear(qtbot: QtBot) -> None:
    found = inked(50 + 28)
    assert 17 <= len(found) <= 19
    assert found == list(range(found[0], found[-1] + 1))
    assert found[-1] <= 50 + 28 - CLEAR


def test_a_long_one_cannot_be_taken_for_a_line_of_data(qtbot: QtBot) -> None:
    found = inked(50 + 90)
    assert found[0] <= 51 and 50 + 90 - CLEAR - 4 <= found[-1] <= 50 + 90 - CLEAR
    assert all(x + 1 not in found for x in found), "dots"
