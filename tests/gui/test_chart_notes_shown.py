"""Notes on the charts: written, kept beside the session, shown and exported."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfReader
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from app.charts.series import Quantity
from app.dialogs import Confirmation
from app.pages.film import FilmPage
from tests.gui.trios import texts, written
from tests.gui.windows import answer, shown, the
from tests.recording import record_session
from tests.reports import write_report
from tests.synthetic import session
from workbench.sessions.chart_notes import ChartNote, ChartNotes

# The offscreen platform says so of windows with a least size, and of menus.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", "does not support")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return record_session(tmp_path / "my.pong.yaml", session(2, 8))


@pytest.fixture
def film(qtbot: QtBot, path: Path) -> Iterator[FilmPage]:
    with shown(qtbot) as window:
        window.open(path)
        qtbot.waitUntil(lambda: window.film.isVisible() and window.film.board.model.over)
        yield window.film


def write(qtbot: QtBot, film: FilmPage, text: str) -> None:
    answer(film.window(), text, "Save")
    known = text in ("", *(note.text for note in film.board.trio.notes))
    qtbot.waitUntil(lambda: known or text in [note.text for note in film.board.trio.notes])


def test_a_note_at_the_selected_point_is_stored_next_to_the_session(
    qtbot: QtBot, film: FilmPage, path: Path
) -> None:
    trio = film.board.trio
    plain = trio.charts[Quantity.REPLIES].grab().toImage()
    trio.highlight("asyncio-streams", 4500.0)
    qtbot.keyClick(trio, Qt.Key.Key_N)
    write(qtbot, film, "Garbage was collected here.")
    assert ChartNotes(path).read() == [
        ChartNote(4500.0, "Garbage was collected here.", "asyncio-streams")
    ]
    trio.highlight("")
    assert trio.charts[Quantity.REPLIES].grab().toImage() != plain
    trio.highlight("asyncio-streams", 4500.0)
    qtbot.keyClick(trio, Qt.Key.Key_N)
    assert the(the(film.window(), Confirmation), QLineEdit).text() == "Garbage was collected here."
    answer(film.window(), "", "Save")
    qtbot.waitUntil(lambda: not trio.notes)
    assert ChartNotes(path).read() == []


def test_the_menu_offers_a_note_at_the_cursor_only(qtbot: QtBot, film: FilmPage) -> None:
    def offered() -> tuple[str, bool]:
        trio.menu_wanted.emit(trio.mapToGlobal(QPoint(200, 200)))
        menu = the(film.window(), QMenu)
        found = [(a.text(), a.isEnabled()) for a in menu.actions() if a.text().startswith("Note")]
        menu.close()
        return found[0]

    trio = film.board.trio
    assert offered() == ("Note…\tN", False)
    trio.highlight("asyncio-streams", 4500.0)
    assert offered() == ("Note at 4,500/s, asyncio streams…\tN", True)


def test_a_note_near_the_edge_is_whole(film: FilmPage) -> None:
    trio = film.board.trio
    chart = trio.charts[Quantity.REPLIES]
    drawn = chart.clip_rect()
    for rate in [point.x for point in trio.model.series["asyncio-streams"].points]:
        trio.set_notes([ChartNote(rate, "Garbage was collected.")])
        ((*_, text, box),) = chart.marks.notes()
        assert text == "Garbage was collected."
        assert drawn.left() <= box.left() < box.right() <= drawn.right()


def test_the_text_of_the_ideal_line_covers_no_note(film: FilmPage) -> None:
    trio = film.board.trio
    chart = trio.charts[Quantity.REPLIES]
    assert "ideal: every call answered" in written(trio)
    for rate in [point.x for point in trio.model.series["asyncio-streams"].points]:
        trio.set_notes([ChartNote(rate, "Garbage was collected.")])
        assert "Garbage was collected." in written(trio)
        ((*_, note),) = chart.marks.notes()
        assert not any(note.intersects(each) for each in texts(chart)[1:])


def test_exports_have_them_as_texts(path: Path, tmp_path: Path) -> None:
    ChartNotes(path).put("abc", ChartNote(2250.0, "Quiet <b>until</b> here."))
    ChartNotes(path).put("abc", ChartNote(4500.0, "The log grew.", "asyncio-streams"))
    write_report(path, tmp_path / "a.pdf")
    page = PdfReader(BytesIO((tmp_path / "a.pdf").read_bytes())).pages[0].extract_text()
    said = " ".join(page.split())
    assert "1 2,250/s: Quiet <b>until</b> here." in said
    assert "2 4,500/s, asyncio streams: The log grew." in said
    write_report(path, tmp_path / "a.html")
    html = (tmp_path / "a.html").read_text()
    assert "<li>1  2,250/s: Quiet &lt;b&gt;until&lt;/b&gt; here.</li>" in html
