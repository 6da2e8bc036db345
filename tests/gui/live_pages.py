"""The live page of a test, and what is to be seen and heard on it."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.pages.live import LivePage
from workbench.documents import AnyDocument, PointStart, RunStart, Window
from workbench.plan.reading import plan_from_data

TWO = ("asyncio-streams", "asyncio-protocol")


def shown(qtbot: QtBot, made: LivePage, size: tuple[int, int] = (1300, 820)) -> LivePage:
    qtbot.addWidget(made, before_close_func=lambda _: made)
    made.resize(*size)
    with qtbot.waitExposed(made):
        made.show()
    return made


def feed(page: LivePage, documents: list[AnyDocument]) -> None:
    start = documents[0]
    assert isinstance(start, RunStart)
    page.begin(plan_from_data(start.plan, name="a test"))
    for document in documents:
        page.consume(document)
    page.refresh()


def until_point(documents: list[AnyDocument], number: int, windows: int = 5) -> list[AnyDocument]:
    """Cut where the sweep's point `number` has given that number of windows."""
    sweeps = (d for d in documents if isinstance(d, PointStart) and d.purpose == "sweep")
    point = [start.point for start in sweeps][number]
    within = [i for i, d in enumerate(documents) if isinstance(d, Window) and d.point == point]
    return documents[: within[windows - 1] + 1]


def named(page: QWidget, name: str) -> QAbstractButton:
    (found,) = [b for b in page.findChildren(QAbstractButton) if b.accessibleName() == name]
    return found


def says(page: QWidget, text: str) -> bool:
    return any(text in each.text() for each in page.findChildren(QLabel) if each.isVisible())


def read(page: QWidget, starts: str) -> str:
    """The accessible name of the one visible widget whose begins so."""
    found = [w.accessibleName() for w in page.findChildren(QWidget) if w.isVisible()]
    (name,) = {each for each in found if each.startswith(starts)}
    return name


def heard(page: QWidget) -> str:
    """All accessible names that are to be seen."""
    return "\n".join(w.accessibleName() for w in page.findChildren(QWidget) if w.isVisible())
