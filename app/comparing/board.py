"""The charts of a comparison, and the column beside them."""

from __future__ import annotations

from math import nan

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from app.charts.overlay import Overlay, OverlayTrio
from app.charts.trio import open_menu
from app.comparing.conditions import ConditionsCard
from app.comparing.ranking import RankingCard
from app.comparing.sessions import SessionCards
from app.context import Desk
from app.live.session_view import Controls, keep_view
from app.live.view_bar import ViewBar
from app.scrolling import Scrolled
from app.stacking import ANY, stacked
from app.theme import Weight
from app.widgets import GAP, button, column, frame, label, row

_INVITATION_PX, _SIDE_PX = 150, 330
"""The heights of the column where it stands above or below the charts."""
_WIDE, _SIDE, _NARROW_SIDE, _INVITATION = 1260, 430, 368, 250
"""Widths: from which the side column has its own, that and another one, and the least that an
invitation to choose sessions needs."""


class CompareBoard(QWidget):
    """Pointing at a row of the ranking highlights its line, and the other way round."""

    choose_requested = Signal()
    "The user wants to choose sessions."

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        across = self._across = row(self, gap=GAP)
        card = frame()
        self._card, self._around = card, column(card)
        around = self._around
        around.setContentsMargins(GAP, 10, GAP, 6)
        self.trio = OverlayTrio(Overlay(), desk.theme)
        keep_view(self.trio, desk.settings)
        self._controls = Controls(self.trio)
        self.views = ViewBar(self.trio)
        around.addWidget(self.views)
        self.trio.menu_wanted.connect(lambda at: open_menu(self.trio, at))
        around.addWidget(self.trio, 1)
        across.addWidget(card, 1)
        self.empty = self._make_empty()
        self.sessions = SessionCards(desk.theme)
        self.conditions = ConditionsCard(desk.theme)
        self.ranking = RankingCard(desk.theme)
        self.side = self._make_side()
        across.addWidget(self.side)
        self.sessions.ticked.connect(self.trio.set_shown)
        self.trio.highlighted.connect(self.ranking.highlight)
        self.ranking.pointed.connect(lambda key: self.trio.pointing.hover(key, nan))
        self.ranking.picked.connect(self._on_picked)

    def set_empty(self, empty: bool) -> None:
        """Hide the controls of the response time while nothing is compared."""
        self.empty.setVisible(empty)
        self._fit_side()
        for each in (self._controls, self.views):
            each.setVisible(not empty and self.trio.window() is self.window())

    def lend(self) -> OverlayTrio:
        """Give the charts away, for example to a projector."""
        self._controls.hide()
        return self.trio

    def take_back(self) -> None:
        self._around.insertWidget(1, self.trio, 1)
        self._controls.show()
        self.trio.show()

    def _make_side(self) -> Scrolled:
        content = QWidget()
        beside = column(content, gap=GAP)
        for part in (self.empty, self.sessions, self.conditions, self.ranking):
            beside.addWidget(part)
        beside.addStretch(1)
        return Scrolled(content)

    def _make_empty(self) -> QWidget:
        card = frame()
        inside = column(card, margin=16, gap=12)
        inside.addWidget(label("Compare sessions", 14, Weight.DemiBold))
        about = (
            "Compare servers across machines, kernels or days: choose sessions, or drop their "
            "files here."
        )
        inside.addWidget(label(about, tone="soft", wrap=True))
        ask = self.choose_requested.emit
        choose = button("Choose sessions…", "plus", kind="primary", on_click=ask)
        inside.addWidget(choose, 0, Qt.AlignmentFlag.AlignLeft)
        return card

    def _on_picked(self, key: str) -> None:
        """Highlight the line of a contender, or stop highlighting it."""
        pointing = self.trio.pointing
        self.trio.highlight("" if pointing.server == key else key)

    def _fit_side(self) -> None:
        way, empty = QBoxLayout.Direction, not self.empty.isHidden()
        if stacked(self.width()):
            self._across.setDirection(way.BottomToTop if empty else way.TopToBottom)
            self.side.setMinimumSize(0, _INVITATION_PX if empty else _SIDE_PX)
            self.side.setMaximumSize(ANY, _INVITATION_PX if empty else ANY)
            return
        self._across.setDirection(way.LeftToRight)
        self.side.setMinimumHeight(0)
        self.side.setMaximumHeight(ANY)
        side = _SIDE if self.width() >= _WIDE else _NARROW_SIDE
        if empty:  # then it stands beside the charts at any width
            room = self.width() - self._card.minimumSizeHint().width() - GAP
            side = min(side, max(_INVITATION, room))
        self.side.setFixedWidth(side)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit_side()
