"""Exports: files that open, and messages where they cannot be written."""

from __future__ import annotations

import csv
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from pypdf import PdfReader
from PySide6.QtCore import QPoint, QSize
from PySide6.QtGui import QColor, QGuiApplication, QImage
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app import theme
from app.charts.model import ChartModel
from app.charts.trio import Trio
from app.charts.view_state import Look
from app.choices import Choice, Pick
from app.context import Desk
from app.export.dialog import ExportDialog, ask, ask_for_session
from app.export.sources import Charts, Recorded, copy_chart
from app.pages.film import FilmPage
from app.sessions.outline import outline
from tests.gui.windows import says, the
from tests.recording import record_session
from tests.synthetic import session
from workbench.documents import VERSION
from workbench.sessions import read_session
from workbench.sessions.claims import claim

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


def choose(dialog: ExportDialog, kind: str) -> None:
    (radio,) = [b for b in dialog.findChildren(QAbstractButton) if b.accessibleName() == kind]
    radio.click()


def press(dialog: ExportDialog, name: str) -> None:
    (button,) = [b for b in dialog.findChildren(QAbstractButton) if b.accessibleName() == name]
    assert button.isEnabled()
    button.click()


def write_to(dialog: ExportDialog, path: Path) -> None:
    the(dialog, QLineEdit, "File").setText(str(path))


def replaces(qtbot: QtBot, dialog: ExportDialog, taken: bool = True) -> None:
    """Does the dialog say that a file of this name exists?"""
    qtbot.waitUntil(lambda: says(dialog, "will be replaced") is taken, timeout=PATIENCE_MS)


def shows(qtbot: QtBot, dialog: ExportDialog, text: str) -> None:
    qtbot.waitUntil(lambda: text in dialog.message.text, timeout=PATIENCE_MS)


@pytest.mark.parametrize("kind", ["HTML", "PNG", "CSV"])
def test_a_session_is_written_where_it_was_asked_for(  # noqa: PLR0917 - fixtures
    qtbot: QtBot, desk: Desk, parent: QWidget, recorded: Path, tmp_path: Path, kind: str
) -> None:
    dialog = ask(parent, desk, Recorded(recorded, "Two servers"))
    choose(dialog, kind)
    ending = {"HTML": ".html", "PNG": ".png", "CSV": ".csv"}[kind]
    assert dialog.output().name == f"two-servers{ending}"
    write_to(dialog, tmp_path / f"out{ending}")
    press(dialog, "Export")
    assert not any(each.isEnabled() for each in dialog.findChildren(Pick))  # one at a time
    shows(qtbot, dialog, f"Saved: {tmp_path / f'out{ending}'}")
    assert all(each.isEnabled() for each in dialog.findChildren(Pick))
    data = (tmp_path / f"out{ending}").read_bytes()
    if kind == "HTML":
        assert b"asyncio streams" in data
    elif kind == "PNG":
        assert QImage.fromData(data).size() == QSize(3200, 2400)
    else:
        assert len(list(csv.DictReader(data.decode().splitlines()))) == 2 * 4
    assert desk.settings.more["Export"] == {
        "folder": str(tmp_path),
        "kind": ending,
        "theme": "light",
    }


def test_a_page_is_a_sheet_of_paper_and_a_picture_has_pixels(
    qtbot: QtBot, desk: Desk, parent: QWidget, recorded: Path, tmp_path: Path
) -> None:
    dialog = ask(parent, desk, Recorded(recorded, "Two servers"))
    write_to(dialog, tmp_path / "out.pdf")  # its ending chooses the format
    assert the(dialog, Choice, "Size").currentText() == "A4 landscape"
    press(dialog, "Export")
    shows(qtbot, dialog, f"Saved: {tmp_path / 'out.pdf'}")
    (page,) = PdfReader(tmp_path / "out.pdf").pages
    millimetres = [float(side) / 72 * 25.4 for side in (page.mediabox.width, page.mediabox.height)]
    assert millimetres == pytest.approx([297, 210], abs=1)
    choose(dialog, "PNG")
    assert the(dialog, Choice, "Size").currentText() == "1600 × 1200"


@pytest.mark.parametrize("notes", ["", "After the update"])
def test_buttons_stay_in_place_whatever_is_selected(
    qtbot: QtBot, desk: Desk, parent: QWidget, recorded: Path, notes: str
) -> None:
    dialog = ask(parent, desk, Recorded(recorded, "Two servers", notes))
    (export,) = [b for b in dialog.findChildren(QAbstractButton) if b.text().strip() == "Export"]
    qtbot.waitUntil(export.isVisible)
    places = set()
    for kind in ("PNG", "HTML", "PDF", "CSV", "SVG"):
        choose(dialog, kind)
        QApplication.processEvents()
        places.add((export.mapToGlobal(QPoint()).toTuple(), dialog.size().toTuple()))
    recorded.with_name("taken.svg").touch()
    write_to(dialog, recorded.with_name("taken.svg"))
    replaces(qtbot, dialog)
    QApplication.processEvents()
    places.add((export.mapToGlobal(QPoint()).toTuple(), dialog.size().toTuple()))
    assert len(places) == 1


def test_the_next_export_begins_where_the_last_one_ended(
    desk: Desk, parent: QWidget, recorded: Path, tmp_path: Path
) -> None:
    desk.settings.more["Export"] = {"folder": str(tmp_path), "kind": ".svg", "theme": "dark"}
    dialog = ask(parent, desk, Recorded(recorded, "Ping/pong: 2009?"))
    assert dialog.output() == tmp_path / "ping-pong-2009.svg"
    assert the(dialog, Choice, "Colours").currentData() == "dark"
    desk.settings.more["Export"] = {"folder": 3, "kind": ".exe", "theme": None}
    assert ask(parent, desk, Recorded(recorded, "x")).output().suffix == ".html"


