"""Overlaid sessions are distinguishable without colours, and every line is visible."""

from __future__ import annotations

from itertools import combinations, groupby
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app import theme
from app.charts.drawing import side_style, stroke
from app.comparing.sessions import SessionLine
from app.context import Desk
from app.pages.compare import ComparePage
from app.theme import Theme, contrast
from app.widgets import dress
from tests.recording import record_session
from tests.synthetic import session
from workbench.results.comparison import MOST

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

THEMES = pytest.mark.parametrize("colours", [theme.DARK, theme.LIGHT], ids=["dark", "light"])


def drawn(place: int, server: int) -> list[int]:
    """How long the pieces of a line of this session and its gaps are, in turn, in pixels."""
    image = QImage(600, 9, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    pen = side_style(theme.LIGHT.series(server), place, theme.LIGHT).pen(4.0)
    painter = QPainter(image)
    stroke(painter, np.array([[0.0, 4.5], [180.0, 4.5], [600.0, 4.5]]), pen)
    painter.end()
    ink = [image.pixelColor(x, 4) != QColor("white") for x in range(600)]
    return [len(list(run)) for _, run in groupby(ink)]


@pytest.mark.parametrize("server", [0, 6], ids=["solid", "dashed"])
def test_every_further_session_has_one_more_dot_in_its_dashes(server: int) -> None:
    for place in range(1, MOST):
        dash, *pieces = drawn(place, server)[::2]
        assert all(dot < dash - 2 for dot in pieces[:place])
        assert abs(pieces[place] - dash) <= 1


def test_the_first_session_has_its_servers_usual_colours() -> None:
    for server in range(12):
        assert side_style(theme.DARK.series(server), 0, theme.DARK) == theme.DARK.series(server)


@THEMES
def test_every_line_of_every_session_stands_out_from_its_card(colours: Theme) -> None:
    for place in range(MOST):
        for server in range(12):
            style = side_style(colours.series(server), place, colours)
            assert contrast(style.colour, colours.card) >= 3
            assert (style.colour == colours.series(server).colour) is (place == 0)


@THEMES
def test_one_session_three_times_has_three_lines_with_letters_and_in_the_ranking(
    qtbot: QtBot, desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, colours: Theme
) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    files = [recorded(tmp_path / f"{name}.pong.yaml") for name in "abc"]
    desk.theme = colours
    page = ComparePage(desk)
    dress(page, colours)
    qtbot.addWidget(page, before_close_func=lambda _: page)
    page.resize(1196, 800)
    with qtbot.waitExposed(page):
        page.show()
    page.compare(files)

    def keys() -> list[SessionLine]:
        return [line for line in page.findChildren(SessionLine) if line.isVisible()]

    qtbot.waitUntil(lambda: page.selection.paths() == files and len(keys()) == 3)
    rows = [row.spoken.partition(":")[0] for row in page.ranking.bars.rows]
    assert rows == [f"asyncio streams in {tag}" for tag in "ABC"]
    for one, other in combinations(map(without_colours, keys()), 2):
        assert one != other
    ranked = without_colours(page.ranking.bars)
    high = ranked.height() // 3
    lines = [ranked.copy(0, n * high, ranked.width(), high) for n in range(3)]
    assert all(one != other for one, other in combinations(lines, 2))


def recorded(path: Path) -> Path:
    return record_session(path, session(1, 6))


def without_colours(widget: QWidget) -> QImage:
    """Its left end, where its line is."""
    image = widget.grab().toImage().copy(0, 0, 34, widget.height())
    return image.convertToFormat(QImage.Format.Format_Grayscale8)
