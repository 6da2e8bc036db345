"""The first page: what this is for, servers to tick, sessions to open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QGridLayout, QScrollArea, QVBoxLayout, QWidget

from app import offer
from app import theme as look
from app.bridge import Bridge
from app.offer import Offer
from app.theme import Theme, Weight
from app.widgets import GAP, Elided, Inline, Tick, button, column, empty, frame, label, row
from app.words import ended, when

if TYPE_CHECKING:
    from workbench.budget import Budget
    from workbench.shelf import Shelved

_RECENT = 4
_COST_AFTER_MS = 250
_WIDEST = 1400


class StartPage(QWidget):
    """Asks for nothing that has an answer already."""

    run_wanted = Signal(object)
    """A plan."""
    open_wanted = Signal(object)
    """A session's path; None: ask which."""
    all_wanted = Signal()

    def __init__(self, bridge: Bridge) -> None:
        super().__init__()
        self._bridge = bridge
        self._offer: Offer | None = None
        self._theme = look.LIGHT
        self._boxes: dict[str, Tick] = {}
        self._asked = 0
        self._busy = False
        across = row(self, gap=0)
        across.addStretch()
        body = QWidget()
        body.setMaximumWidth(_WIDEST)
        across.addWidget(body, 100)
        across.addStretch()
        outer = column(body)
        outer.setContentsMargins(56, 24, 56, 20)
        outer.addStretch(2)
        question = label("Which server holds up, and until what rate?", 36, Weight.DemiBold)
        question.setMinimumWidth(200)
        outer.addWidget(question)
        outer.addSpacing(6)
        about = (
            "Pongbench sends more and more calls per second to each server you choose, and draws"
            " where each one stops keeping up."
        )
        outer.addWidget(label(about, 15, tone="soft", wrap=True))
        outer.addSpacing(24)
        cards = row(gap=16)
        cards.addWidget(self._make_compare(), 3)
        cards.addWidget(self._make_sessions(), 2)
        outer.addLayout(cards, 6)
        outer.addStretch(3)
        foot = "Drop a session anywhere in this window.   Ctrl+O opens one."
        outer.addWidget(label(foot, 12, tone="muted"), 0, Qt.AlignmentFlag.AlignRight)
        self._cost_timer = QTimer(self)
        self._cost_timer.setSingleShot(True)
        self._cost_timer.setInterval(_COST_AFTER_MS)
        self._cost_timer.timeout.connect(self._ask_cost)

    def load(self) -> None:
        """Read the catalogue."""
        self._bridge.submit(offer.load(), self._on_offer, self._error.say)

    def show_recent(self, sessions: Sequence[Shelved]) -> None:
        empty(self._recent)
        for session in [s for s in sessions if s.start is not None][:_RECENT]:
            self._recent.addWidget(self._entry(session))
        self._no_sessions.setVisible(not sessions)
        self._all.setVisible(len(sessions) > 0)

    def set_busy(self, busy: bool) -> None:
        """A run is under way: there is one machine to measure."""
        self._busy = busy
        self._ticked()

    def ticked(self) -> list[str]:
        """Ids of the servers to be compared."""
        return [id_ for id_, box in self._boxes.items() if box.isChecked()]

    def run_ticked(self) -> None:
        """Ask for a run of the ticked servers, if there can be one."""
        if self._offer is not None and self._run.isEnabled():
            self.run_wanted.emit(self._offer.plan_for(self.ticked()))

    def showEvent(self, event: object) -> None:
        self._ticked()

    def _make_compare(self) -> QWidget:
        card = frame()
        inside = column(card, margin=20, gap=10)
        inside.addWidget(label("Compare servers on this computer", 16, Weight.DemiBold))
        about = "They run one after the other, each swept from a calm rate to one too high."
        inside.addWidget(label(about, tone="soft", wrap=True))
        self._grid = QGridLayout(ticks := QWidget())
        self._grid.setContentsMargins(0, 4, 0, 4)
        self._grid.setHorizontalSpacing(20)
        self._grid.setVerticalSpacing(10)
        ticks.setStyleSheet("background: transparent;")
        scroll = QScrollArea()
        scroll.setWidget(ticks)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setStyleSheet("QScrollArea { background: transparent; }")
        scroll.setMinimumHeight(110)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inside.addWidget(scroll, 1)
        self._rates = label("", 12, tone="muted", wrap=True)
        self._cost = label("", 12, tone="muted", wrap=True)
        self._error, self._broken = Inline(), Inline()
        self._run = button("Run the comparison", "play", kind="primary", on_click=self.run_ticked)
        self._run.setEnabled(False)
        for part in (self._rates, self._cost, self._error, self._broken, self._run):
            inside.addWidget(part)
        return card

    def _make_sessions(self) -> QWidget:
        card = frame()
        inside = column(card, margin=20, gap=10)
        inside.addWidget(label("Open a session", 16, Weight.DemiBold))
        about = "Replay what was measured, as a film, through the same charts."
        inside.addWidget(label(about, tone="soft", wrap=True))
        self._no_sessions = label("Sessions you run appear here.", 12, tone="muted")
        inside.addWidget(self._no_sessions)
        self._recent = QVBoxLayout()
        self._recent.setSpacing(GAP)
        inside.addLayout(self._recent)
        inside.addStretch(1)
        self._all = button("All sessions", "arrow-right", kind="ghost")
        self._all.clicked.connect(self.all_wanted)
        self._all.hide()
        inside.addWidget(self._all, 0, Qt.AlignmentFlag.AlignLeft)
        inside.addWidget(
            button("Open a session…", "folder-open", on_click=lambda: self.open_wanted.emit(None))
        )
        return card

    def _entry(self, session: Shelved) -> QWidget:
        start = session.start
        name = str(start.plan.get("name") or session.path.name) if start else session.path.name
        count = len(start.servers) if start else 0
        told = f"{when(start)} · {count} server{'s' if count != 1 else ''} · {ended(session)}"
        made = button("", on_click=lambda: self.open_wanted.emit(session.path))
        made.setAccessibleName(f"Open {name}, {told}")
        made.setStyleSheet("QPushButton { min-height: 50px; }")
        inside = column(made, gap=1)
        inside.setContentsMargins(12, 6, 12, 6)
        for text, said in ((Elided(13, Weight.DemiBold), name), (Elided(12, tone="soft"), told)):
            text.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            text.say(said)
            inside.addWidget(text)
        return made

    def _on_offer(self, found: Offer) -> None:
        self._offer = found
        for place, entry in enumerate(found.entries):
            box = Tick(entry.name)
            box.set_theme(self._theme)
            box.setToolTip(entry.description)
            box.setChecked(entry.id in found.plan.servers and entry.unavailable is None)
            if entry.unavailable is not None:
                box.setEnabled(False)
                box.setToolTip(entry.unavailable.reason)
            box.toggled.connect(self._ticked)
            self._boxes[entry.id] = box
            self._grid.addWidget(box, place // 2, place % 2)
        self._grid.setRowStretch(len(found.entries), 1)
        rates = found.plan.rates_per_s
        self._rates.setText(
            f"{len(rates)} rates from {rates[0]:,.0f} to {rates[-1]:,.0f} new connections per"
            f" second, {found.plan.seconds:g} s each."
            if rates and found.plan.seconds
            else ""
        )
        self._broken.say(" ".join(found.broken), "warn")
        self._ticked()
        if self.isVisible() and self._run.isEnabled():
            self._run.setFocus()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme

    def _ticked(self) -> None:
        ticked = self.ticked()
        self._run.setEnabled(bool(ticked) and not self._busy)
        if self._busy:
            self._cost.setText("A run is under way; the next one can begin when it is over.")
        elif not ticked and self._offer is not None:
            self._cost.setText("Tick at least one server.")
        else:
            self._cost_timer.start()

    def _ask_cost(self) -> None:
        if self._offer is None or self._busy or not self.isVisible():
            return
        self._asked += 1
        asked = self._asked
        self._bridge.submit(
            offer.cost(self._offer.plan_for(self.ticked())),
            lambda budget: self._on_cost(asked, budget),
            lambda sentence: self._error.say(sentence) if asked == self._asked else None,
        )

    def _on_cost(self, asked: int, budget: Budget) -> None:
        if asked != self._asked or self._busy or not self.ticked():
            return
        self._error.say(" ".join(budget.problems))
        self._cost.setText(" ".join([budget.describe()[0], *budget.warnings]))
