"""The Compare page: servers of several sessions in the same charts, their ranking, and the
differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from math import nan
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QStackedWidget, QWidget

from app.charts.chart_menu import open_menu
from app.charts.overlay import Overlay
from app.charts.series import Quantity
from app.charts.trio import Trio
from app.charts.view_state import Look, Showing
from app.comparing.chooser import Chooser
from app.comparing.figures import FiguresView
from app.comparing.ranking import RankingCard
from app.comparing.selection import Loaded, Selection, load
from app.comparing.sessions import ConditionsCard, SessionCards
from app.context import Desk
from app.export.dialog import ask
from app.export.sources import Charts, copy_chart
from app.fields import Segments
from app.live.present import Presentation
from app.live.session_view import keep_view
from app.live.view_bar import ViewBar
from app.plain import tip
from app.scrolling import ANY, Scrolled, stacked
from app.theme import Weight
from app.widgets import (
    GAP,
    PAGE_MARGIN,
    Inline,
    TopBar,
    beside,
    button,
    column,
    fill,
    frame,
    label,
    row,
    stack,
)
from app.words import letters
from workbench.formatting import number_of
from workbench.results.comparison import MOST, compare
from workbench.results.conditions import conditions
from workbench.results.differences import title

_WIDE, _SIDE, _NARROW_SIDE, _INVITATION = 1260, 430, 368, 250
"""Widths: from which the side column has its own, that and another one, and the least that an
invitation to choose sessions needs."""
_NARROW = 1060
_STACKED_PX, _SIDE_PX, _INVITATION_PX = 580, 342, 150
"""The height of a narrow page, and what it grows by where the column is below the charts; the
column's above them."""


