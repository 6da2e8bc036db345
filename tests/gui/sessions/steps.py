"""What a user does and sees in the list of sessions, as test steps."""

from __future__ import annotations

from pathlib import Path

import msgspec
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.context import Desk
from app.pages.sessions import SessionsPage
from app.sessions.table import COLUMNS, SessionsView
from app.widgets import dress
from tests.gui.windows import the
from tests.synthetic import End, session
from workbench.documents import MachineRecord, RunStart
from workbench.sessions import Recorder

PATIENCE_MS = 20_000


def made(qtbot: QtBot, desk: Desk) -> SessionsPage:
    page = SessionsPage(desk)
    dress(page, desk.theme)
    page.resize(1196, 740)
    qtbot.addWidget(page)
    page.show()
    return page


def record(
    path: Path,
    name: str = "",
    *,
    month: int = 11,
    servers: int = 2,
    points: int = 4,
    end: End = "done",
    machines: dict[str, list[str]] | None = None,
) -> Path:
    """`machines`: roles by name; None: this computer alone."""
    recorder = Recorder(path)
    start, *rest = session(servers, points, end=end, seconds=1.0, seed=month)
    assert isinstance(start, RunStart)
    plan = start.plan | ({"name": name} if name else {})
    began = f"2026-{month:02}-03T10:00:00Z"
    start = msgspec.structs.replace(start, started_utc=began, plan=plan)
    if machines is not None:
        known = [MachineRecord(name=name, roles=roles) for name, roles in machines.items()]
        start = msgspec.structs.replace(start, machines=known)
    for document in (start, *rest):
        recorder(document)
    recorder.close()
    return path


def listed(qtbot: QtBot, desk: Desk, page: SessionsPage, count: int) -> None:
    desk.shelf_stale.emit()
    qtbot.waitUntil(lambda: len(names(page)) == count, timeout=PATIENCE_MS)


def names(page: SessionsPage) -> list[str]:
    """The sessions listed and not filtered out."""
    found = the(page, SessionsView).model()
    paths = [found.session(row).path for row in range(found.rowCount())]
    return [path.name.partition(".")[0] for path in paths]


def rows(page: SessionsPage) -> SessionsView:
    return the(page, SessionsView)


def cell(page: SessionsPage, row: int, column: str, role: int = Qt.ItemDataRole.DisplayRole) -> str:
    """What is read there."""
    return str(rows(page).model().index(row, COLUMNS.index(column)).data(role))


def row_at(page: SessionsPage, row: int) -> QPoint:
    shown = rows(page)
    return shown.visualRect(shown.model().index(row, 0)).center()


def click(qtbot: QtBot, page: SessionsPage, row: int, *, more: bool = False) -> None:
    keys = Qt.KeyboardModifier.ControlModifier if more else Qt.KeyboardModifier.NoModifier
    qtbot.mouseClick(rows(page).viewport(), Qt.MouseButton.LeftButton, keys, pos=row_at(page, row))
