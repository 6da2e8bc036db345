"""The processes and threads of servers beside their names: in the window, in pictures, compared."""

from __future__ import annotations

from pathlib import Path

import pytest
from pypdf import PdfReader
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.context import Desk
from app.pages.compare import ComparePage
from app.scrolling import Scrolled
from tests.gui.trios import live_board
from tests.recording import record_session
from tests.reports import write_report
from tests.synthetic import session
from tests.tasks import with_tasks
from workbench.analysis.tasks import Tasks

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

TASKS = ((40, 168), (1, 1), (1, 8), (4, 4))


@pytest.mark.parametrize("servers", [7, 24])
def test_a_legend_has_them_whole_beside_each_name(qtbot: QtBot, servers: int) -> None:
    board = live_board(qtbot)
    for document in with_tasks(session(servers, 2), *TASKS):
        board.consume(document)
    board.refresh()
    tasks = [Tasks(*each, beside_several=True) for each in TASKS]
    forms = {form: n for n, each in enumerate(tasks) for form in each.in_legend}
    rows = board.side.legend.findChild(Scrolled)

    def whole() -> bool:
        """Whether each is there, and neither cut nor wider than the list."""
        found = [each for each in rows.findChildren(QLabel) if each.text() in forms]
        width = rows.viewport().width()
        return sorted(forms[each.text()] for each in found) == [0, 1, 2, 3] and all(
            each.width() >= each.fontMetrics().horizontalAdvance(each.text())
            and each.parentWidget().width() <= width
            and Tasks(*TASKS[forms[each.text()]]).text in each.parentWidget().toolTip()
            for each in found
        )

    qtbot.waitUntil(whole)


def test_a_picture_and_its_description_have_them(tmp_path: Path) -> None:
    recorded = record_session(tmp_path / "a.yaml", with_tasks(session(5, 2), *TASKS))
    write_report(recorded, tmp_path / "a.pdf")
    (page,) = PdfReader(tmp_path / "a.pdf").pages
    words = " ".join(page.extract_text().split())
    for each in ("40 proc", "8 threads", "4 processes"):
        assert each in words
    write_report(recorded, tmp_path / "a.svg")
    assert "(40 processes, 168 threads)" in (tmp_path / "a.svg").read_text()
    write_report(recorded, tmp_path / "a.html")
    html = (tmp_path / "a.html").read_text()
    assert "40 (168 threads)" in html and "1 process, 8 threads" in html


def test_compared_servers_have_them(qtbot: QtBot, desk: Desk, tmp_path: Path) -> None:
    page = ComparePage(desk)
    qtbot.addWidget(page)
    page.resize(1196, 800)
    with qtbot.waitExposed(page):
        page.show()
    recorded = record_session(tmp_path / "a.yaml", with_tasks(session(3, 2), *TASKS))
    page.compare([recorded])
    qtbot.waitUntil(lambda: len(page.ranking.bars.rows) == 3)
    spoken = [row.spoken for row in page.ranking.bars.rows]
    assert sorted("process" in each or "threads" in each for each in spoken) == [1, 1, 1]
