"""A user's way through the window, from the first page to the exported picture, with real servers
and real load; and what the screen shows.

With PONGBENCH_HANDS=xdotool it is done with a real pointer and real keys (see tests/window).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget
from pytestqt.exceptions import TimeoutError
from pytestqt.qtbot import QtBot

from app import theme
from app.charts.chart import Chart
from app.charts.ranked_bars import RankedBars
from app.charts.series import Quantity
from app.charts.trio import Trio
from app.shell.main_window import MainWindow
from tests.gui.hands import Hands, hands
from tests.gui.windows import control, name_of, says, shown, words_on
from workbench.documents import PointStop, RunStart
from workbench.sessions import read_session

# The last two: of the completions in Qt's choice of a file.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", "raise\\(\\)", "grabbing the keyboard")

PLAN = """\
name: A short look
servers: [asyncio-streams]
rates: [200, 400, 600]
seconds: 1
looks: 1
give_up: null
calibrate: false
warm_up: {rate_per_s: 100, seconds: 0.2}
"""
SERVERS = ("asyncio streams", "asyncio Protocol")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a plan of the user's own in the place of the demo, whose run takes minutes."""
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    plans = tmp_path / "data" / "plans"
    plans.mkdir(parents=True)
    (plans / "demo.yaml").write_text(PLAN)
    return tmp_path


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with shown(qtbot) as made:
        yield made


class Person:
    """Sees the screen, hears a screen reader, and has hands."""

    def __init__(self, window: MainWindow, qtbot: QtBot, with_hands: Hands) -> None:
        self.window, self._qtbot, self.hands = window, qtbot, with_hands

    def waits(self, until: Callable[[], object]) -> None:
        try:
            self._qtbot.waitUntil(lambda: bool(until()))
        except TimeoutError:
            pytest.fail(f"it did not come; on the screen: {words_on(self.front)}")

    def reads(self, text: str) -> None:
        self.waits(lambda: says(self.front, text))

    def presses(self, name: str, within: QWidget | None = None) -> None:
        self.waits(lambda: any(_is(w, name) for w in (within or self.front).findChildren(QWidget)))
        button = control(within or self.front, name)
        self.waits(button.isEnabled)
        self.waits(_stands_still(button))
        self.hands.click(button)

    @property
    def front(self) -> QWidget:
        return QApplication.activeWindow() or self.window

    def is_back(self) -> None:
        """What was in front of the window is closed."""
        self.waits(lambda: QApplication.activeWindow() in (None, self.window))
        self.hands.turn_to(self.window)
        self.waits(lambda: QApplication.activeWindow() is self.window)

    def sees_series(self, trio: Trio, server: int, quantity: Quantity, stop: PointStop) -> bool:
        """Is the colour of server `server` on the screen where this point belongs?"""
        chart: Chart = trio.charts[quantity]
        value = stop.replies_per_s if quantity is Quantity.REPLIES else stop.errors_pct
        place = chart.mapTo(chart.window(), chart.at(stop.rate_per_s, value).toPoint())
        colour = QColor(self.window.desk.theme.series(server).colour)
        image = self.hands.see(chart.window())
        ratio = image.width() / chart.window().width()
        # An unreliable one is hollow, and the sustained rate of another lies above its last one.
        near = range(-10, 11)
        return any(
            _alike(image.pixelColor(QPoint(place.x() + x, place.y() + y) * ratio), colour)
            for x in near
            for y in near
        )


def _is(widget: QWidget, name: str) -> bool:
    return widget.isVisible() and name_of(widget) == name


def _stands_still(button: QWidget) -> Callable[[], bool]:
    """Wait until the layout is final."""
    seen: list[QPoint] = []

    def same() -> bool:
        seen.append(button.mapToGlobal(QPoint(0, 0)))
        return seen[-3:] == [seen[-1]] * 3

    return same


def _alike(a: QColor, b: QColor) -> bool:
    return max(abs(a.red() - b.red()), abs(a.green() - b.green()), abs(a.blue() - b.blue())) < 30


def test_a_whole_visit(window: MainWindow, qtbot: QtBot, home: Path) -> None:
    person = Person(window, qtbot, hands(qtbot))
    picks_servers_and_runs(person)
    pauses_and_goes_on(person)
    measured = run_ends(person, home)
    assert sorted(measured.names) == sorted(SERVERS)
    hides_a_line(person, measured)
    opens_the_session(person, measured)
    scrubs(person, measured)
    presents(person)
    exports(person, home)
    copies_the_chart(person)
    compares(person, measured)


def picks_servers_and_runs(person: Person) -> None:
    servers = person.window.start.compare.servers
    person.waits(servers.count)
    for name in SERVERS[1:]:
        [item] = servers.findItems(name, Qt.MatchFlag.MatchExactly)
        servers.scrollToItem(item)
        person.hands.click(servers.viewport(), servers.visualItemRect(item).center())
        person.waits(lambda item=item: item.checkState() == Qt.CheckState.Checked)
    person.presses("Run the comparison")
    person.waits(lambda: person.window.page("Live").isVisible())


def pauses_and_goes_on(person: Person) -> None:
    person.reads("Running")
    person.hands.key("Space")
    person.reads("Paused")
    person.hands.key("Space")


