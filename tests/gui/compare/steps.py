"""Sessions to compare, and what a user does and sees on the page, as test steps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QAbstractButton, QComboBox, QWidget
from pytestqt.qtbot import QtBot

from app.charts.series import Quantity
from app.comparing.figures import FiguresView
from app.context import Desk
from app.pages.compare import ComparePage
from app.widgets import dress
from tests.gui.windows import name_of
from tests.outcomes import Contestant
from tests.synthetic import contestants
from workbench.documents import AnyDocument, RunStart

RATES = [1000.0 * n for n in range(1, 10)]
R = Quantity.REPLIES


def slower(count: int, by: float) -> list[Contestant]:
    return [replace(c, capacity_per_s=c.capacity_per_s * by) for c in contestants(count)]


def elsewhere(documents: list[AnyDocument], **plan: Any) -> list[AnyDocument]:
    """The same on another kernel, with another plan where asked."""
    start = documents[0]
    assert isinstance(start, RunStart)
    (machine,) = start.machines
    machine = msgspec.structs.replace(machine, facts=machine.facts | {"kernel": "Linux 5.10"})
    changed = start.plan | {"name": "Old kernel"} | plan
    return [
        msgspec.structs.replace(start, machines=[machine], plan=changed, axis=None),
        *documents[1:],
    ]


def built(qtbot: QtBot, desk: Desk) -> ComparePage:
    made = ComparePage(desk)
    dress(made, desk.theme)
    qtbot.addWidget(made)
    made.resize(1196, 800)
    with qtbot.waitExposed(made):
        made.show()
    return made


def compare(qtbot: QtBot, page: ComparePage, *files: Path) -> None:
    page.compare(list(files))
    holds(qtbot, page, *files)


def holds(qtbot: QtBot, page: ComparePage, *files: Path) -> None:
    """Wait until these sessions are compared in this order and visible."""
    qtbot.waitUntil(lambda: page.selection.paths() == list(files))
    cards = page.sessions.isVisibleTo(page)
    qtbot.waitUntil(lambda: not cards or len(unfolding(page)) == len(files))


def unfolding(page: ComparePage) -> list[QAbstractButton]:
    """The visible buttons that unfold a session's servers."""
    buttons = page.sessions.findChildren(QAbstractButton)
    return [b for b in buttons if name_of(b).startswith("Servers of") and b.isVisible()]


def ranking(page: ComparePage) -> list[str]:
    """The texts of the rows, from top to bottom."""
    bars = page.ranking.bars
    return [row.spoken for row in bars.rows] if bars.isVisibleTo(page) else []


def pixel(
    page: ComparePage, key: str, rate: float, quantity: Quantity = R
) -> tuple[QImage, QPointF]:
    chart = page.trio.charts[quantity]
    series = page.trio.model.series[key]
    (value,) = [r.value(quantity.value, page.trio.view) for r in series.points if r.x == rate]
    return chart.grab().toImage(), chart.at(rate, value)


def near(image: QImage, at: QPointF, colour: str, within: int = 3) -> bool:
    want = QColor(colour)
    for x in range(round(at.x()) - within, round(at.x()) + within + 1):
        for y in range(round(at.y()) - within, round(at.y()) + within + 1):
            got = image.pixelColor(x, y)
            parts = zip(got.getRgb()[:3], want.getRgb()[:3], strict=True)
            if all(abs(p - q) <= 12 for p, q in parts):
                return True
    return False


def cell(view: FiguresView, line: int, title: str) -> str:
    found = view.table.model()
    heads = [found.headerData(n, Qt.Orientation.Horizontal) for n in range(found.columnCount())]
    return str(found.index(line, heads.index(title)).data())


def choose(box: QComboBox, text: str) -> None:
    place = box.findText(text)
    assert place >= 0, [box.itemText(n) for n in range(box.count())]
    box.setCurrentIndex(place)
    box.activated.emit(place)


def combo(page: QWidget, name: str) -> QComboBox:
    (found,) = [box for box in page.findChildren(QComboBox) if box.accessibleName() == name]
    return found
