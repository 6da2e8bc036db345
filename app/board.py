"""What a session looks like, live or replayed: the trio, the legend, what happened."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLayout, QScrollArea, QVBoxLayout, QWidget

from app import theme as look
from app.charts import words
from app.charts.model import ChartModel
from app.charts.series import PERCENTILES, Clock, Quantity
from app.charts.trio import Trio
from app.legend import Legend
from app.theme import Theme, Weight
from app.widgets import GAP, Choice, column, empty, frame, label, row
from workbench import wording
from workbench.documents import AnyDocument, Note, RunStart

_SIDE, _NARROW_SIDE, _NARROW = 330, 286, 1150
_CLOCKS: tuple[tuple[Clock, str], ...] = (
    ("latency", "Latency, from due time"),
    ("service", "Service time, from send"),
)


class Board(QWidget):
    """Consumes documents; draws on `refresh`, about ten times a second is enough."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.model = ChartModel()
        self._fresh = False
        inside = row(self, gap=GAP)
        card = frame()
        around = QVBoxLayout(card)
        around.setContentsMargins(GAP, 10, GAP, 6)
        self.trio = Trio(self.model, theme)
        around.addWidget(self.trio)
        self.legend = Legend(self.trio, theme)
        self.happened = Happened(theme)
        self._side = QWidget()
        beside = column(self._side, gap=GAP)
        beside.addWidget(self.legend)
        beside.addWidget(self.happened, 1)
        inside.addWidget(card, 1)
        inside.addWidget(self._side)
        self._controls = _Controls(self.trio)

    def clear(self) -> None:
        """Another session begins."""
        self.trio.show_all()
        self._begin()
        self.refresh()

    def consume(self, document: AnyDocument) -> None:
        """A `RunStart` begins afresh: after a jump back in a film it comes again."""
        if isinstance(document, RunStart) and self.model.start is not None:
            self._begin()
        self.model(document)
        if isinstance(document, Note):
            self.happened.add(document, self._name(document))

    def end(self) -> None:
        """No more documents come."""
        if not self.model.over:
            self.model.end()

    def refresh(self) -> None:
        if self._fresh:
            self._fresh = False
            self.trio.set_model(self.model)
        self.trio.refresh()
        self.legend.refresh()
        self.happened.refresh()

    def _name(self, note: Note) -> str:
        series = self.model.series.get(note.server)
        return series.name if series else ""

    def _begin(self) -> None:
        self.model, self._fresh = ChartModel(), True
        self.happened.clear()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._side.setFixedWidth(_SIDE if self.width() >= _NARROW else _NARROW_SIDE)


class _Controls(QWidget):
    """Which response time, at the top right of its chart."""

    def __init__(self, trio: Trio) -> None:
        super().__init__(trio)
        self._trio = trio
        inside = QHBoxLayout(self)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(6)
        inside.setSizeConstraint(QLayout.SizeConstraint.SetFixedSize)
        self._percentile = Choice("Percentile")
        self._clock = Choice("Which response time")
        self._scale = Choice("Scale of the response time")
        for percentile in PERCENTILES:
            self._percentile.addItem(words.percentile(percentile), percentile)
        for clock, text in _CLOCKS:
            self._clock.addItem(text, clock)
        self._scale.addItem("Log scale", True)
        self._scale.addItem("Linear scale", False)
        self._percentile.setCurrentIndex(list(PERCENTILES).index(trio.view.percentile))
        chosen = (trio.set_percentile, trio.set_clock, trio.set_log)
        boxes = (self._percentile, self._clock, self._scale)
        for box, choose in zip(boxes, chosen, strict=True):
            box.setStyleSheet(
                "QComboBox { min-height: 20px; padding: 0 22px 0 8px; font-size: 12px; }"
            )
            box.currentIndexChanged.connect(lambda _, b=box, c=choose: c(b.currentData()))
            inside.addWidget(box)
        trio.charts[Quantity.TIME].installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._place()
        return False

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place()

    def _place(self) -> None:
        chart = self._trio.charts[Quantity.TIME].geometry()
        self.move(chart.right() - self.width() + 1, chart.top() + 1)
        self.raise_()


class Happened(QFrame):
    """The notes of a session, latest first."""

    MOST = 60

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        self._theme = theme
        self._notes: list[tuple[Note, str]] = []
        self._told = 0
        inside = column(self, margin=12, gap=6)
        inside.addWidget(label("What happened", 14, Weight.DemiBold))
        around = column(content := QWidget())
        self._list = column(entries := QWidget(), gap=8)
        around.addWidget(entries)
        around.addStretch(1)
        content.setStyleSheet("background: transparent;")
        scroll = QScrollArea()
        scroll.setWidget(content)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setStyleSheet("QScrollArea { background: transparent; }")
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setAccessibleName("What happened")
        inside.addWidget(scroll)

    def clear(self) -> None:
        self._notes.clear()
        self._told = 0
        empty(self._list)

    def add(self, note: Note, server: str) -> None:
        """`server`: the name of the one it is about; empty: none of those compared."""
        said = note.text
        if server and server not in said:
            said = f"{server}: {said[:1].lower()}{said[1:]}"
        self._notes.append((note, said))

    def refresh(self) -> None:
        for note, said in self._notes[max(self._told, len(self._notes) - self.MOST) :]:
            self._list.insertWidget(0, self._entry(note, said))
        self._told = len(self._notes)
        while self._list.count() > self.MOST:
            item = self._list.takeAt(self._list.count() - 1)
            item.widget().deleteLater()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._told = 0
        empty(self._list)
        self.refresh()

    def _entry(self, note: Note, said: str) -> QWidget:
        entry = QWidget()
        line = row(entry)
        grave = note.topic in ("gave-up", "died", "warning", "audit", "skipped")
        sign = label()
        name, tone = ("triangle-alert", "warn") if grave else ("info", "muted")
        sign.setPixmap(look.icon_pixmap(name, getattr(self._theme, tone), 14))
        when = label(wording.clock(note.t_us / 1e6), 12, tone="muted", figures=True)
        when.setFixedWidth(38)
        for part in (sign, when):
            line.addWidget(part, 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(label(said, 12, tone="soft", wrap=True), 1)
        return entry
