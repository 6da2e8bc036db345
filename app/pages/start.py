"""The Start page: the purpose of the program, and three ways to start."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from app.context import Desk
from app.scrolling import ANY, Scrolled, lay, stacked
from app.start import quick_start
from app.start.compare import CompareCard
from app.start.quick_start import Offer
from app.start.recent import Recent
from app.start.running import RunningDialog
from app.theme import Weight
from app.widgets import (
    Sign,
    beside,
    button,
    column,
    frame,
    label,
    rename,
    repolish,
    row,
    set_icon,
    stack,
)
from workbench.formatting import number_of, time_span
from workbench.paths import RESOURCES
from workbench.plan.budget import Budget
from workbench.sessions.library import Shelved

_WIDEST, _TALLEST_CARD = 1_640, 420
"""Of the page and its cards, in pixels; on larger screens the shares below."""
_SHARE_ACROSS, _SHARE_UP = 0.64, 0.24
_MARGIN, _ICON_PX = 16, 20
_SAMPLE = RESOURCES / "sessions" / "demo.pong.yaml"


class StartPage(QWidget):
    """Asks nothing that has a default."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._offer: Offer | None = None
        whole, body, ways = QWidget(), QWidget(), QWidget()
        column(self, Scrolled(whole))
        row(whole, (None, 0), (body, 100), (None, 0), gap=0)
        self._body = body
        self._question = label("Which server sustains which rate?", 32, Weight.DemiBold)
        self._question.setMinimumWidth(200)
        about = (
            "Pongbench raises the load on each server step by step and shows the rate it can "
            "sustain."
        )
        self.compare, self.recent = CompareCard(desk), Recent(desk)
        cards = self._make_quick(), self._make_running(), self._make_open()
        column(ways, *((card, 1) for card in cards), gap=8)
        self._cards = beside((ways, 5), (self.compare, 8))
        heading = stack(self._question, label(about, 15, tone="soft", wrap=True), gap=6)
        parts = heading, 20, (self._cards, 20), 18, self.recent
        column(body, (None, 2), *parts, (None, 3), margin=_MARGIN)
        # What most users need comes first.
        for behind in (*self._sessions, self.running, self.compare.all):
            self.setTabOrder(self.compare.plan, behind)
        desk.busy_changed.connect(lambda _: self._fit())
        desk.shelf_changed.connect(self.show_recent)
        desk.servers_changed.connect(self.load)
        self.show_recent(desk.shelf)
        self._fit()

    def load(self) -> None:
        """Read the catalogue, and what this computer allows."""
        self._desk.bridge.submit(quick_start.load(), self._on_offer, self.compare.error.show_text)

    def show_recent(self, sessions: Sequence[Shelved]) -> None:
        self.recent.show_sessions(sessions)
        # Users with sessions want the next comparison rather than a quick look.
        known = bool(sessions)
        for each, kind in (
            (self.quick, "" if known else "primary"),
            (self.compare.run, "primary" if known else ""),
        ):
            if each.property("kind") != kind:
                each.setProperty("kind", kind)
                repolish(each)
                set_icon(each, "play")  # in the colour of its kind
        self.setFocusProxy(self._primary())

    def run_this(self) -> None:
        """Run the comparison while it is being chosen; else do what the primary button does."""
        at = self.focusWidget()
        choosing = at is not None and self.compare.isAncestorOf(at)
        quick = self._primary() is self.quick and not choosing
        (self.run_quick if quick else self.compare.ask_run)()

    def run_quick(self) -> None:
        """Request a quick look; where this computer runs nothing, show machines that could."""
        if self._offer is not None and self._offer.refusal:
            self._desk.page_requested.emit("Machines")
        elif self._offer is not None and self.quick.isEnabled():
            self._desk.run_requested.emit(self._offer.quick, None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle Enter where no control takes it."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            self.run_this()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: object) -> None:
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        below = stacked(self.width())
        lay(self._cards, below=below)
        self._question.setWordWrap(below)
        self._body.setMaximumWidth(max(_WIDEST, int(_SHARE_ACROSS * self.width())))
        for place in range(self._cards.count()):
            tallest = ANY if below else max(_TALLEST_CARD, int(_SHARE_UP * self.height()))
            self._cards.itemAt(place).widget().setMaximumHeight(tallest)

    def _make_quick(self) -> QFrame:
        self.quick = button("Run Quick look", "play", kind="primary", on_click=self.run_quick)
        self._quick_about = label("", tone="soft", wrap=True)
        self._show_quick()
        return _card("play", "Quick look", self._quick_about, self.quick)

    def _make_running(self) -> QFrame:
        text = "Your own service, by its address. Nothing is deployed or restarted."
        self.running = button("Measure a running server…", "activity")
        self.running.clicked.connect(lambda: RunningDialog(self.window(), self._desk).open())
        about = label(text, tone="soft", wrap=True)
        return _card("server", "A running server", about, self.running)

    def _make_open(self) -> QFrame:
        about = "Replay a recorded run, yours or someone else's, in the same charts."
        opened = self._desk.open_requested.emit
        sample = button("Replay the sample", "film", on_click=partial(opened, _SAMPLE))
        ask = button("Open a session…", "folder-open", on_click=partial(opened, None))
        self._sessions = (sample, ask)
        return _card("film", "Open a session", label(about, tone="soft", wrap=True), ask, sample)

    def _on_offer(self, found: Offer) -> None:
        self._show(found)
        self._desk.resources_read.emit(found.resources)
        if not found.refusal:  # Whoever is connected need not wait for this.
            self._desk.bridge.submit(quick_start.reached(found), self._on_reached)

    def _on_reached(self, found: Offer) -> None:
        if found.unreached is not None:
            self._show(found)

    def _show(self, found: Offer) -> None:
        first = self._offer is None
        self._offer = found
        self.compare.set_offer(found)
        self._show_quick()
        if not found.refusal:
            self._desk.bridge.submit(found.cost(found.quick), self._show_quick)
        self._fit()
        if first and self.isVisible() and not self._desk.busy:
            self._primary().setFocus()

    def _show_quick(self, cost: Budget | None = None) -> None:
        offer = self._offer
        if offer and offer.refusal:
            rename(self.quick, "Add a machine")
            self._quick_about.setText(offer.refusal)
            return
        servers = number_of(len(offer.quick.servers) if offer else 3, "servers")
        takes = f" Takes {time_span(cost.duration_s)}." if cost else ""
        self._quick_about.setText(f"{servers} on this computer, one after another.{takes}")

    def _primary(self) -> QPushButton:
        return self.quick if self.quick.property("kind") else self.compare.run

    def _fit(self) -> None:
        busy, known = self._desk.busy, self._offer is not None
        self.quick.setEnabled(known and not busy)
        self.running.setEnabled(known and not busy)
        self.compare.fit()


def _card(icon: str, title: str, about: QWidget, *actions: QWidget) -> QFrame:
    card = frame()
    head = beside(Sign("soft", icon, _ICON_PX), (label(title, 16, Weight.DemiBold), 1))
    for action in actions:
        # Of the smallest window a third is narrower than a button with its usual margins.
        action.setStyleSheet("QPushButton { padding: 0 4px; }")
    foot = beside(*((action, 1) for action in actions))
    column(card, head, about, None, foot, margin=14, gap=6)
    return card
