"""The servers of a comparison, best first: the sustained rate of each, and whether it is shown."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QEnterEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton

from app.charts.drawing import Swatch, name_among
from app.charts.model import ChartModel
from app.charts.series import Series
from app.charts.trio import Trio
from app.plain import Label, tip
from app.scrolling import Scrolled
from app.theme import Theme, Weight, current, font, icon, icon_pixmap
from app.widgets import LONGEST_LINE, Dot, Elided, beside, column, empty, frame, label, retone, row
from workbench.results import sustained
from workbench.untrusted import one_line

_ROW, _HEAD = 28, 48


class Legend(QFrame):
    """A row: a click shows or hides the server, pointing at it highlights its line."""

    grown = Signal()
    """The number of rows has changed."""

    def __init__(self, trio: Trio, *, live: bool = True) -> None:
        """`live`: a server that is in progress is running now, and is not a recording."""
        super().__init__(objectName="card")
        self._trio, self._live = trio, live
        self._column = label("", 12, tone="muted")
        head = beside(label("Servers", 14, Weight.DemiBold), None, self._column)
        self._list = column(inner := frame("rows"))
        column(outer := frame("rows"), inner, None)
        self._scrolled = Scrolled(outer)
        self._scrolled.setAccessibleName("Servers")
        self._order: list[str] = []
        self.rows: dict[str, _Row] = {}
        """By key; a row stays the same widget when its place changes."""
        self._empty_hint = label("Servers appear here.", 12, tone="muted")
        column(self, head, self._empty_hint, (self._scrolled, 1), (None, 0), margin=12, gap=4)
        trio.highlighted.connect(self._on_highlighted)
        trio.visibility_changed.connect(lambda server, shown: self.refresh())

    def whole_height(self) -> int:
        return _HEAD + max(1, len(self.rows)) * _ROW

    def refresh(self) -> None:
        model = self._trio.model
        sought = "peak" if model.axis.bounds else "sustained rate (99 % answered)"
        self._column.setText(sought if model.axis.has_limit else sustained.most(model.axis))
        ranked, before = [series.id for series in model.ranked()], len(self.rows)
        self._empty_hint.setVisible(not ranked)
        if ranked != self._order:
            self._arrange(ranked)
        if len(ranked) != before:
            self.grown.emit()
        for id_, entry in self.rows.items():
            entry.display(model.series[id_], model, self._trio.is_shown(id_))

    def set_theme(self, theme: Theme) -> None:
        self.rows.clear()
        self._order = []
        empty(self._list)
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        # No row is cut; a scroll bar shows that there are more.
        self._scrolled.setMaximumHeight(max(1, (self.height() - _HEAD) // _ROW) * _ROW)

    def _arrange(self, order: list[str]) -> None:
        series = self._trio.model.series
        for gone in self.rows.keys() - set(order):
            self.rows.pop(gone).deleteLater()
        for place, id_ in enumerate(order):
            if id_ not in self.rows:
                number = list(series).index(id_) + 1
                self.rows[id_] = _Row(series[id_], number, self._trio, live=self._live)
            self._list.insertWidget(place, self.rows[id_])
        self._order = order

    def _on_highlighted(self, server: str) -> None:
        for id_, entry in self.rows.items():
            entry.mark(id_ == server)


def _sign(icon: str, colour: str, name: str) -> Label:
    """Return a sign of a server's row, hidden at first."""
    made = Label()
    made.setPixmap(icon_pixmap(icon, colour, 15))
    made.setAccessibleName(name)
    made.hide()
    return made


