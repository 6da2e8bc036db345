"""Foreign text is shown as it is in the window and in reports, and never interpreted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from msgspec.structs import replace
from pypdf import PdfReader
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, Qt
from PySide6.QtGui import Qt as GuiQt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.dialogs import ask, ask_text
from app.export.options import ReportOptions
from app.page_registry import RAIL
from app.plain import Label, tip
from app.shell.main_window import MainWindow
from tests.canary import MARKUP, SONG, STEERING, canary
from tests.gui.windows import shown
from tests.recording import record_session
from tests.reports import write_report
from tests.synthetic import session
from workbench.documents import AnyDocument, RunStart
from workbench.untrusted import visible

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

ROOT = Path(__file__).resolve().parents[2]


def recorded(path: Path, documents: Sequence[AnyDocument] = ()) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return record_session(path, documents or canary(points=3))


# In the window


@pytest.fixture
def song(home: Path, sessions: Path) -> Path:
    """A session, a machine and a server, all full of canaries."""
    profiles = home / "config" / "profiles"
    profiles.mkdir(parents=True)
    profile = {"name": "box", "connector": "ssh", "address": "10.0.0.1", "description": SONG}
    (profiles / "box.yaml").write_text(yaml.safe_dump(profile))
    (profiles / "broken.yaml").write_text(yaml.safe_dump({"name": SONG, SONG: SONG}))
    origin = ROOT / "resources" / "servers" / "tornado"
    for name in ("song", "broken"):
        folder = home / "data" / "servers" / name
        folder.mkdir(parents=True)
        for file in origin.iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
        entry = yaml.safe_load((origin / "server.yaml").read_text())
        entry |= {key: f"{SONG}{entry.get(key, '')}" for key in ("name", "description", "style")}
        more = {"unequal": [SONG]} if name == "song" else {SONG: SONG}
        (folder / "server.yaml").write_text(yaml.safe_dump(entry | more))
    return recorded(sessions / "song.pong.yaml")


def told(text: str) -> str:
    """What Qt shows of a tool tip."""
    if not GuiQt.mightBeRichText(text):
        return text
    document = QTextDocument()
    document.setHtml(text)
    return document.toPlainText()


def cells(model: QAbstractItemModel, under: QModelIndex) -> Iterator[QModelIndex]:
    for row in range(model.rowCount(under)):
        # Of a list Qt keeps it to itself.
        columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(under)
        for column in range(columns):
            index = model.index(row, column, under)
            yield index
            if column == 0:
                yield from cells(model, index)


def words(root: QWidget) -> Iterator[tuple[str, str, bool]]:
    """(where, text, whether it is a tool tip) of all that a window says."""
    for each in (root, *root.findChildren(QWidget)):
        where = f"{type(each).__name__} {each.objectName()}".strip()
        yield f"the tip of {where}", each.toolTip(), True
        if isinstance(each, QLabel | QAbstractButton):
            yield where, each.text(), False
        if isinstance(each, QAbstractItemView) and each.model():
            for index in cells(each.model(), QModelIndex()):
                for role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.DisplayRole):
                    text = index.data(role)
                    if isinstance(text, str):
                        yield f"{where}, {role.name}", text, role == Qt.ItemDataRole.ToolTipRole


def obeyed(root: QWidget) -> list[str]:
    found = [
        f"{type(label).__name__} takes {label.text()[:40]!r} for markup"
        for label in root.findChildren(QLabel)
        if label.text() and label.textFormat() != Qt.TextFormat.PlainText
    ]
    for where, text, is_tip in words(root):
        if STEERING.search(text):
            found.append(f"{where} is steered by {text[:80]!r}")
        if is_tip and "<img" in text and MARKUP[:20] not in told(text):
            found.append(f"{where} loads what {text[:80]!r} names")
        if is_tip and "canary.png" in text and "<img" not in told(text):
            found.append(f"{where} takes {text[:80]!r} for markup")
    return found


def test_the_window_shows_hostile_text_without_obeying_it(qtbot: QtBot, song: Path) -> None:
    with shown(qtbot) as window:
        window.open(song)
        qtbot.waitUntil(lambda: "=1+1" in _all(window))
        assert obeyed(window) == []
        for name in RAIL:
            window.show_page(name)
            if name == "Compare":
                window.page(name).compare([song, song])  # type: ignore[attr-defined]
            elif name in ("Servers", "Sessions"):
                qtbot.waitUntil(lambda: "canary.png" in _all(window))
            qtbot.wait(200)  # for what a page asks for when it is shown
            assert obeyed(window) == [], name


def _all(window: MainWindow) -> str:
    return "\n".join(text for _, text, _ in words(window))


def test_a_label_shows_markup_as_it_stands(qtbot: QtBot) -> None:
    label = Label(SONG)
    qtbot.addWidget(label)
    assert label.textFormat() == Qt.TextFormat.PlainText
    assert MARKUP in label.text()
    assert not STEERING.search(label.text())


def test_a_question_shows_markup_as_it_stands(qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    asked = ask(parent, SONG, SONG, go="Remove", do=lambda: None)
    assert obeyed(asked) == []
    asked.reject()
    ask_text(parent, "Rename", SONG, "", lambda name: None)
    assert obeyed(parent) == []


@pytest.mark.parametrize("text", [MARKUP, SONG, f"&lt;{MARKUP}", f"<?xml ?>{MARKUP}", "a < b"])
def test_a_tool_tip_shows_markup_as_it_stands(text: str) -> None:
    shown_as = told(tip(text))
    assert shown_as.replace("\n", "") == told(tip(shown_as)).replace("\n", "")
    assert shown_as.startswith(visible(text)[:5])
    assert not STEERING.search(shown_as)
    assert len(tip("x" * 1_000_000)) < 2_000


# In reports


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.met: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.met.append(tag)
        self.loaded += [value or "" for name, value in attrs if name in ("src", "href")]


@pytest.mark.parametrize("plain", [False, True])
def test_a_page_shows_hostile_text_without_obeying_it(tmp_path: Path, plain: bool) -> None:
    options = ReportOptions(plain=plain)
    write_report(recorded(tmp_path / "song.pong.yaml"), tmp_path / "song.html", options)
    page = (tmp_path / "song.html").read_text()
    assert "canary.png" in page
    assert not STEERING.search(page)
    tags = Tags()
    tags.feed(page)
    ours = [] if plain else ["img", "script", "script"]
    assert sorted(tag for tag in tags.met if tag in ("img", "script")) == ours
    assert not [each for each in tags.loaded if "canary" in each]


def test_a_picture_shows_hostile_text_without_obeying_it(tmp_path: Path) -> None:
    song = recorded(tmp_path / "song.pong.yaml")
    write_report(song, tmp_path / "song.svg")
    drawn = (tmp_path / "song.svg").read_text()
    assert "=1+1" in drawn
    assert not STEERING.search(drawn)
    assert not list(ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}img"))
    write_report(song, tmp_path / "song.pdf")
    paper = PdfReader(tmp_path / "song.pdf")
    read = f"{paper.pages[0].extract_text()}{paper.metadata.title if paper.metadata else ''}"
    assert "=1+1" in read
    assert not STEERING.search(read)


def test_a_name_of_a_megabyte_does_not_fill_a_report(tmp_path: Path) -> None:
    start, *others = session(2, 3)
    assert isinstance(start, RunStart)
    servers = [replace(server, name="n" * 1_000_000) for server in start.servers]
    song = recorded(tmp_path / "long.pong.yaml", [replace(start, servers=servers), *others])
    for ending in ("html", "svg", "csv"):
        made = tmp_path / f"long.{ending}"
        write_report(song, made)
        assert made.stat().st_size < 1_000_000, ending
    assert "n…" in (tmp_path / "long.html").read_text()
