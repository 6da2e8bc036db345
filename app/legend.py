"""The servers of a comparison, best first: what each holds, shown or hidden."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QEnterEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QGraphicsOpacityEffect, QPushButton

from app import theme as look
from app.charts import words
from app.charts.drawing import Swatch
from app.charts.model import ChartModel
from app.charts.series import Series
from app.charts.trio import Trio
from app.theme import Theme, Weight
from app.widgets import Chip, Elided, column, empty, frame, label, row


class Legend(QFrame):
    """A click shows or hides a server, pointing at it highlights its line."""

    def __init__(self, trio: Trio, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        self._trio, self._theme = trio, theme
        self._rows: dict[str, _Row] = {}
        self._order: list[str] = []
        inside = column(self, margin=12, gap=4)
        head = row()
        head.addWidget(label("Servers", 14, Weight.DemiBold))
        head.addStretch()
        head.addWidget(label("highest rate with 99 % answered", 12, tone="muted"))
        inside.addLayout(head)
        self._list = column(rows := frame("rows"))
        inside.addWidget(rows)
        trio.highlighted.connect(self._on_highlighted)
        trio.visibility_changed.connect(lambda server, shown: self.refresh())

    def refresh(self) -> None:
        """Take over what the model says."""
        model = self._trio.model
        ranked = [series.id for series in model.ranked()]
        if ranked != self._order:
            self._arrange(ranked)
        for id_, entry in self._rows.items():
            entry.tell(model.series[id_], model, self._trio.is_shown(id_))

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._rows.clear()
        self._order = []
        empty(self._list)
        self.refresh()

    def _arrange(self, ranked: list[str]) -> None:
        self._order = ranked
        for gone in self._rows.keys() - set(ranked):
            self._rows.pop(gone).deleteLater()
        for place, id_ in enumerate(ranked):
            if id_ not in self._rows:
                series = self._trio.model.series[id_]
                self._rows[id_] = _Row(series, self._trio, self._theme)
            self._list.insertWidget(place, self._rows[id_])

    def _on_highlighted(self, server: str) -> None:
        for id_, entry in self._rows.items():
            entry.mark(id_ == server)


class _Row(QFrame):
    def __init__(self, series: Series, trio: Trio, theme: Theme) -> None:
        super().__init__()
        self._id, self._trio, self._theme = series.id, trio, theme
        self.setFixedHeight(34)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        inside = row(self, gap=6)
        inside.setContentsMargins(4, 0, 0, 0)
        self._swatch = Swatch(theme.series(series.index), theme)
        self._name = Elided(13, Weight.Medium)
        self._name.say(series.name)
        self._running = Chip()
        self._word = label("", 12, tone="muted")
        self._figure = label("", 13, Weight.DemiBold, figures=True)
        self._eye = QPushButton()
        self._eye.setProperty("kind", "ghost")
        self._eye.setCheckable(True)
        self._eye.setFixedSize(30, 30)
        self._eye.setIconSize(QSize(16, 16))
        self._eye.setStyleSheet("padding: 0;")
        self._eye.clicked.connect(lambda: trio.toggle(self._id))
        inside.addWidget(self._swatch)
        inside.addWidget(self._name, 1)
        inside.addWidget(self._running)
        inside.addWidget(self._word)
        inside.addWidget(self._figure)
        inside.addWidget(self._eye)

    def tell(self, series: Series, model: ChartModel, shown: bool) -> None:
        running = model.running_server == series.id
        several = bool(model.start and model.start.plan.get("repeats", 1) > 1)
        over = model.over or not (running or several)
        word, figure = words.holds(series, over=over)
        if running:
            word = ""  # the chip says it
        elif not series.stops and not model.over:
            word = "not run yet"
        self.setToolTip(f"{word} {figure}".strip())
        # The short form fits beside the longest names.
        if word == "holds at least":
            word, figure = "holds", f"≥ {figure}"
        elif not figure:
            word = word.removesuffix(" of the rates")
        self._word.setText(word)
        self._figure.setText(figure)
        self._figure.setVisible(bool(figure))
        self._running.say("running" if running else "", "ok")
        self._eye.setChecked(shown)
        self._eye.setIcon(
            look.icon(
                "eye" if shown else "eye-off", self._theme.soft if shown else self._theme.muted
            )
        )
        self._eye.setAccessibleName(f"Show {series.name}")
        self._eye.setToolTip(f"{'Hide' if shown else 'Show'} {series.name}")
        self.setAccessibleName(f"{series.name} {word} {figure}".strip())
        self._fade(not shown or not (series.stops or running))

    def mark(self, highlighted: bool) -> None:
        ground = self._theme.raised if highlighted else "transparent"
        self.setStyleSheet(f"_Row {{ background: {ground}; border-radius: 7px; }}")

    def enterEvent(self, event: QEnterEvent) -> None:
        if self._trio.is_shown(self._id):
            self._trio.highlight(self._id)

    def leaveEvent(self, event: QEvent) -> None:
        self._trio.highlight("")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._trio.toggle(self._id)

    def _fade(self, faded: bool) -> None:
        effect = self._swatch.graphicsEffect()
        if faded and effect is None:
            pale = QGraphicsOpacityEffect(self._swatch)
            pale.setOpacity(0.4)
            self._swatch.setGraphicsEffect(pale)
        elif not faded and effect is not None:
            self._swatch.setGraphicsEffect(None)
        tone = "muted" if faded else ""
        if self._name.property("tone") != tone:
            self._name.setProperty("tone", tone)
            self._name.style().unpolish(self._name)
            self._name.style().polish(self._name)
