"""Then and now: the figures of a source beside those of the session, in the side column."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QWidget

from app.charts.drawing import Swatch
from app.charts.trio import Trio
from app.scrolling import Scrolled
from app.theme import Theme, Weight
from app.widgets import column, empty, label, row
from workbench.results.published import Row, ThenAndNow, then_and_now


class Then(QFrame):
    """Shows the servers of the charts' model."""

    def __init__(self, trio: Trio, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        self._trio, self._theme = trio, theme
        self._version = -1
        self._shown: ThenAndNow | None = None
        inside = column(self, margin=12, gap=6)
        around = column(content := QWidget())
        self._list = column(entries := QWidget(), gap=8)
        around.addWidget(entries)
        around.addStretch(1)
        inside.addWidget(Scrolled(content, "Published, and now"))

    @property
    def known(self) -> bool:
        """Whether there is something to compare."""
        return self._shown is not None

    def refresh(self) -> None:
        model = self._trio.model
        asks = model.start is not None and bool(model.start.plan.get("source"))
        if not asks:
            self._shown = None
            return
        version = sum(len(series.stops) for series in model.series.values())
        if version == self._version and self._shown is not None:
            return
        self._version = version
        assert model.start is not None
        found = then_and_now(model.start.plan, model.series)
        if found != self._shown:
            self._shown = found
            self._fill()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._fill()

    def _fill(self) -> None:
        empty(self._list)
        if self._shown is None:
            return
        self._list.addWidget(label(self._shown.citation, 12, tone="muted", wrap=True))
        self._list.addWidget(label(self._shown.found, 12, tone="soft", wrap=True))
        differs = f"Not the same now: {self._shown.differs}"
        self._list.addWidget(label(differs, 12, tone="soft", wrap=True))
        for each in self._shown.rows:
            self._list.addWidget(self._entry(each))

    def _entry(self, each: Row) -> QWidget:
        inside = column(made := QWidget(), gap=1)
        head = row()
        if each.id in self._trio.model.series:
            index = self._trio.model.series[each.id].index
            head.addWidget(Swatch(self._theme.series(index), self._theme, 0.85))
        head.addWidget(label(each.name, 13, Weight.DemiBold, wrap=True), 1)
        inside.addLayout(head)
        stated = f"Published: {each.then} ({each.cited})"
        inside.addWidget(label(stated, 12, tone="soft", wrap=True))
        if each.now:
            inside.addWidget(label(f"Now: {each.now}", 12, wrap=True, figures=True))
        return made
