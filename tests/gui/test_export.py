"""Exports: files that open, and messages where they cannot be written."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from pypdf import PdfReader
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QGuiApplication, QImage
from PySide6.QtWidgets import QAbstractButton, QFileDialog, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app import theme
from app.charts.model import ChartModel
from app.charts.trio import Trio
from app.charts.view_state import Look
from app.context import Desk
from app.export.dialog import ask, export, shown_session
from app.export.sources import Charts, Recorded, copy_chart
from app.pages.film import FilmPage
from app.sessions.thumbnail import outline
from tests.recording import record_session
from tests.synthetic import session
from workbench.documents import VERSION
from workbench.errors import BadInput
from workbench.sessions import read_session
from workbench.sessions.recorder import claim

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

PATIENCE_MS = 60_000


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "a.pong.yaml"
    return record_session(path, session(2, 4, seconds=1.0))


@pytest.fixture
def trio(qtbot: QtBot) -> Trio:
    model = ChartModel()
    for document in session(3, 6, seconds=1.0):
        model(document)
    made = Trio(model, theme.LIGHT)
    qtbot.addWidget(made)
    made.resize(900, 620)
    made.show()
    made.refresh()
    return made


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.fixture
def written(qtbot: QtBot, desk: Desk) -> Callable[..., str]:
    """Writes a source to a file; returns what the window says of it."""
    notices: list[str] = []
    desk.notice.connect(lambda sentence, _tone: notices.append(sentence))

    def write(source: Recorded | Charts, output: Path, *, notes: bool = False) -> str:
        notices.clear()
        export(desk, source, output, notes=notes)
        qtbot.waitUntil(lambda: bool(notices), timeout=PATIENCE_MS)
        (notice,) = notices
        return notice

    return write


@pytest.mark.parametrize("ending", [".html", ".png", ".csv"])
def test_a_session_is_written_where_it_was_asked_for(
    desk: Desk, written: Callable[..., str], recorded: Path, tmp_path: Path, ending: str
) -> None:
    output = tmp_path / "none" / f"out{ending}"  # a folder that is missing is created
    assert written(Recorded(recorded, "Two servers", "Mine"), output) == f"Saved: {output}."
    data = output.read_bytes()
    if ending == ".html":
        assert b"asyncio streams" in data
    elif ending == ".png":
        assert QImage.fromData(data).size() == QSize(3200, 2400)
    else:
        assert len(list(csv.DictReader(data.decode().splitlines()))) == 2 * 4


def test_a_page_of_paper_is_a4(written: Callable[..., str], recorded: Path, tmp_path: Path) -> None:
    written(Recorded(recorded, "Two servers"), tmp_path / "out.pdf")
    (page,) = PdfReader(tmp_path / "out.pdf").pages
    millimetres = [float(side) / 72 * 25.4 for side in (page.mediabox.width, page.mediabox.height)]
    assert millimetres == pytest.approx([297, 210], abs=1)


def test_the_next_export_begins_where_the_last_one_ended(
    qtbot: QtBot, desk: Desk, parent: QWidget, recorded: Path, tmp_path: Path
) -> None:
    desk.settings.more["Export"] = {"folder": str(tmp_path)}
    dialog = ask(parent, desk, Recorded(recorded, "Ping/pong: 2009?", notes="After the update"))
    (start,) = dialog.selectedFiles()
    assert Path(start) == tmp_path / "ping-pong-2009.html"
    assert sum("*.html" in each for each in dialog.nameFilters()) == 2  # one with the notes
    with qtbot.waitSignal(desk.notice, timeout=PATIENCE_MS) as notice:
        dialog.fileSelected.emit(str(tmp_path / "sub" / "mine.csv"))
    assert notice.args[0].startswith("Saved")
    assert desk.settings.more["Export"] == {"folder": str(tmp_path / "sub")}
    other = ask(parent, desk, Recorded(recorded, "127.0.0.1:8000"))
    assert [Path(each).name for each in other.selectedFiles()] == ["127.0.0.1-8000.html"]
    with qtbot.waitSignal(desk.notice, timeout=PATIENCE_MS):
        other.fileSelected.emit(str(tmp_path / "shop-v1.4"))
    assert (tmp_path / "shop-v1.4.html").is_file()
    desk.settings.more["Export"] = {"folder": 3}
    (start,) = ask(parent, desk, Recorded(recorded, "x")).selectedFiles()
    assert Path(start).parent == Path.home()


def test_what_cannot_be_written_is_reported_in_one_sentence(
    written: Callable[..., str], trio: Trio, recorded: Path, tmp_path: Path
) -> None:
    (tmp_path / "taken.csv").mkdir()
    said = written(Recorded(recorded, "a"), tmp_path / "taken.csv")
    assert "taken.csv is a directory; give the name of a file for the report." in said
    assert "name it with one of" in written(Recorded(recorded, "a"), tmp_path / "a.exe")
    assert "name it with one of" in written(Charts(trio, "Live"), tmp_path / "a.html")
    (tmp_path / "file").touch()
    said = written(Recorded(recorded, "a"), tmp_path / "file" / "a.csv")
    assert "cannot be written" in said
    assert "pongbench:" not in said


def test_the_readable_part_of_a_damaged_session_is_exported_with_a_warning(
    written: Callable[..., str], recorded: Path, tmp_path: Path
) -> None:
    lines = recorded.read_text().splitlines(keepends=True)
    lines[-6] = "--- {not this\n"
    recorded.write_text("".join(lines))
    said = written(Recorded(recorded, "a"), tmp_path / "a.csv")
    assert "Saved" in said
    assert "Only the part before it is shown" in said
    assert len((tmp_path / "a.csv").read_text().splitlines()) > 3


def test_no_export_takes_cpu_from_a_run(
    desk: Desk, written: Callable[..., str], recorded: Path, tmp_path: Path
) -> None:
    desk.set_busy(True)
    said = written(Recorded(recorded, "a"), tmp_path / "a.html")
    assert "Export when it is over" in said
    assert not (tmp_path / "a.html").exists()


def test_charts_are_exported_as_they_are_shown(
    written: Callable[..., str], trio: Trio, tmp_path: Path
) -> None:
    trio.set_shown("gevent", False)
    for ending in ("png", "svg", "pdf"):
        output = tmp_path / f"a.{ending}"
        assert written(Charts(trio, "Live"), output) == f"Saved: {output}."
    image = QImage(str(tmp_path / "a.png"))
    assert image.width() > trio.width() * 2
    assert image.pixelColor(10, 10) == QColor(theme.LIGHT.card)
    assert seen(image, theme.LIGHT.series(0).colour)
    assert not seen(image, theme.LIGHT.series(2).colour), "gevent is hidden"
    drawing = (tmp_path / "a.svg").read_text().lower()
    ElementTree.fromstring(drawing)
    assert theme.LIGHT.series(0).colour.lower() in drawing
    assert theme.LIGHT.series(2).colour.lower() not in drawing
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF-")


def test_a_copied_chart_is_a_picture_and_a_drawing_in_the_clipboard(trio: Trio) -> None:
    copy_chart(trio, "Three servers")
    data = QGuiApplication.clipboard().mimeData()
    assert data.hasImage()
    image = QGuiApplication.clipboard().image()
    assert image.width() > trio.width() * 2
    assert image.pixelColor(10, 10) == QColor(theme.LIGHT.card)
    assert seen(image, theme.LIGHT.series(1).colour)
    root = ElementTree.fromstring(data.data("image/svg+xml").data())
    assert root.findtext("{http://www.w3.org/2000/svg}title") == "Three servers"
    (message,) = [w for w in trio.findChildren(QLabel) if "copied" in w.text()]
    assert message.isVisible()


def test_an_export_shows_the_response_time_selected_on_screen(
    desk: Desk, trio: Trio, recorded: Path
) -> None:
    trio.set_view(percentile="p50")
    trio.set_view(clock="service")
    source = shown_session(desk, recorded, trio)
    assert (source.view.percentile, source.view.clock) == ("p50", "service")
    assert source.title == "Socket ping-pong"


def test_what_an_export_draws_over_time_is_what_the_screen_shows(
    desk: Desk, written: Callable[..., str], trio: Trio, recorded: Path
) -> None:
    trio.project(Look("time", 4500.0))
    written(shown_session(desk, recorded, trio), recorded.with_name("a.pdf"))
    (page,) = PdfReader(recorded.with_name("a.pdf")).pages
    assert "the points at 4,500/s" in " ".join(page.extract_text().split())


def seen(image: QImage, colour: str) -> bool:
    wanted = QColor(colour)
    return any(
        image.pixelColor(x, y) == wanted
        for x in range(0, image.width())
        for y in range(0, image.height(), 3)
    )


@pytest.fixture
def film(qtbot: QtBot, desk: Desk) -> FilmPage:
    made = FilmPage(desk)
    qtbot.addWidget(made)
    made.resize(1180, 740)
    made.show()
    return made


def opened(qtbot: QtBot, film: FilmPage, path: Path) -> None:
    film.open(path)
    qtbot.waitUntil(lambda: film.reel is not None and film.reel.path == path, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: film.board.model.start is not None, timeout=PATIENCE_MS)


def test_a_film_is_exported_compared_and_copied(
    qtbot: QtBot, desk: Desk, film: FilmPage, recorded: Path
) -> None:
    opened(qtbot, film, recorded)
    film.export()
    (dialog,) = film.findChildren(QFileDialog)
    assert "socket-ping-pong" in dialog.selectedFiles()[0]
    dialog.reject()
    with qtbot.waitSignal(desk.compare_requested) as compared:
        (button,) = [
            b for b in film.findChildren(QAbstractButton) if b.accessibleName() == "Compare"
        ]
        button.click()
    assert compared.args == [[recorded]]
    film.copy_chart()
    assert QGuiApplication.clipboard().mimeData().hasImage()


def test_a_film_says_that_its_session_is_still_recorded_cut_off_or_newer(
    qtbot: QtBot, film: FilmPage, recorded: Path
) -> None:
    whole = recorded.read_text()
    recorded.write_text(whole.rpartition("--- {")[0])
    with recorded.open("ab") as recording:
        claim(recording.fileno())
        opened(qtbot, film, recorded)
        assert "is still being recorded" in film.error.text
    other = recorded.with_name("old.pong.yaml")
    other.write_bytes(recorded.read_bytes())
    opened(qtbot, film, other)
    assert "is incomplete: it was cut off before its end" in film.error.text
    newer = recorded.with_name("newer.pong.yaml")
    newer.write_text(whole.replace(f"v: {VERSION}\n", "v: 9\n", 1))
    opened(qtbot, film, newer)
    assert "is from a newer Pongbench. Unknown parts are not shown" in film.error.text


@pytest.mark.parametrize("plan", [{"workload": "pong"}, {"workload": {"timeout_s": []}}])
def test_a_session_with_an_invalid_plan_is_refused_with_a_message(
    qtbot: QtBot, desk: Desk, film: FilmPage, recorded: Path, plan: dict[str, object]
) -> None:
    start = {**msgspec.to_builtins(read_session(recorded).start), "plan": plan}
    recorded.write_bytes(b"# pongbench session\n--- " + msgspec.json.encode(start) + b"\n")
    with qtbot.waitSignal(desk.refused, timeout=PATIENCE_MS) as refused:
        film.open(recorded)
    assert "line 2, plan.workload" in refused.args[0]
    with pytest.raises(BadInput):
        outline(recorded)
