"""Widgets are tested without a display."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app import bridge as bridges
from app import stylesheet, theme
from app.application import Application
from app.bridge import Bridge
from app.context import Desk
from app.settings import Settings
from tests.gui.windows import PATIENCE_MS


class Patient(QtBot):
    """Waits at least as long as a busy machine may take. What is waited for ends the wait, and so
    does an exception in a slot, after which it may never come."""

    def waitUntil(self, callback: Callable[[], object], *, timeout: int = 0) -> None:
        slots = getattr(self._request.node, "qt_exception_capture_manager", None)

        def reached() -> object:
            if slots is not None:
                slots.fail_if_exceptions_occurred("WAIT")
            return callback()

        super().waitUntil(reached, timeout=max(timeout, PATIENCE_MS))

    def waitSignal(self, signal: object, *, timeout: int = 0) -> object:
        return super().waitSignal(signal, timeout=max(timeout, PATIENCE_MS))

    def waitExposed(self, widget: QWidget, *, timeout: int = 0) -> object:
        return super().waitExposed(widget, timeout=max(timeout, PATIENCE_MS))


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    return Patient(request)


@pytest.fixture(scope="session")
def qapp_cls() -> type[QApplication]:
    return Application


@pytest.fixture(autouse=True, scope="session")
def dressed(qapp: QApplication) -> Iterator[None]:
    bridges.EVERY_MS = 10  # tests wait for deliveries thousands of times
    stylesheet.apply(qapp, theme.LIGHT)
    gc.freeze()  # otherwise the collector would traverse all imports after every test
    yield
    gc.unfreeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """Leave nothing of a test for the next one."""
    try:
        yield
    finally:
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        # Only now: every widget that is left would be dressed again, which takes seconds.
        if isinstance(app := QApplication.instance(), QApplication):
            stylesheet.apply(app, theme.LIGHT)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the program keeps everything in a test; nothing is there yet."""
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture(autouse=True)
def nothing_ignored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail for what pyqtgraph would print as an ignored exception and go on."""
    found: list[str] = []

    def note(text: str = "", *_: object, **__: object) -> None:
        found.append(f"{text} {sys.exc_info()[1]!r}")

    if (debug := sys.modules.get("pyqtgraph.debug")) is not None:
        monkeypatch.setattr(debug, "printExc", note)
    yield
    assert not found


@pytest.fixture(scope="module")
def patient(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    """For a window that all tests of a file look at: making one takes as long as looking at ten."""
    return Patient(request)


@pytest.fixture(scope="module")
def one_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The home of all tests of a file, which say so with a fixture `home` that returns it."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PONGBENCH_HOME", str(folder))
        patch.setenv("HOME", str(folder))
        yield folder


@pytest.fixture
def sessions(home: Path) -> Path:
    """Where runs are recorded."""
    return home / "data" / "sessions"


@pytest.fixture
def bridge() -> Iterator[Bridge]:
    made = Bridge()
    yield made
    assert made.close()
    made.deleteLater()


@pytest.fixture
def desk(bridge: Bridge) -> Iterator[Desk]:
    made = Desk(bridge, theme.LIGHT, Settings())
    yield made
    # Otherwise its connections would keep the page alive.
    made.deleteLater()
