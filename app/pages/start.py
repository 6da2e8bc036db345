"""The Start page: the purpose of the program, and three ways to start."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QPushButton, QWidget

from app.context import Desk
from app.plain import tip
from app.scrolling import Scrolled
from app.stacking import ANY, lay, stacked
from app.start import quick_start
from app.start.art import Art, DropArt, SweepArt
from app.start.compare import CompareCard
from app.start.quick_start import Offer
from app.start.recent import Recent
from app.start.running import RunningDialog
from app.theme import Theme, Weight, font
from app.widgets import Dot, Elided, button, column, dress, frame, label, repolish, row
from workbench.formatting import number_of, time_span
from workbench.paths import RESOURCES
from workbench.plan.budget import Budget
from workbench.plan.library import Preset
from workbench.sessions.library import Shelved

_WIDEST, _TALLEST_CARD = 1_640, 460
"""Of the page and its cards, in pixels; on larger screens the shares below."""
_NARROW = 860
_SHARE_ACROSS, _SHARE_UP = 0.64, 0.24
_CANNOT = "This computer cannot run servers"


class StartPage(QWidget):
    """Asks nothing that has a default."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._theme = desk.theme
        self._offer: Offer | None = None
        whole = QWidget()
        column(self).addWidget(Scrolled(whole))
        across = row(whole, gap=0)
        across.addStretch()
        body = self._body = QWidget()
        across.addWidget(body, 100)
        across.addStretch()
        outer = self._outer = column(body)
        outer.addStretch(2)
        self._question = label("Which server sustains which rate?", 36, Weight.DemiBold)
        self._question.setMinimumWidth(200)
        outer.addWidget(self._question)
        outer.addSpacing(6)
        about = (
            "Pongbench raises the load on each server step by step and shows the rate it can "
            "sustain."
        )
        outer.addWidget(label(about, 15, tone="soft", wrap=True))
        outer.addSpacing(20)
        cards = self._cards = row(gap=16)
        self.compare = CompareCard(desk)
        for card in (self._make_quick(), self.compare, self._make_open()):
            cards.addWidget(card, 1)
        outer.addLayout(cards, 20)
        outer.addSpacing(18)
        self.recent = Recent(desk)
        outer.addWidget(self.recent)
        self._empty = {0: 2, outer.count(): 3}
        """The empty places in the column, and their shares of the spare height."""
        outer.addStretch(3)
        outer.addSpacing(16)
        outer.addLayout(self._make_foot())
        desk.busy_changed.connect(lambda _: self._fit())
        desk.shelf_changed.connect(self.show_recent)
        desk.servers_changed.connect(self.load)
        self.show_recent(desk.shelf)
        self._fit()

    def load(self) -> None:
        """Read the catalogue, and what this computer allows."""
        self._desk.bridge.submit(quick_start.load(), self._on_offer, self._on_no_offer)

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
        dress(self, self._theme)
        self.setFocusProxy(self._primary())

    def ticked(self) -> list[str]:
        """Return the ids of the servers to compare."""
        return self.compare.ticked()

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
            self._desk.run_requested.emit(self._offer.quick)

    def ask_running(self) -> None:
        """Ask for the address of a server that is running already."""
        RunningDialog(self.window(), self._desk).open()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle Enter where no control takes it."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            self.run_this()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: object) -> None:
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        narrow = self.width() < _NARROW
        side = 56 if self.width() > 1_120 else 12 if narrow else 28
        self._cards.setSpacing(8 if narrow else 16)
        below = stacked(self.width())
        lay(self._cards, below=below)
        lay(self._foot, below=below)
        self._question.setWordWrap(below)
        for art in self._arts:
            art.setVisible(not below)
        tall = self.height() > 720
        self._outer.setContentsMargins(side, 24 if tall else 12, side, 20 if tall else 12)
        # In a low window, the list of servers needs the empty space.
        for place, share in self._empty.items():
            self._outer.setStretch(place, share if tall else 0)
        large = self.width() > 1_500 and self.height() > 900
        self._question.setFont(font(44 if large else 36 if tall else 28, Weight.DemiBold))
        self._body.setMaximumWidth(max(_WIDEST, int(_SHARE_ACROSS * self.width())))
        for place in range(self._cards.count()):
            card = self._cards.itemAt(place).widget()
            card.layout().setContentsMargins(*4 * (12 if narrow else 18,))
            tallest = ANY if below else max(_TALLEST_CARD, int(_SHARE_UP * self.height()))
            card.setMaximumHeight(tallest)
        wide = self.width() > 1_500
        for place, share in enumerate((4, 8, 4) if wide else (4, 7, 4)):
            self._cards.setStretch(place, share)
        self.compare.set_stacked(below)
        self.compare.set_across(4 if self.width() > 2_400 else 3 if wide else 2)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme

    def _make_quick(self) -> QFrame:
        self.quick = button("Run Quick look", "play", kind="primary", on_click=self.run_quick)
        self._quick_about = label("", tone="soft", wrap=True)
        self._show_quick()
        self.published = PublishedBenchmarks()
        self.published.taken.connect(self._desk.preset_requested)
        self._arts: list[Art] = [SweepArt(self._theme), DropArt(self._theme)]
        about = self._quick_about
        self.running = button("Measure a running server…", "activity", on_click=self.ask_running)
        actions = (self.quick, self.running, self.published)
        return _card(self._arts[0], "Quick look", about, *actions)

    def _make_open(self) -> QFrame:
        about = "Replay a recorded run, yours or someone else's, in the same charts."
        ask = button(
            "Open a session…", "folder-open", on_click=lambda: self._desk.open_requested.emit(None)
        )
        sample = button("Replay the sample", "film", on_click=self._replay_sample)
        about_label = label(about, tone="soft", wrap=True)
        return _card(self._arts[1], "Open a session", about_label, ask, sample)

    def _replay_sample(self) -> None:
        self._desk.open_requested.emit(RESOURCES / "sessions" / "demo.pong.yaml")

    def _make_foot(self) -> QHBoxLayout:
        self._foot, foot = row(), row()
        self._dot = Dot(self._theme)
        self._state = label("Checking this computer", 12, Weight.Medium, tone="soft")
        self._facts = Elided(12, tone="muted")
        foot.addWidget(self._dot)
        foot.addWidget(self._state)
        foot.addWidget(self._facts, 1)
        hint = "Ctrl+K finds every action, server and session."
        self._foot.addLayout(foot, 1)
        self._foot.addWidget(label(hint, 12, tone="muted"))
        return self._foot

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
        self.published.show_presets(found.resources.presets)
        self.setTabOrder(self.quick, self.published.ask)
        self.compare.chain_after(self.published.ask)
        self.setTabOrder(self.compare.plan, self.running)  # behind what most users need
        self._facts.show_text(found.conditions())
        self._show_quick()
        if not found.refusal:
            self._desk.bridge.submit(found.cost(found.quick), self._on_quick_cost)
        self._fit()
        if first and self.isVisible() and not self._desk.busy:
            self._primary().setFocus()

    def _on_no_offer(self, sentence: str) -> None:
        self.compare.error.show_text(sentence)
        self._dot.set_tone("bad")
        self._state.setText(_CANNOT)

    def _on_quick_cost(self, budget: Budget) -> None:
        self._show_quick(f" Takes {time_span(budget.duration_s)}.")

    def _show_quick(self, takes: str = "") -> None:
        offer = self._offer
        if offer and offer.refusal:
            self.quick.setText("Add a machine")
            self.quick.setAccessibleName(self.quick.text())
            self._quick_about.setText(offer.refusal)
            return
        servers = number_of(len(offer.quick.servers) if offer else 3, "servers")
        self._quick_about.setText(f"{servers} on this computer, one after another.{takes}")

    def _primary(self) -> QPushButton:
        return self.quick if self.quick.property("kind") else self.compare.run

    def _fit(self) -> None:
        busy, known = self._desk.busy, self._offer is not None
        self.quick.setEnabled(known and not busy)
        self.running.setEnabled(known and not busy)
        self.compare.fit()
        if self._offer and self._offer.refusal:
            self._dot.set_tone("bad")
            self._state.setText(_CANNOT)
        elif known:
            self._dot.set_tone("ok")
            self._state.setText("A run is in progress" if busy else "This computer is ready")