def test_creating_a_missing_folder_is_announced_beforehand(
    qtbot: QtBot, desk: Desk, parent: QWidget, recorded: Path, tmp_path: Path
) -> None:
    dialog = ask(parent, desk, Recorded(recorded, "a"))
    choose(dialog, "CSV")
    write_to(dialog, tmp_path / "none" / "a.csv")
    message = f"The folder {tmp_path / 'none'} does not exist; it will be created."
    qtbot.waitUntil(lambda: says(dialog, message), timeout=PATIENCE_MS)
    assert not (tmp_path / "none").exists()
    press(dialog, "Export")
    shows(qtbot, dialog, "Saved")
    assert (tmp_path / "none" / "a.csv").is_file()


def test_a_path_that_cannot_be_written_is_reported_in_one_sentence(
    qtbot: QtBot, desk: Desk, parent: QWidget, recorded: Path, tmp_path: Path
) -> None:
    (tmp_path / "taken.csv").mkdir()
    dialog = ask(parent, desk, Recorded(recorded, "a"))
    choose(dialog, "CSV")
    write_to(dialog, tmp_path / "taken.csv")
    press(dialog, "Export")
    shows(qtbot, dialog, "taken.csv is a directory; give the name of a file for the report.")
    assert "pongbench:" not in dialog.message.text


def test_the_readable_part_of_a_damaged_session_is_exported_with_a_warning(
    qtbot: QtBot, desk: Desk, parent: QWidget, recorded: Path, tmp_path: Path
) -> None:
    lines = recorded.read_text().splitlines(keepends=True)
    lines[-6] = "--- {not this\n"
    recorded.write_text("".join(lines))
    dialog = ask(parent, desk, Recorded(recorded, "a"))
    choose(dialog, "CSV")
    write_to(dialog, tmp_path / "a.csv")
    press(dialog, "Export")
    shows(qtbot, dialog, "Only the part before it is shown")
    assert "Saved" in dialog.message.text
    assert len((tmp_path / "a.csv").read_text().splitlines()) > 3


def test_overwriting_a_file_is_announced_beforehand(
    qtbot: QtBot, desk: Desk, parent: QWidget, recorded: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.html").write_text("mine")
    dialog = ask(parent, desk, Recorded(recorded, "a"))
    write_to(dialog, tmp_path / "a.html")
    replaces(qtbot, dialog)
    write_to(dialog, tmp_path / "b.html")
    replaces(qtbot, dialog, False)
    assert (tmp_path / "a.html").read_text() == "mine"


def test_no_export_takes_cpu_from_a_run(
    desk: Desk, parent: QWidget, recorded: Path, tmp_path: Path
) -> None:
    desk.set_busy(True)
    dialog = ask(parent, desk, Recorded(recorded, "a"))
    write_to(dialog, tmp_path / "a.html")
    press(dialog, "Export")
    assert "Export when it is over" in dialog.message.text
    assert not (tmp_path / "a.html").exists()


def test_charts_are_exported_as_they_are_shown(
    qtbot: QtBot, desk: Desk, parent: QWidget, trio: Trio, tmp_path: Path
) -> None:
    trio.set_shown("gevent", False)
    dialog = ask(parent, desk, Charts(trio, "Live", lambda: "a,b\r\n"))
    for kind, ending in {"PNG": "png", "SVG": "svg", "PDF": "pdf", "CSV": "csv"}.items():
        choose(dialog, kind)
        write_to(dialog, tmp_path / f"a.{ending}")
        press(dialog, "Export")
        shows(qtbot, dialog, f"Saved: {tmp_path / f'a.{ending}'}")
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
    assert (tmp_path / "a.csv").read_bytes() == b"a,b\r\n"


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
    desk: Desk, parent: QWidget, trio: Trio, recorded: Path
) -> None:
    trio.set_percentile("p50")
    trio.set_clock("service")
    source = ask_for_session(parent, desk, recorded, trio).source
    assert (source.view.percentile, source.view.clock) == ("p50", "service")
    assert source.title == "Socket ping-pong"


def test_the_selected_point_is_written_for_tools_of_hdrhistogram(
    qtbot: QtBot, desk: Desk, parent: QWidget, trio: Trio, recorded: Path
) -> None:
    trio.highlight("asyncio-streams", 4500.0)
    dialog = ask_for_session(parent, desk, recorded, trio)
    choose(dialog, "HGRM")
    write_to(dialog, recorded.with_name("a.hgrm"))
    press(dialog, "Export")
    shows(qtbot, dialog, "Saved")
    lines = recorded.with_name("a.hgrm").read_text().splitlines()
    assert lines[0].split() == ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]
    assert lines[-2].split()[-1] == "4500]"


def test_what_an_export_draws_over_time_is_what_the_screen_shows(
    qtbot: QtBot, desk: Desk, parent: QWidget, trio: Trio, recorded: Path
) -> None:
    trio.project(Look("time", 4500.0))
    dialog = ask_for_session(parent, desk, recorded, trio)
    choose(dialog, "PDF")
    write_to(dialog, recorded.with_name("a.pdf"))
    press(dialog, "Export")
    shows(qtbot, dialog, "Saved")
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
    (dialog,) = film.findChildren(ExportDialog)
    source = dialog.source
    assert isinstance(source, Recorded)
    assert (source.path, source.title) == (recorded, "Socket ping-pong")
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
    assert outline(recorded).lines == ()
