"""The view of a session, live or replayed: the trio, and the column beside it."""

from __future__ import annotations

from dataclasses import replace
from math import nan

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.charts import words
from app.charts.chart_menu import CLOCKS
from app.charts.model import ChartModel, Whole
from app.charts.series import Quantity
from app.charts.trio import Trio
from app.charts.view_state import DISTRIBUTION, SWEEP
from app.live.distribution_table import DistributionTable
from app.live.events import Event, Place, sentence
from app.live.first_untrusted import doubts
from app.live.run import Trial
from app.live.sidebar import Side
from app.live.view_bar import ViewBar
from app.settings import Settings
from app.theme import Theme
from app.widgets import GAP, column, frame, row
from workbench.analysis.over_time import skipped
from workbench.analysis.series import PERCENTILES, Clock
from workbench.documents import (
    WINDOW_US,
    AnyDocument,
    Note,
    PointStart,
    PointStop,
    RunStart,
    Window,
)
from workbench.messages.notes import Severity, notice
from workbench.messages.topics import read_note, severity
from workbench.plan.model import Plan

_NARROW = 1160
"""Below this width the column beside the charts is a drawer: a window of 1280 has more."""
_AUDIT_MS = 1000
"""Between audits while documents come: each reads all points."""


class Board(QWidget):
    """Consumes documents; draws on `refresh`, about ten times a second is enough."""

    narrowed = Signal(bool)
    """The column beside the charts became a drawer, or no longer is one."""
    warned = Signal(str)
    """One sentence about an unexpected event."""

    def __init__(self, theme: Theme, settings: Settings | None = None, *, live: bool) -> None:
        super().__init__()
        self.model = ChartModel()
        self._whole: Whole | None = None
        self._fresh = False
        self._settings = settings or Settings()
        self._clock: Clock = "latency"
        self._audited = QTimer(self, interval=_AUDIT_MS, singleShot=True)
        self._audited.timeout.connect(self._audit_again)
        self._stopped = False
        """A point has ended since doubts were looked for."""
        self._window = -1
        """The index of the running point's latest window."""
        self.narrow = False
        self.trio = Trio(self.model, theme)
        self.views = ViewBar(self.trio, settings)
        self._table = DistributionTable(self.trio)
        self._table.hide()
        parts = self.views, (self.trio, 1), self._table
        column(card := frame(), *parts, margin=(GAP, 10, GAP, 6))
        self.views.changed.connect(self._on_view)
        self.side = Side(self.trio, live=live)
        self.side.setParent(self)
        self._left = column(left := QWidget(), (card, 1), gap=GAP)
        self._inside = row(self, (left, 1), gap=GAP)
        self.side.events.picked.connect(self._go_to)
        self._make_drawer(False)
        if settings is not None:
            keep_view(self.trio, settings)

    def clear(self, whole: Whole | None = None) -> None:
        """Begin another session, with every server shown and nothing pinned; `whole`: all of its
        data are known.
        """
        self._whole = whole
        self.trio.show_all()
        self.trio.highlight("")
        self.trio.zooming.reset()
        self._begin()
        self.refresh()

    def consume(self, document: AnyDocument) -> None:
        """Consume a document. A `RunStart` resets the view; after a jump back in a film it comes
        again.
        """
        if isinstance(document, RunStart) and self.model.start is not None:
            self._begin()
        self.model(document)
        self.side.vitals(document)
        match document:
            case Note():
                self._note(document)
            case PointStart():
                self._window = -1
            case PointStop():
                self._stopped = True
            case Window():
                self._count(document)

    def end(self) -> None:
        if not self.model.over:
            self.model.end()
        self.side.vitals.end()

    def refresh(self) -> None:
        if self._fresh:
            self._fresh = False
            self._audited.stop()
            self.trio.set_model(self.model)
        self._fit_clock()
        self._audit()
        if self._stopped:
            self._doubt()
        self.trio.refresh()
        self.views.refresh()
        self._table.refresh()
        self.side.refresh()

    def _fit_clock(self) -> None:
        """Show times from the send as soon as a load tool has no others; the user may choose
        again. Another session begins with the user's own choice."""
        if self.model.clock != self._clock:
            self._clock = self.model.clock
            own = self._settings.clock == "service"
            self.trio.set_view(clock="service" if own else self._clock)

    def _audit(self) -> None:
        if self._audited.isActive() and not self.model.over:
            return
        if self.model.unaudited:
            self._audited.start()
        self.model.audit()
        stops = [stop for series in self.model.series.values() for stop in series.stops]
        failed_us = {
            audit.code: max((s.t_us for s in stops if s.point in audit.points), default=0)
            for audit in self.model.audits
            if audit.failed
        }
        self.side.events.show_audits(self.model.audits, failed_us)

    def _audit_again(self) -> None:
        if self.model.unaudited:
            self.refresh()

    def set_paused(self, paused: bool) -> None:
        self.trio.set_paused(paused)
        self.side.legend.refresh()

    def expect(self, plan: Plan) -> None:
        """Set the axes before the run itself defines them."""
        last_x, timeout_s = max(plan.values, default=1000.0), plan.workload.timeout_s
        self.model.expect(plan.axis, last_x=last_x, timeout_s=timeout_s)
        self.refresh()

    def prepare(self, trial: Trial) -> None:
        """List the servers before the run."""
        self.model.expect(servers=[each for each in trial.servers if each[0] not in words.TOOLS])
        self.refresh()

    def show_above(self, widget: QWidget) -> None:
        """Put a widget above the charts; the column beside them keeps its height."""
        self._left.insertWidget(0, widget)

    def toggle_drawer(self) -> None:
        """Open or close the column beside the charts, where it is a drawer."""
        if self.narrow:
            self.side.setVisible(not self.side.isVisible())
            self._place_side()

    def key(self, event: QKeyEvent) -> bool:
        """Handle keys that have one meaning wherever on the page the focus is."""
        if event.key() == Qt.Key.Key_Escape and self.narrow and self.side.isVisible():
            self.side.hide()
            return True
        if event.key() == Qt.Key.Key_F9:
            self.toggle_drawer()
            return True
        return self.views.key(event) or self.trio.key(event)

    def _on_view(self, view: str) -> None:
        self._table.setVisible(view == DISTRIBUTION)
        self._table.refresh()

    def _doubt(self) -> None:
        self._stopped = False
        before = self.side.events.doubts
        self.side.events.show_doubts([self._event(note) for note in doubts(self.model)])
        for event in self.side.events.doubts:
            if event not in before:
                self._warn(event)

    def _note(self, note: Note) -> None:
        event = self._event(note)
        self.side.events.add(event)
        self._warn(event)

    def _event(self, note: Note) -> Event:
        series = self.model.series.get(note.server)
        name = series.name if series else "Null server" if note.server in words.TOOLS else ""
        return Event(note, name, self._place(note))

    def _warn(self, event: Event) -> None:
        if severity(event.note) is Severity.ALERT:
            self.warned.emit(sentence([event]))

    def _go_to(self, server: str, x: float) -> None:
        self.views.choose(SWEEP)
        self.trio.go_to(server, x)

    def _place(self, note: Note) -> Place | None:
        """Return what in the charts a note is about: its own point, or the one in progress."""
        x, point = read_note(note).data().get("x"), self.model.sweeping
        during = point is not None and note.server in ("", point.series)
        if x is None and during and point is not None and self.model.running is not None:
            return point.series, point.x
        if note.server not in self.model.series:
            return None
        return note.server, nan if x is None else float(x)

    def _count(self, window: Window) -> None:
        """Show that windows which a client could not deliver are missing inside a point."""
        missing = skipped(self._window, window)
        self._window = max(self._window, window.index)
        if missing > 0:
            gap = notice("windows-missing", seconds=missing * WINDOW_US / 1e6)
            self._note(gap.note(window.t_us))

    def _begin(self) -> None:
        self.model, self._fresh = ChartModel(), True
        self.model.whole = self._whole
        self._window, self._stopped = -1, False
        self.side.clear()

    def resizeEvent(self, event: QResizeEvent) -> None:
        narrow = self.width() < _NARROW
        if narrow != self.narrow:
            self.narrow = narrow
            self._make_drawer(narrow)
            self.narrowed.emit(narrow)
        self._place_side()

    def _place_side(self) -> None:
        wide = self.side.width()
        self.side.setGeometry(self.width() - wide, 0, wide, self.height())
        self.side.raise_()

    def _make_drawer(self, narrow: bool) -> None:
        """Put the column beside or over the charts. It is in no layout: this may happen while that
        places the charts, and Qt does not survive the loss of an item meanwhile.
        """
        self.side.set_drawer(narrow)
        beside = 0 if narrow else self.side.minimumWidth() + GAP
        self._inside.setContentsMargins(0, 0, beside, 0)
        self.side.setVisible(not narrow)


def keep_view(trio: Trio, settings: Settings) -> None:
    """Apply the last chosen response time, and save a new choice."""
    if settings.percentile in PERCENTILES:
        trio.set_view(percentile=settings.percentile)
    if settings.clock in CLOCKS:
        trio.set_view(clock=settings.clock)
    log = {**trio.showing.log, Quantity.TIME.value: settings.log_scale}
    trio.show_part(replace(trio.showing, log=log))

    def keep() -> None:
        settings.percentile = trio.view.percentile
        if trio.model.clock == "latency":
            settings.clock = trio.view.clock
        settings.log_scale = trio.is_log(Quantity.TIME.value)

    trio.view_changed.connect(keep)
