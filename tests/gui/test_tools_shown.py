"""How far load tools agree, and what they left unchecked, next to the charts."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
from fakes.load import ALL, Script, fake_tool
from fakes.run import a_plan, a_session
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app import stylesheet, theme
from app.live.published_panel import PublishedPanel
from app.live.session_view import Board
from app.live.sidebar import Side
from workbench.documents import AnyDocument
from workbench.load import registry

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def shown(qtbot: QtBot, documents: list[AnyDocument]) -> Board:
    board = Board(theme.DARK, live=False)
    qtbot.addWidget(board)
    board.resize(1280, 760)
    with qtbot.waitExposed(board):
        board.show()
    for document in documents:
        board.consume(document)
    board.end()
    board.refresh()
    return board


def tab(board: Board) -> QPushButton:
    (found,) = (
        each
        for each in board.side.findChildren(QPushButton)
        if each.accessibleName() == "Load tools"
    )
    return found


def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *tools: str) -> list[AnyDocument]:
    """Of the fake agent, and of a tool that reports less and sees longer response times."""
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "home"))
    program = msgspec.structs.replace(ALL, reports=ALL.reports - {"conservation", "lateness"})
    other, _ = fake_tool(Script(service_us=400), program, name="other")
    monkeypatch.setitem(registry.TOOLS, "other", other)
    return asyncio.run(a_session(a_plan(with_=tools, servers=["one"]), tmp_path))


def test_the_load_tools_of_a_session_have_a_tab(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = shown(qtbot, session(tmp_path, monkeypatch, "other"))
    tab(board).click()
    QApplication.processEvents()
    labels = [each.text() for each in board.side.tools.findChildren(QLabel) if each.isVisible()]
    text = " ".join(" ".join(labels).split())
    assert "Could not be checked with other: the schedule (calls started late)" in text
    assert "Each compared with fake; times from the send." in text
    for rate in ("1,000/s", "2,000/s"):
        assert f"other / fake, {rate} Replies/s: +0.0 % Mean: +100.0 %" in text
    assert "Cause: not known" in text


@pytest.mark.parametrize(("height", "known"), [(380, False), (380, True), (560, True), (760, True)])
def test_all_titles_of_tabs_are_whole(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, height: int, known: bool
) -> None:
    """`known`: also with the figures of a source."""
    monkeypatch.setattr(PublishedPanel, "known", property(lambda self: known))
    stylesheet.apply(QApplication.instance(), theme.DARK)
    board = shown(qtbot, session(tmp_path, monkeypatch, "other"))
    board.resize(1280, height)
    board.refresh()
    QApplication.processEvents()
    tabs = [each for each in tab(board).group().buttons() if each.isVisible()]
    assert {each.text() for each in tabs} >= {"Tools", *["Published"] * known}
    assert all(each.width() >= each.sizeHint().width() for each in tabs)
    assert all(each.mapTo(board.side, each.rect().topRight()).x() < Side.WIDTH for each in tabs)
    assert sorted(tabs, key=lambda each: (each.y(), each.x())) == tabs


def test_a_single_tool_that_reports_everything_has_none(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = shown(qtbot, session(tmp_path, monkeypatch))
    assert tab(board).isHidden() and not board.side.tools.isVisible()
