"""Charts as a user sees them."""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO

from pypdf import PdfReader
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter
from pytestqt.qtbot import QtBot

from app import theme
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


def written(trio: Trio) -> str:
    """All texts in the charts."""
    made = picture.pdf(lambda painter: paint(trio, painter), (trio.width(), trio.height()), "")
    return " ".join(PdfReader(BytesIO(made)).pages[0].extract_text().split())


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