class ComparePage(QWidget):
    """Keeps the last comparison."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(focusPolicy=Qt.FocusPolicy.ClickFocus)
        self._desk = desk
        self.selection = Selection()
        self._reading: Future[Loaded] | None = None
        self.comparison = compare([])
        self._top = TopBar("Compare")
        self._make_actions()
        self.refused = Inline("Dismiss")
        self.refused.pressed.connect(lambda: self.refused.show_text(""))
        self._pages = QStackedWidget()
        self._pages.addWidget(self._make_charts())
        self.figures = FiguresView()
        self.figures.rate_requested.connect(self._on_rate)
        self.figures.all_requested.connect(self._on_all)
        self.figures.export_requested.connect(self.export)
        self._pages.addWidget(self.figures)
        body = stack(self.refused, (self._pages, 1), margin=PAGE_MARGIN, gap=GAP)
        column(self, self._top, (body, 1))
        self._show()

    # Actions

    def compare(self, paths: Sequence[Path]) -> None:
        """Compare these sessions only."""
        self.selection.clear()
        self._load(list(paths))

    def add(self, paths: Sequence[Path]) -> None:
        self._load([*self.selection.paths(), *paths])

    def search(self) -> None:
        chooser = Chooser(self, self._desk, self.selection.paths())
        chooser.chosen.connect(self.add)
        chooser.open()

    def copy_chart(self) -> None:
        copy_chart(self.trio, title(self.comparison))

    def present(self) -> None:
        if not self.selection.sides or self.trio.window() is not self.window():
            return
        self._shown_as.set_value("charts")
        made = Presentation(
            self.trio,
            self._desk.theme,
            self.window(),
            keys=self.views.key,
            caption=letters(self.selection.sides),
        )
        made.begin()

    def export(self) -> None:
        """Export the charts as a page or a picture, or the figures as a table."""
        if self.selection.sides:
            source = Charts(
                self.trio,
                title(self.comparison),
                letters(self.selection.sides),
                self.selection.arguments(),
                self.trio.look if self._on_charts else Look(),
            )
            ask(self, self._desk, source)

    # Widgets

    @property
    def _on_charts(self) -> bool:
        return bool(self._shown_as.value() == "charts")

    def _make_actions(self) -> None:
        self._shown_as = Segments("View", [("charts", "Charts"), ("figures", "Figures")])
        self._shown_as.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._shown_as.edited.connect(self._show_view)
        self._beside_on = button("Sessions", "panel-right")
        self._beside_on.setCheckable(True)
        self._beside_on.setAccessibleName("Show side column")
        self._beside_on.setToolTip(tip("Sessions, differences and sustained rates (F9)"))
        self._beside_on.toggled.connect(lambda _: self._show_side())
        self._add = button("Add a session…", "plus", on_click=self.search)
        fill(self._top.actions, self._shown_as, self._beside_on, self._add)

    def _make_charts(self) -> QWidget:
        """Pointing at a row of the ranking highlights its line, and the other way round."""
        self.trio = Trio(Overlay(), self._desk.theme)
        self.trio.show_part(Showing(published=False))
        keep_view(self.trio, self._desk.settings)
        self.trio.menu_wanted.connect(lambda at: open_menu(self.trio, at, self))
        self.trio.visibility_changed.connect(self._on_shown)
        self.views = ViewBar(self.trio)
        made, content, self._card = QWidget(), QWidget(), frame()
        column(self._card, self.views, (self.trio, 1), margin=(GAP, 10, GAP, 6))
        self.ranking, self.conditions = RankingCard(), ConditionsCard()
        self.sessions, self._empty = SessionCards(), self._make_empty()
        parts = self._empty, self.ranking, self.conditions, self.sessions
        column(content, *parts, None, gap=GAP)
        self.side = Scrolled(content)
        self._across = row(made, (self._card, 1), self.side, gap=GAP)
        self.sessions.ticked.connect(self.trio.set_shown)
        self.sessions.removed.connect(self._on_removed)
        self.sessions.promoted.connect(self._on_promoted)
        bars = self.ranking.bars
        self.trio.highlighted.connect(bars.mark)
        bars.pointed.connect(lambda key: self.trio.pointing.hover(key, nan))
        bars.picked.connect(self._on_picked)
        return made

    def _make_empty(self) -> QWidget:
        card, title = frame(), label("Compare sessions", 14, Weight.DemiBold)
        about = (
            "Compare servers across machines, kernels or days: choose sessions, or drop their "
            "files here."
        )
        choose = button("Choose sessions…", "plus", kind="primary", on_click=self.search)
        parts = title, label(about, tone="soft", wrap=True), beside(choose, None)
        column(card, *parts, margin=16, gap=12)
        return card

    # Events

    def _on_picked(self, key: str) -> None:
        """Highlight the line of a contender, or stop highlighting it."""
        self.trio.highlight("" if self.trio.pointing.server == key else key)

    def _load(self, paths: list[Path]) -> None:
        known = {side.path: side for side in self.selection.sides}
        new = len([path for path in dict.fromkeys(paths) if path not in known])
        self._top.chip.show_text(f"Reading {number_of(new, 'sessions')}" if new else "")
        if new and not self.selection.sides:
            self._top.show_text("Compare", "")
            self.trio.model.loading = True
            self.trio.charts[Quantity.REPLIES].refresh()
            self._set_empty(False)

        def then(loaded: Loaded) -> None:
            text = " ".join([*loaded.refused, *loaded.remarks])
            self.refused.show_text(text, "bad" if loaded.refused else "warn")
            self.selection.take(loaded.sides)
            self._show()

        def fail(sentence: str) -> None:
            self._show()
            self.refused.show_text(sentence, "bad")

        self._desk.bridge.drop(self._reading)
        self._reading = self._desk.bridge.submit(load(paths, known), then, fail)

    def _on_removed(self, tag: str) -> None:
        self.selection.remove(tag)
        self._show()

    def _on_promoted(self, tag: str) -> None:
        self.selection.promote(tag)
        self._show()

    def _on_shown(self, key: str, shown: bool) -> None:
        self.selection.show(key, shown)
        self._refresh()

    def _on_all(self) -> None:
        for contender in self.selection.contenders():
            self.selection.show(contender.key, True)
        self.trio.show_only(self.selection.shown())
        self._refresh()

    def _on_rate(self, rate: float | None) -> None:
        self.selection.rate = rate
        self._refresh()

    # Display

    def _show(self) -> None:
        sides = self.selection.sides
        self._top.chip.show_text("")
        model = Overlay(compare(sides))
        self.trio.zooming.reset()
        self.trio.set_model(model)
        self.views.refresh()
        self.trio.show_only(self.selection.shown())
        self.sessions.show_sides(sides)
        self.conditions.display(conditions(sides), len(sides))
        self._set_empty(not sides)
        self._add.setVisible(bool(sides))
        if not sides:
            self._shown_as.set_value("charts")
        self._show_view()
        self._add.setEnabled(len(sides) < MOST)
        self._add.setToolTip(tip("" if self._add.isEnabled() else f"At most {MOST} sessions."))
        self._refresh()

    def _show_view(self) -> None:
        """Show charts or figures, and the controls that apply to them."""
        self._pages.setCurrentIndex(0 if self._on_charts else 1)
        self._shown_as.setVisible(bool(self.selection.sides))
        self._show_side()

    def _set_empty(self, empty: bool) -> None:
        """Hide the choice of views while nothing is compared."""
        self._empty.setVisible(empty)
        self._fit_side()
        self.views.setVisible(not empty and self.trio.window() is self.window())

    def _fit_side(self) -> None:
        way, empty = QBoxLayout.Direction, not self._empty.isHidden()
        width = self.width() - 2 * PAGE_MARGIN
        if stacked(width):
            self._across.setDirection(way.BottomToTop if empty else way.TopToBottom)
            self.side.setMinimumSize(0, _INVITATION_PX if empty else _SIDE_PX)
            self.side.setMaximumSize(ANY, _INVITATION_PX if empty else ANY)
            return
        self._across.setDirection(way.LeftToRight)
        self.side.setMinimumHeight(0)
        self.side.setMaximumHeight(ANY)
        side = _SIDE if width >= _WIDE else _NARROW_SIDE
        if empty:  # then it stands beside the charts at any width
            room = width - self._card.minimumSizeHint().width() - GAP
            side = min(side, max(_INVITATION, room))
        self.side.setFixedWidth(side)

    def _show_side(self) -> None:
        """Show the column beside the charts; in a narrow window only on request."""
        narrow = self.width() < _NARROW and bool(self.selection.sides)
        self._beside_on.setVisible(narrow and self._on_charts)
        shown = not narrow or self._beside_on.isChecked()
        self.side.setVisible(shown)
        high = _STACKED_PX + (_SIDE_PX if shown and narrow and self._on_charts else 0)
        self.setMinimumHeight(high if stacked(self.width()) else 0)

    def _refresh(self) -> None:
        """Apply a change of the servers or the rate."""
        self.comparison = self.selection.comparison()
        self.sessions.display(self.selection.shown())
        self.ranking.display(self.comparison)
        self.figures.display(self.comparison)
        self._top.show_text("Compare", self.selection.describe())

    # Qt's

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_F9 and self._beside_on.isVisible():
            self._beside_on.toggle()
        elif not (self._on_charts and (self.views.key(event) or self.trio.key(event))):
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit_side()
        self._show_side()