class _Row(QFrame):
    def __init__(self, series: Series, place: int, trio: Trio, *, live: bool) -> None:
        super().__init__()
        theme = current()
        self._live = live
        self._id, self._trio, self._theme = series.id, trio, theme
        self._content: object = None
        self._marked = False
        self._key = str(place) if place <= 9 else ""
        """The key that shows and hides it."""
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFixedHeight(_ROW)
        self._swatch = Swatch(theme.series(series.index), theme, 0.85)
        self._name = Elided(13, Weight.Medium, shorten=self._shorten)
        self._name.show_text(series.name)
        self._tasks = label("", 12, tone="muted", figures=True)
        self._dot = Dot(theme)
        self._dot.hide()
        self._word = label("", 12, tone="muted")
        self._figure = label("", 13, Weight.DemiBold, figures=True)
        self._faulty = _sign("circle-x", theme.bad, "faulty")
        self._disqualified = _sign("octagon-x", theme.bad, "disqualified")
        self._tainted = _sign("triangle-alert", theme.warn, "an audit failed")
        signs = self._dot, self._faulty, self._disqualified, self._tainted
        rest = self._tasks, *signs, self._word, self._figure, self._make_switch()
        row(self, self._swatch, (self._name, 1), *rest, margin=(2, 0, 0, 0), gap=6)

    def _make_switch(self) -> QHBoxLayout:
        """Return the eye that shows and hides the server, and its key; before the name the key
        would be read as a rank.
        """
        key = label(self._key, 11, tone="muted", figures=True)
        key.setAlignment(Qt.AlignmentFlag.AlignCenter)
        key.setFixedSize(15, 16)
        if self._key:
            key.setStyleSheet(f"border: 1px solid {self._theme.line2}; border-radius: 3px;")
        self._eye = QPushButton(checkable=True, iconSize=QSize(16, 16))
        self._eye.setProperty("kind", "ghost")
        self._eye.setFixedSize(28, 26)
        self._eye.setStyleSheet("padding: 0; min-height: 0;")
        self._eye.clicked.connect(lambda: self._trio.toggle(self._id))
        return beside(key, self._eye, gap=2)

    def _shorten(self, text: str, width: float) -> str:
        """Return what of its name is shown, which reads unlike that of every other server."""
        names = (one_line(each.name, LONGEST_LINE) for each in self._trio.model.series.values())
        return name_among(text, names, font(13, Weight.Medium), width)

    def display(self, series: Series, model: ChartModel, shown: bool) -> None:
        running = model.running_server == series.id
        paused = running and self._trio.paused
        over = model.over or not (running or _goes_on(series, model))
        result = sustained.parts(series, over=over)
        tainted = [audit for audit in model.audits if audit.failed and series.id in audit.servers]
        audits = [f"Audit failed: {audit.label}. {audit.message.text()}" for audit in tainted]
        stopped = f"Disqualified: {series.disqualified}." * bool(series.disqualified)
        why = "\n".join(filter(None, (sustained.why_unknown(series), stopped, *audits)))
        tasks, peaks = series.tasks, "\n".join(peak.text() for peak in series.peaks)
        content = result, why, running, paused, shown, bool(series.shown), model.over, tasks, peaks
        if content == self._content:
            return
        self._content = content
        if running and not self._live and not over and result.figure and not result.words:
            # No light says it, for a recording does not run.
            result = replace(result, words="so far")
        told = result.text if series.complete or not running else ""
        if running and (self._live or not series.complete):
            result = replace(result, verb="", words="")  # the light says it
        elif not series.shown and not model.over:
            result = sustained.Sustained(words="not run yet")
            told = result.text
        at_rest = f"{tasks.text} at rest" * bool(tasks.text)
        self.setToolTip(tip("\n".join(filter(None, (told, peaks, at_rest, why)))))
        # The list's header explains the figures; the names need the space.
        self._word.setText("paused" if paused else result.words)
        self._word.setVisible(bool(self._word.text()))
        self._faulty.setVisible(series.faulty is not None)
        self._disqualified.setVisible(bool(stopped))
        self._tainted.setVisible(bool(tainted))
        self._figure.setText(result.figure)
        self._figure.setVisible(bool(result.figure))
        self._tasks.setText("".join(tasks.in_legend[-1:]))
        self._tasks.setVisible(bool(tasks.in_legend))
        runs = running and self._live
        state = "paused" if paused else "running"
        self._dot.set_tone("warn" if paused else "ok")
        self._dot.setAccessibleName(state)
        self._dot.setToolTip(tip(state.capitalize()))
        self._dot.setVisible(runs)
        self._eye.setChecked(shown)
        self._eye.setIcon(
            icon("eye" if shown else "eye-off", self._theme.soft if shown else self._theme.muted)
        )
        self._eye.setAccessibleName(f"Show {series.name}")
        key = f" ({self._key})" if self._key else ""
        self._eye.setToolTip(tip(f"{'Hide' if shown else 'Show'} {series.name}{key}"))
        state = f"{state}, " if runs else ""
        spoken = (f"{series.name} {state}{told}".strip(" ,"), *tasks.in_legend[:1])
        self.setAccessibleName(", ".join(spoken))
        retone(self._name, "" if shown and (series.shown or running) else "muted")

    def mark(self, highlighted: bool) -> None:
        if highlighted == self._marked:
            return
        self._marked = highlighted
        ground = self._theme.raised if highlighted else "transparent"
        self.setStyleSheet(f"_Row {{ background: {ground}; border-radius: 7px; }}")

    def enterEvent(self, event: QEnterEvent) -> None:
        if self._trio.is_shown(self._id):
            self._trio.pointing.hover(self._id, self._trio.pointing.rate)

    def leaveEvent(self, event: QEvent) -> None:
        self._trio.pointing.hover("", 0.0)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._trio.toggle(self._id)


def _goes_on(series: Series, model: ChartModel) -> bool:
    """Whether more of it will be measured, in another pass or at the deciding rate."""
    plan = model.start.plan if model.start else {}
    return plan.get("repeats", 1) > 1 or series.in_doubt(plan.get("looks", 1))