@dataclass
class Measured:
    """The results of the session, from its file."""

    names: list[str]
    stops: list[list[PointStop]]
    """The points of each server."""


def run_ends(person: Person, home: Path) -> Measured:
    person.reads("Done")
    (path,) = (home / "data" / "sessions").glob("*.pong.yaml")
    documents = read_session(path).documents
    start = documents[0]
    assert isinstance(start, RunStart)
    stops = [d for d in documents if isinstance(d, PointStop) and d.purpose == "sweep"]
    return Measured(
        [server.name for server in start.servers],
        [[stop for stop in stops if stop.server == server.id] for server in start.servers],
    )


def drawn(person: Person, trio: Trio, measured: Measured, server: int) -> bool:
    """Is a server's colour at each of its points? Errors lie apart from the ideal line."""
    return all(
        person.sees_series(trio, server, quantity, stop)
        for stop in measured.stops[server]
        for quantity in (Quantity.REPLIES, Quantity.ERRORS)
    )


def both_drawn(person: Person, trio: Trio, measured: Measured) -> bool:
    """Is at each point the colour of a server? With the same values, one covers the other there."""
    return all(
        any(person.sees_series(trio, server, quantity, stop) for server, stop in enumerate(stops))
        for stops in zip(*measured.stops, strict=True)
        for quantity in (Quantity.REPLIES, Quantity.ERRORS)
    )


def gone(person: Person, trio: Trio, measured: Measured, server: int) -> bool:
    """Is its colour nowhere near the last of its points?"""
    return not person.sees_series(trio, server, Quantity.REPLIES, measured.stops[server][-1])


def hides_a_line(person: Person, measured: Measured) -> None:
    """With the same values, one server's line covers the other's: hiding one shows the other."""
    trio = person.window.live.board.trio
    one, other = measured.names
    person.presses(f"Show {one}")
    person.waits(lambda: gone(person, trio, measured, 0) and drawn(person, trio, measured, 1))
    person.presses(f"Show {other}")
    person.waits(lambda: gone(person, trio, measured, 1))
    person.presses(f"Show {one}")
    person.waits(lambda: gone(person, trio, measured, 1) and drawn(person, trio, measured, 0))
    person.presses(f"Show {other}")


def opens_the_session(person: Person, measured: Measured) -> None:
    person.presses("Replay")
    person.waits(person.window.film.isVisible)
    person.reads("A short look")
    trio = person.window.film.board.trio
    person.waits(lambda: both_drawn(person, trio, measured))


def scrubs(person: Person, measured: Measured) -> None:
    trio = person.window.film.board.trio
    person.hands.key("Home")
    person.reads("not run yet")
    person.waits(lambda: all(gone(person, trio, measured, server) for server in (0, 1)))
    timeline = person.window.film.transport.timeline
    person.hands.click(timeline, QPoint(timeline.width() - 3, timeline.height() // 2))
    person.waits(lambda: both_drawn(person, trio, measured))


def presents(person: Person) -> None:
    person.hands.key("F11")
    person.waits(lambda: person.front is not person.window)
    person.waits(lambda: person.front.size() == QGuiApplication.primaryScreen().size())
    person.hands.key("Esc")
    person.is_back()


def exports(person: Person, home: Path) -> None:
    """Open the report as a colleague would."""
    person.hands.key("Ctrl+E")
    person.waits(lambda: person.front is not person.window)
    field = person.front.findChildren(QLineEdit)[0]
    person.hands.click(field)
    person.hands.key("Ctrl+A")
    person.hands.type(str(home / "look.html"))
    person.waits(lambda: field.text() == str(home / "look.html"))
    person.hands.key("Return")
    person.is_back()
    person.reads("Saved")
    page = (home / "look.html").read_text(encoding="utf-8")
    assert all(name in page for name in SERVERS)


def copies_the_chart(person: Person) -> None:
    clipboard = QGuiApplication.clipboard()
    clipboard.clear()
    person.hands.key("Ctrl+Shift+C")
    person.waits(lambda: not clipboard.image().isNull())
    copied = clipboard.image().scaledToWidth(500)
    found = {copied.pixelColor(x, y).name() for x in range(500) for y in range(copied.height())}
    series = [QColor(person.window.desk.theme.series(server).colour) for server in (0, 1)]
    assert any(_alike(QColor(name), colour) for name in found for colour in series)


def compares(person: Person, measured: Measured) -> None:
    person.presses("Compare", within=person.window.film)
    page = person.window.page("Compare")
    person.waits(page.isVisible)
    person.reads("Sustained rate")
    (ranked,) = page.findChildren(RankedBars)
    assert {row.spoken.partition(": ")[0] for row in ranked.rows} == set(SERVERS)
    trio = page.findChild(Trio)
    assert trio is not None
    person.waits(lambda: both_drawn(person, trio, measured))


def test_the_colours_tested_for_occur_in_no_other_part() -> None:
    """Otherwise the tour might find them by chance."""
    for chosen in (theme.DARK, theme.LIGHT):
        parts = [QColor(c) for c in (chosen.card, chosen.line, chosen.line2, chosen.muted)]
        for index in range(2):
            assert not any(_alike(QColor(chosen.series(index).colour), part) for part in parts)
