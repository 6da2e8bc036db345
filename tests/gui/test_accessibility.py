"""What a keyboard and a screen reader reach: every control of every page and dialog has a name,
shows that it has the focus, and is seen whole in the smallest window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import furniture
import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QDialog,
    QLabel,
    QPushButton,
    QScrollArea,
    QWidget,
)
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from app import dialogs, theme
from app.machines.prompts import QuestionDialog
from app.scrolling import LEAST
from app.shell.main_window import MainWindow
from tests.gui.windows import lists_are_full, name_of, pages, press, shown
from tests.recording import record_session
from tests.synthetic import session
from workbench.machines.secrets import Question
from workbench.plan.reading import load_plan

SHARPER = 2
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def furnished(qtbot: QtBot, home: Path) -> Iterator[MainWindow]:
    """With sessions to be seen and machines in every state."""
    for name, count in (("three", 3), ("two", 2)):
        record_session(home / "data" / "sessions" / f"{name}.pong.yaml", session(count, 6))
    with shown(qtbot) as window:
        furniture.machines(window.desk.settings.more)
        window.open(home / "data" / "sessions" / "three.pong.yaml")
        qtbot.waitUntil(window.film.isVisible)
        qtbot.waitUntil(lambda: window.film.board.model.over)
        qtbot.waitUntil(lambda: bool(window.start.compare.ticked()))
        yield window


def focusable(window: QWidget) -> list[QWidget]:
    """What Tab stops at."""
    return [
        each
        for each in window.findChildren(QWidget)
        if each.isVisibleTo(window)
        and each.isEnabled()
        and each.window() is window
        and each.focusPolicy() & Qt.FocusPolicy.TabFocus
        and not isinstance(each.focusProxy(), QWidget)
        and not _inside(each)
    ]


def _inside(each: QWidget) -> bool:
    """A part of a control that Qt made for itself, as the line of a spin box."""
    return each.objectName().startswith("qt_")


def nameless(controls: list[QWidget]) -> list[str]:
    return [
        f"{type(w).__name__} in {type(w.parent()).__name__}" for w in controls if not name_of(w)
    ]


def around(window: QWidget, each: QWidget) -> QImage:
    """A control with a little of what is around it: a ring may be drawn there."""
    place = QRect(each.mapTo(window, QPoint(0, 0)), each.size()).adjusted(-6, -6, 6, 6)
    return window.grab(place.intersected(window.rect())).toImage()


def unseen(window: QWidget, elsewhere: Callable[[QWidget], QWidget]) -> list[str]:
    """Controls that look the same with the focus and, when it is `elsewhere`, without."""
    found = []
    for each in focusable(window):
        # What a page reads may arrive meanwhile, and take the place of what there was.
        if not isValid(each) or isinstance(each, QScrollArea):
            continue
        elsewhere(each).setFocus()
        QApplication.processEvents()
        if not isValid(each) or each.visibleRegion().isEmpty():
            continue
        before = around(window, each)
        each.setFocus(Qt.FocusReason.TabFocusReason)
        QApplication.processEvents()
        if isValid(each) and each.hasFocus() and around(window, each) == before:
            found.append(f"{type(each).__name__} {name_of(each)!r}")
    return found


# Pages


def test_every_control_has_a_name_and_tab_comes_round(furnished: MainWindow, qtbot: QtBot) -> None:
    for name, _ in pages(qtbot, furnished):
        controls = focusable(furnished)
        assert not nameless(controls), name
        met, at = [], controls[0]
        for _ in range(20_000):  # of all pages
            at = at.nextInFocusChain()
            met.append(at)
            if at is controls[0]:
                break
        assert at is controls[0], name
        assert {id(w) for w in controls} <= {id(w) for w in met}, name


def test_every_control_shows_its_focus(furnished: MainWindow, qtbot: QtBot) -> None:
    for name, _ in pages(qtbot, furnished):
        assert not unseen(furnished, lambda _: furnished), name


def too_wide(page: QWidget) -> list[QScrollArea]:
    """Scroll areas whose contents are wider than what is seen of them."""
    return [
        area
        for area in page.findChildren(QScrollArea)
        if area.isVisible() and area.widget().width() > area.viewport().width()
    ]


def test_nothing_is_wider_than_the_smallest_window(furnished: MainWindow, qtbot: QtBot) -> None:
    furnished.resize(furnished.minimumSize())
    never = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
    for name, page in pages(qtbot, furnished):
        assert furnished.size() == LEAST
        cut = [
            area.accessibleName() or type(area.widget()).__name__
            for area in too_wide(page)
            if area.horizontalScrollBarPolicy() == never
        ]
        assert not cut, name


def test_a_long_machine_name_does_not_break_the_plan_form(
    furnished: MainWindow, qtbot: QtBot
) -> None:
    window = furnished
    window.show_page("Plan")
    page = window.plan
    long = "a-client-with-a-long-name-in-the-lab-of-building-7"
    qtbot.waitUntil(lambda: long in page.form.machines.clients.ids())
    # The list of servers gets the height of its rows one event after them.
    qtbot.waitUntil(lambda: not too_wide(page))


# Contrast


def luminance(window: QWidget) -> np.ndarray:
    """(height, width) in 1/10,000, with more pixels than the window has: thin strokes have their
    whole colour there."""
    picture = QPixmap(window.size() * SHARPER)
    picture.setDevicePixelRatio(SHARPER)
    window.render(picture)
    image = picture.toImage().convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), -1)
    pixels = rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3)
    value = np.arange(256) / 255
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    red, green, blue = (np.rint(linear * share * 10_000) for share in (0.2126, 0.7152, 0.0722))
    return (red[pixels[..., 0]] + green[pixels[..., 1]] + blue[pixels[..., 2]]).astype(np.int64)


def contrast_in(part: np.ndarray) -> float:
    """Of what differs most from the ground, by WCAG."""
    counts = np.bincount(part.ravel())
    there = np.flatnonzero(counts) / 10_000
    ground = counts.argmax() / 10_000
    low, high = min(there[0], ground), max(there[-1], ground)
    return float(max((high + 0.05) / (ground + 0.05), (ground + 0.05) / (low + 0.05)))


def faint(window: QWidget) -> list[str]:
    """Words that have less than 4.5 to 1."""
    picture, found = luminance(window), []
    for each in (*window.findChildren(QLabel), *window.findChildren(QAbstractButton)):
        if not (each.isVisible() and each.isEnabled() and each.text()):
            continue
        seen = each.visibleRegion().boundingRect().translated(each.mapTo(window, QPoint(0, 0)))
        if seen.height() < each.height() or seen.width() < 8:
            continue  # scrolled half out of sight
        down = slice(seen.top() * SHARPER, (seen.bottom() + 1) * SHARPER)
        across = slice(seen.left() * SHARPER, (seen.right() + 1) * SHARPER)
        if (ratio := contrast_in(picture[down, across])) < 4.5:
            found.append(f"{each.text()!r} {ratio:.2f}")
    return found


@pytest.mark.parametrize("chosen", [theme.DARK, theme.LIGHT], ids=["dark", "light"])
def test_every_text_on_every_page_contrasts_with_its_background(
    furnished: MainWindow, qtbot: QtBot, chosen: theme.Theme
) -> None:
    window = furnished
    window.set_theme(chosen)

    def clear() -> None:
        assert not faint(window)

    for _ in pages(qtbot, window):
        # What was read in the meantime has yet to find its place.
        qtbot.waitUntil(clear)


# Dialogs


def _machines(window: MainWindow, qtbot: QtBot, name: str = "atlas"):  # type: ignore[no-untyped-def]
    window.show_page("Machines")
    page = window.page("Machines")
    qtbot.waitUntil(lambda: name in page.listing.names)
    page.listing.choose(name)
    return page


def _ask_password(window: MainWindow, qtbot: QtBot) -> None:
    question = Question("atlas", "password", "mila@10.0.4.20", "Password of mila@10.0.4.20")
    QuestionDialog(window, question).open()


def _press_on(page: str, name: str) -> Callable[[MainWindow, QtBot], None]:
    def open_it(window: MainWindow, qtbot: QtBot) -> None:
        window.show_page(page)
        qtbot.waitUntil(lambda: lists_are_full(window.page(page)))
        press(window, name)

    return open_it


def _save_plan(window: MainWindow, qtbot: QtBot) -> None:
    window.show_page("Plan")
    page = window.page("Plan")
    qtbot.waitUntil(page.head.save_as.isEnabled)  # type: ignore[attr-defined]
    press(window, "Save as…")


def _edit_request(window: MainWindow, qtbot: QtBot) -> None:
    window.show_page("Plan")
    window.plan.edit(load_plan("http://127.0.0.1:9/"))
    qtbot.waitUntil(lambda: window.plan.draft is not None)
    window.plan.form.inputs["workload.requests"].edit()


def _close_in_mid_run(window: MainWindow, qtbot: QtBot) -> None:
    window.desk.set_busy(True)
    window.close()


DIALOGS: dict[str, Callable[[MainWindow, QtBot], object]] = {
    "add a machine": lambda window, qtbot: _machines(window, qtbot).add(),
    "edit a machine": lambda window, qtbot: _machines(window, qtbot).detail.edit.click(),
    "a password": _ask_password,
    "a new server": _press_on("Servers", "New server"),
    "a running server": _press_on("Start", "Measure a running server…"),
    "a request": _edit_request,
    "save a plan": _save_plan,
    "sessions to compare": _press_on("Compare", "Choose sessions…"),
    "about": _press_on("Settings", "About Pongbench"),
    "close in mid-run": _close_in_mid_run,
}


@pytest.fixture
def small_screen(monkeypatch: pytest.MonkeyPatch) -> QSize:
    """What a dialog may take of 1,024 x 768 pixels where everything is twice as large."""
    room = QSize(512 - 16, 384 - 48)
    monkeypatch.setattr(dialogs, "room_on", lambda _screen: room)
    return room


@pytest.fixture(params=DIALOGS)
def dialog(
    request: pytest.FixtureRequest, furnished: MainWindow, small_screen: QSize, qtbot: QtBot
) -> Iterator[QDialog]:
    window = furnished
    DIALOGS[request.param](window, qtbot)

    def opened() -> QWidget | None:
        return QApplication.activeModalWidget()

    qtbot.waitUntil(lambda: isinstance(opened(), QDialog))
    found = opened()
    assert isinstance(found, QDialog)
    found.activateWindow()
    qtbot.waitUntil(found.isActiveWindow)
    yield found
    window.desk.set_busy(False)
    if isValid(found) and found.isVisible():
        found.reject()


def test_a_dialog_fits_a_small_screen_and_is_used_and_closed_with_the_keyboard(
    dialog: QDialog, small_screen: QSize, qtbot: QtBot
) -> None:
    assert dialog.size().boundedTo(small_screen) == dialog.size()
    buttons = [each for each in dialog.findChildren(QPushButton) if each.isVisible()]
    foot = [QRect(b.mapTo(dialog, QPoint()), b.size()) for b in buttons if not _scrolls(b)]
    assert foot and all(dialog.rect().contains(each) for each in foot)
    focused = QApplication.focusWidget()
    assert focused is not None
    assert dialog.isAncestorOf(focused)
    controls = focusable(dialog)
    assert not nameless(controls)
    assert dialog.windowTitle()
    for each in controls:
        each.setFocus(Qt.FocusReason.TabFocusReason)
        qtbot.waitUntil(lambda each=each: not each.visibleRegion().isEmpty())
    assert not unseen(dialog, lambda each: next(other for other in controls if other is not each))
    qtbot.keyClick(QApplication.focusWidget() or dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not isValid(dialog) or not dialog.isVisible())


def _scrolls(widget: QWidget) -> bool:
    """Is it in a scroll area of its dialog?"""
    above = widget.parentWidget()
    return not above.isWindow() and (isinstance(above, QAbstractScrollArea) or _scrolls(above))