class PublishedBenchmarks(QWidget):
    """A button with a menu: each source, from the oldest on, with its presets."""

    taken = Signal(object)
    """A preset."""

    def __init__(self) -> None:
        super().__init__()
        self.ask = button("Published benchmarks", "history", on_click=self._pop_up)
        self.menu = QMenu(self)
        self.menu.setToolTipsVisible(True)
        column(self).addWidget(self.ask)
        self.show_presets(())

    def show_presets(self, presets: Iterable[Preset]) -> None:
        """Offer those that have a source."""
        self.menu.clear()
        asked = [each for each in presets if each.plan and each.plan.source and not each.own]
        for group, members in groupby(asked, key=lambda each: each.group):
            inside = self.menu.addMenu(group)
            inside.setToolTipsVisible(True)
            for preset in members:
                action = inside.addAction(preset.name)
                assert preset.plan
                action.setToolTip(tip(preset.plan.description))
                action.triggered.connect(lambda _=False, preset=preset: self.taken.emit(preset))
        self.ask.setEnabled(bool(asked))

    def _pop_up(self) -> None:
        self.menu.popup(self.ask.mapToGlobal(self.ask.rect().bottomLeft()))


def _card(art: Art, title: str, about: QWidget, *actions: QWidget) -> QFrame:
    card = frame()
    inside = column(card, margin=18, gap=8)
    inside.addWidget(art, 10)
    inside.addSpacing(4)
    inside.addWidget(label(title, 16, Weight.DemiBold))
    inside.addWidget(about)
    inside.addSpacing(4)
    for action in actions:
        # Of the smallest window a third is narrower than a button with its usual margins.
        action.setStyleSheet("QPushButton { padding: 0 4px; }")
        inside.addWidget(action)
    return card
