"""A window of pages, and the rail that leads to them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from app import actions, page_registry
from app.actions import Action
from app.context import Desk
from app.scrolling import Whole
from app.shell.rail import Rail
from app.stacking import NARROWEST
from app.widgets import dress

if TYPE_CHECKING:
    from app.live.run import Where
    from app.pages.film import FilmPage
    from app.pages.live import LivePage
    from app.pages.plan import PlanPage
    from app.pages.sessions import SessionsPage
    from app.pages.start import StartPage
    from workbench.plan.library import Preset
    from workbench.plan.model import Plan

_LEAST = QSize(NARROWEST, 460)
"""Below this size every page scrolls; one whose parts stand one below another needs more height."""
_ASIDE = ("Help", "Settings")
"""Pages that Esc leaves for the one before."""


class PagedWindow(QMainWindow):
    """Shows the page that the user or another part of the program asks for."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self._left = "Start"
        """The page shown before help or settings."""
        self._pages: dict[str, QWidget] = {}
        self._stack, body = _Pages(), QWidget()
        filled = QVBoxLayout(body)
        filled.setContentsMargins(0, 0, 0, 0)
        filled.addWidget(self._stack)
        self._area = Whole(body)
        self.rail = Rail(lambda: self.show_page("Start"))
        for name, place in page_registry.RAIL.items():
            self.rail.add(name, place.icon, lambda name=name: self.show_page(name))
        desk.page_requested.connect(self.show_page)
        desk.run_requested.connect(self.run)
        desk.run_on_requested.connect(self.run)
        desk.plan_requested.connect(self._edit)
        desk.preset_requested.connect(self._take)
        desk.compare_requested.connect(self._compare)
        for name, place in page_registry.ALL.items():
            if place.key:
                QShortcut(QKeySequence(place.key), self, partial(self.show_page, name))
        for action in (*actions.WINDOW, *actions.PAGES):
            for key in action.keys:
                QShortcut(QKeySequence(key), self, partial(self.act, action))

    def act(self, action: Action) -> None:
        """Do it in the window; an action of pages has the page do it that keys are for; if it
        cannot, the page that can is shown.
        """
        if action in actions.WINDOW:
            getattr(self, action.method)()
            return
        page = self.addressed
        if not hasattr(page, action.method):
            if not action.page:
                return
            self.show_page(action.page)
            page = self.shown
        getattr(page, action.method)()

    def page(self, name: str) -> QWidget:
        """Return the page with this name (`page_registry.ALL`); it is built on first use."""
        found = self._pages.get(name)
        if found is None:
            place = page_registry.ALL[name]
            found = self._pages[name] = place.make(self.desk)
            found.setAccessibleName(place.title or name)  # it takes the focus
            self._stack.addWidget(found)
            self.dress(found)
        return found

    def dress(self, root: QWidget) -> None:
        """Apply the theme to the icons and the custom painting of what was just built."""
        dress(root, self.desk.theme)

    def show_page(self, name: str) -> None:
        page = self.page(name)
        if self.desk.settings.page not in _ASIDE:
            self._left = self.desk.settings.page
        self._stack.setCurrentWidget(page)
        # Meanwhile Qt gave the focus to whatever is next, and that was brought into view.
        for bar in (self._area.horizontalScrollBar(), self._area.verticalScrollBar()):
            bar.setValue(0)
        page.setFocus()
        self.rail.check(page_registry.ALL[name].rail)
        self.desk.settings.page = name

    @property
    def shown(self) -> QWidget | None:
        """Return the visible page."""
        return self._stack.currentWidget()

    @property
    def addressed(self) -> QWidget | None:
        """Return the page that keys are for: the visible one, or the Plan page while that reads a
        file that was dropped on another.
        """
        plan = self._pages.get("Plan")
        return plan if plan is not None and self.plan.reading else self.shown

    @property
    def start(self) -> StartPage:
        return self.page("Start")  # type: ignore[return-value]

    @property
    def live(self) -> LivePage:
        return self.page("Live")  # type: ignore[return-value]

    @property
    def plan(self) -> PlanPage:
        return self.page("Plan")  # type: ignore[return-value]

    @property
    def film(self) -> FilmPage:
        return self.page("Film")  # type: ignore[return-value]

    @property
    def sessions(self) -> SessionsPage:
        return self.page("Sessions")  # type: ignore[return-value]

    def run(self, plan: Plan, where: Where | None = None) -> None:
        """Start a comparison, on this computer or elsewhere, and show it."""
        if not self.desk.busy:
            self.live.start(plan, where)
        self.show_page("Live")

    def _edit(self, plan: Plan) -> None:
        self.plan.edit(plan)
        self.show_page("Plan")

    def _take(self, preset: Preset) -> None:
        self.plan.take(preset)
        self.show_page("Plan")

    def _compare(self, sessions: list[Path]) -> None:
        self.page("Compare").compare(sessions)  # type: ignore[attr-defined]
        self.show_page("Compare")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave help and settings by Esc, where nothing else takes it."""
        if event.key() == Qt.Key.Key_Escape and self.desk.settings.page in _ASIDE:
            self.show_page(self._left)
        else:
            super().keyPressEvent(event)


class _Pages(QStackedWidget):
    """Takes the height that there is. Because pages wrap texts, Qt would otherwise give them the
    height they like best, and they would scroll.
    """

    def __init__(self) -> None:
        super().__init__()
        self.currentChanged.connect(lambda _: self.updateGeometry())

    def hasHeightForWidth(self) -> bool:
        return False

    def minimumSizeHint(self) -> QSize:
        """Return what the shown page needs; Qt would return what all of them need."""
        page = self.currentWidget()
        if page is None:
            return _LEAST
        needed = page.minimumSizeHint().height()  # little where all of it scrolls already
        high = needed if needed < _LEAST.height() // 2 else _LEAST.height()
        return QSize(_LEAST.width(), max(high, page.minimumHeight()))
