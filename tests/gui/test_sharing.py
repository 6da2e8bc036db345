"""A session shown to spectators from the window."""

from __future__ import annotations

import urllib.error
import urllib.request
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.context import Desk
from app.live.present import Presentation
from app.pages.film import FilmPage
from app.sharing.dialog import Poster, ShareDialog
from tests.gui.windows import PATIENCE_MS, press
from tests.recording import record_session
from tests.synthetic import session

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def status(link: str) -> int:
    """Of the answer to a spectator; 0: nobody is there."""
    try:
        with urllib.request.urlopen(link, timeout=20) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def test_a_recording_is_shared_shown_as_a_code_and_ended(
    qtbot: QtBot, desk: Desk, tmp_path: Path
) -> None:
    page = FilmPage(desk)
    qtbot.addWidget(page)
    page.show()
    page.open(record_session(tmp_path / "a.pong.yaml", session(2, 4)))
    qtbot.waitUntil(lambda: page.reel is not None, timeout=PATIENCE_MS)
    page.share()
    (dialog,) = page.findChildren(ShareDialog)
    dialog.place.setCurrentIndex(dialog.place.findData("127.0.0.1"))
    dialog.port.setText("nowhere")
    press(dialog, "Share")
    qtbot.waitUntil(lambda: "is no address" in dialog.message.text, timeout=PATIENCE_MS)
    dialog.port.setText("")
    press(dialog, "Share")
    qtbot.waitUntil(lambda: bool(desk.sharing.link), timeout=PATIENCE_MS)
    link = desk.sharing.link
    assert status(link) == 200 and dialog.link.text() == link
    assert not dialog.code.pixmap().isNull()
    press(dialog, "Copy the link")
    assert QGuiApplication.clipboard().text() == link
    dialog.reject()
    page.present()
    (presented,) = page.findChildren(Presentation) or page.window().findChildren(Presentation)
    (poster,) = presented.findChildren(Poster)
    qtbot.keyClick(presented, Qt.Key.Key_Q)
    assert poster.isVisible() and presented.rect().contains(poster.geometry())
    qtbot.keyClick(presented, Qt.Key.Key_Q)
    assert not poster.isVisible()
    presented.close()
    desk.sharing.end()
    qtbot.waitUntil(lambda: status(link) == 0, timeout=PATIENCE_MS)
