"""The running point is visible in all three charts, and its server named at its height."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QImage, QPixmap
from pytestqt.qtbot import QtBot

from app import theme
from app.charts.model import ChartModel
from app.charts.series import Quantity
from app.charts.trio import Trio
from tests.gui.trios import live_board
from tests.synthetic import session
from workbench.documents import AnyDocument, PointStart, Window

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def with_open_calls(documents: list[AnyDocument], number: int) -> list[AnyDocument]:
    """Cut within the sweep's point `number`, half of whose calls are still open."""
    starts = [d for d in documents if isinstance(d, PointStart) and d.purpose == "sweep"]
    first = documents.index(starts[number]) + 1
    windows = [d for d in documents[first:] if isinstance(d, Window)][:4]
    return documents[:first] + [replace(w, replies=w.due // 2, errors={}) for w in windows]


@pytest.mark.parametrize("number", [1, 4, 7])
def test_the_server_that_runs_is_named_at_the_height_of_its_point(
    qtbot: QtBot, number: int
) -> None:
    model = ChartModel()
    for document in with_open_calls(session(1, 8), number):
        model(document)
    trio = Trio(model, theme.LIGHT)
    qtbot.addWidget(trio, before_close_func=lambda _: trio)
    trio.resize(820, 540)
    trio.refresh()
    with qtbot.waitExposed(trio):
        trio.show()
    trio.grab()
    running = model.running
    assert running is not None
    assert running.errors_pct == pytest.approx((0, 50), abs=1)
    for quantity, chart in trio.charts.items():
        where = chart.running_at()
        heights = [where.y()] if where is not None else []
        if quantity is Quantity.ERRORS:
            heights = [chart.at(running.x, pct).y() for pct in (0, 50)]
        elif where is None:
            continue  # its line ends at the point before
        (name,) = chart.names.placed
        assert name.x > chart.plot_rect().right()
        assert min(heights) - 12 <= name.y <= max(heights) + 12


def test_live_charts_show_the_same_as_charts_that_are_painted_anew(qtbot: QtBot) -> None:
    """Of a live update only what it concerns is painted."""
    board = live_board(qtbot)
    trio = board.trio

    def differs() -> int:
        at = trio.mapTo(board, QPoint())
        on_screen = board.screen().grabWindow(board.winId()).toImage()
        shown, anew = channels(on_screen.copy(QRect(at, trio.size()))), channels(trio.grab())
        return int(np.abs(shown - anew).max())

    for number, document in enumerate(session(3, 8)):
        board.consume(document)
        board.refresh()
        if number % 40 == 20:
            # A picture of the widget takes away what is still to be painted on the screen.
            for _ in range(20):
                qtbot.wait(10)
            # Qt rounds a little differently at the edge of what it paints, and in kept pictures.
            assert differs() <= 8


def channels(picture: QImage | QPixmap) -> NDArray[np.int16]:
    image = picture.toImage() if isinstance(picture, QPixmap) else picture
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    return np.frombuffer(image.constBits(), np.uint8).astype(np.int16)
