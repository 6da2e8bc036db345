"""The preview of a plan: what it shows, where, and how that looks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec import structs
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from app.pages.plan import PlanPage
from app.planning.plan_charts import SweepPicture
from app.planning.preview import Heading, Share
from app.shell.main_window import MainWindow
from app.theme import LIGHT
from tests.gui.plan.steps import SHORT, edit, in_sight, resize, write
from tests.gui.windows import name_of, painted, says, the
from workbench.plan.editing import Step
from workbench.plan.model import Range
from workbench.plan.reading import load_plan

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

STEPS = [
    Step(0.0, 1.0, 500.0, 0, "warm_up", "500/s"),
    *(Step(n, n + 1.0, 1_000.0 * n, 900 * n, "sweep", f"{n},000/s") for n in range(3, 9)),
]


def lightness_of_ink(page: PlanPage, widget: QWidget) -> int:
    """Of the darkest pixel of a part of the preview, in the light theme."""
    box = QRect(widget.mapTo(page.outlook, QPoint()), widget.size())
    return min(colour.lightness() for colour in _pixels(page.outlook.grab(box).toImage()))


def _pixels(image: QImage) -> Iterator[QColor]:
    return (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))


def colours(widget: QWidget) -> set[str]:
    return {colour.name() for colour in _pixels(widget.grab().toImage())}


def test_problems_stand_above_the_preview_and_are_in_sight(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    resize(qtbot, window, 960, 620)
    edit(qtbot, page, structs.replace(SHORT, rates=Range(from_=100, to=200, step=100)))
    for field in ("rates.from", "rates.to"):
        write(qtbot, page, field, "")
    problem = next(
        each
        for each in page.outlook.findChildren(QLabel)
        if name_of(each).startswith("Lowest rate: ")
    )
    qtbot.waitUntil(lambda: in_sight(problem))


def test_values_of_the_last_valid_plan_are_pale(qtbot: QtBot, page: PlanPage) -> None:
    edit(qtbot, page, SHORT)
    figure = the(page.outlook, QLabel, "Points: 4")
    before = lightness_of_ink(page, figure)
    write(qtbot, page, "seconds", "soon")
    assert says(page, "Points: 4")
    assert lightness_of_ink(page, figure) > before + 50
    write(qtbot, page, "seconds", "1")
    assert lightness_of_ink(page, figure) == before


def test_hints_are_whole_in_a_narrow_preview(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    resize(qtbot, window, 960, 620)
    edit(qtbot, page, load_plan("peak"))
    hints = [
        heading.hint for heading in page.outlook.findChildren(Heading) if heading.hint.isVisible()
    ]
    said = [hint.text() for hint in hints]
    assert all(hint.height() >= hint.heightForWidth(hint.width()) for hint in hints)
    assert any(text.startswith("example, 1 of 7 searches") for text in said)


def test_a_resource_is_amber_only_where_it_does_not_suffice(qtbot: QtBot) -> None:
    share = Share("File descriptors", "of those there are")
    qtbot.addWidget(share)
    share.resize(300, share.height())
    share.show_share(19_200, 19_936)
    assert QColor(LIGHT.warn).name() not in colours(share)
    share.show_share(21_000, 19_936)
    assert QColor(LIGHT.warn).name() in colours(share)


def test_the_warm_up_is_named(qtbot: QtBot) -> None:
    sweep = SweepPicture()
    qtbot.addWidget(sweep)
    sweep.resize(600, 200)
    sweep.show_steps(STEPS[1:], timed=True)
    assert "warm-up" not in painted(sweep)
    sweep.show_steps(STEPS, timed=True)
    assert "warm-up" in painted(sweep)


def test_no_line_of_the_plan_file_is_wrapped(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    resize(qtbot, window, 960, 620)
    edit(qtbot, page, load_plan("piel-2009-sockets"))
    page.outlook.show_file()
    text = the(page.outlook, QPlainTextEdit)
    qtbot.waitUntil(lambda: "servers:" in text.toPlainText())
    document = text.document()
    longest = max(text.toPlainText().splitlines(), key=len)
    assert text.fontMetrics().horizontalAdvance(longest) > text.viewport().width()
    blocks = [document.findBlockByNumber(n) for n in range(document.blockCount())]
    assert {block.lineCount() for block in blocks} == {1}
