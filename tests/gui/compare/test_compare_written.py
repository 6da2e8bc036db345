"""A comparison as a file, by the command and from the window."""

from __future__ import annotations

import csv
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pypdf import PdfReader
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.__main__ import main
from app.charts.series import Quantity
from app.context import Desk
from app.live.present import Presentation
from app.pages.compare import ComparePage
from tests.gui.compare.steps import compare
from tests.gui.windows import press
from tests.markup import Markup

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def written(*words: str | Path) -> None:
    assert main(["compare", *map(str, words)]) == 0


def test_the_page_has_every_view_the_tables_and_what_differs(
    a: Path, b: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "new" / "both.html"
    written(a, b, "-o", path, "--plain")
    assert capsys.readouterr().out == f"The comparison is {path}.\n"
    page = path.read_text(encoding="utf-8")
    markup = Markup(page)
    assert not markup.open
    assert not markup.tags & {"script", "img", "link", "a"}
    assert page.count('role="img"') == 3
    for each in ("Results", "Differences", "Over time", "Distribution of response times"):
        assert f"<h2>{each}</h2>" in page
    assert "gevent in A sustains" in page
    assert "<th>A</th><th>B</th>" in page and "Linux 5.10" in page
    assert "gevent · B at 7,000/s offered: " in page, "the pointer tells a point's figures"
    assert page.count('<td class="who"><svg') == 2 * 6, "each line of a table has its swatch"
    assert ">Peak RSS</th>" in page and ">Processes</th>" not in page, "no idle columns"
    assert str(tmp_path) not in page, "where the files lie is nobody's business"


@pytest.mark.parametrize(
    ("view", "words"),
    [
        ("sweep", ["Successful replies", "Errors"]),
        ("time", ["seconds", "Errors"]),
        ("distribution", ["Response time", "p99.9"]),
    ],
)
def test_a_picture_has_the_chosen_view_and_explains_the_letters(
    a: Path, b: Path, tmp_path: Path, view: str, words: list[str]
) -> None:
    written(a, b, "-o", tmp_path / "both.pdf", "--view", view, "--size", "1000x800")
    (page,) = PdfReader(tmp_path / "both.pdf").pages
    drawn = " ".join(page.extract_text().split())
    for each in ("Socket ping-pong and Old kernel", "A: Socket ping-pong", "B: Old kernel", *words):
        assert each in drawn, drawn


def test_pictures_have_the_size_and_colours_that_were_asked_for(
    a: Path, b: Path, tmp_path: Path
) -> None:
    options = "--size", "1000x800", "--theme", "dark"
    written(a, b, "-o", tmp_path / "both.png", *options)
    image = QImage(str(tmp_path / "both.png"))
    assert image.size() == QSize(2000, 1600)
    assert image.pixelColor(4, 4).lightness() < 60
    written(a, b, "-o", tmp_path / "both.svg", *options)
    described = ElementTree.parse(tmp_path / "both.svg").getroot().findtext("{*}desc")
    assert described and "gevent in B" in described


@pytest.mark.parametrize("view", ["sweep", "time", "distribution"])
def test_a_table_has_the_chosen_view_of_one_server(
    a: Path, b: Path, tmp_path: Path, view: str
) -> None:
    path = tmp_path / "both.csv"
    written(a, b, "-o", path, "--view", view, "--server", "B/gevent", "--server", "A/gevent")
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    servers = {row["server"] for row in rows}
    assert servers == ({"gevent"} if view == "sweep" else {"A/gevent", "B/gevent"})
    assert len(rows) == 2 if view == "sweep" else len(rows) > 20


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-o", "both.hgrm"], "named with one of|name it with one of .csv, .html"),
        (["-o", "both.csv", "--json"], "give neither --json nor --csv"),
        (["-o", "both.png", "--view", "time", "--at", "7"], "The comparison has no point at 7;"),
        (["-o", "both.png", "--server", "C/gevent"], "No session has a server 'C/gevent'"),
    ],
)
def test_what_cannot_be_written_is_refused_in_one_sentence(
    a: Path, b: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert main(["compare", str(a), str(b), *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert any(each in line for each in sentence.split("|"))


def test_the_window_writes_the_page_of_what_it_shows(  # noqa: PLR0917 - fixtures
    qtbot: QtBot, desk: Desk, page: ComparePage, a: Path, b: Path, tmp_path: Path
) -> None:
    compare(qtbot, page, a, b)
    page.trio.set_shown("B/asyncio-protocol", False)
    press(page, "Distribution")
    page.export()
    (dialog,) = page.findChildren(QFileDialog)
    for name in ("out.html", "out.csv"):
        with qtbot.waitSignal(desk.notice, timeout=60_000) as notice:
            dialog.fileSelected.emit(str(tmp_path / name))
        assert notice.args[0].startswith("Saved")
    dialog.reject()
    table = (tmp_path / "out.csv").read_text(encoding="utf-8")
    assert table.startswith("server,x,percentile") and "\nB/gevent," in table
    written_page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "asyncio streams · B" in written_page
    assert "asyncio Protocol · A" in written_page
    assert "asyncio Protocol · B" not in written_page


def test_a_presented_comparison_changes_its_view_by_keys(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    page.present()
    (shown,) = page.window().findChildren(Presentation)
    qtbot.keyClick(shown, Qt.Key.Key_D)
    assert page.trio.look.view == "distribution"
    assert not page.trio.charts[Quantity.REPLIES].isVisible()
    qtbot.keyClick(shown, Qt.Key.Key_T)
    assert page.trio.look.view == "time"
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert page.trio.look.view == "time"
    press(page, "Sweep")
