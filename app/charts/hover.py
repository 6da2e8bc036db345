"""The card that tells one point: its figures, what became of lost calls, and the verdict."""

from __future__ import annotations

from math import isnan

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsDropShadowEffect,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app import theme as look
from app.charts import words
from app.charts.drawing import Swatch
from app.charts.model import Quantity, Reading, Series, View
from app.theme import Theme, Weight, font
from workbench import wording

_ICONS = {
    "ok": ("circle-check", "ok"),
    "server-limited": ("gauge", "warn"),
    "client-limited": ("triangle-alert", "warn"),
    "ports-limited": ("triangle-alert", "warn"),
    "network-limited": ("triangle-alert", "warn"),
    "inconclusive": ("info", "muted"),
}


class HoverCard(QFrame):
    """Floats top left over the replies chart, where no line can be. Never takes the mouse."""

    WIDTH = 292

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("floating")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFixedWidth(self.WIDTH)
        self._theme = theme
        shadow = QGraphicsDropShadowEffect(self)
        shadow.setBlurRadius(28)
        shadow.setOffset(0, 8)
        shadow.setColor(QColor(0, 0, 0, 120 if theme.dark else 46))
        self.setGraphicsEffect(shadow)
        self._body: QWidget | None = None
        outer = QVBoxLayout(self)
        outer.setContentsMargins(12, 9, 12, 9)
        self.hide()

    def tell(self, series: Series, reading: Reading, view: View) -> None:
        """Show one point of one server."""
        if self._body is not None:
            self._body.setParent(None)
            self._body.deleteLater()
        self._body = QWidget(self)
        column = QVBoxLayout(self._body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(5)
        column.addLayout(self._head(series, reading))
        column.addLayout(self._figures(reading, view))
        hair = QFrame()
        hair.setObjectName("hair")
        hair.setFixedHeight(1)
        column.addWidget(hair)
        if reading.errors:
            column.addWidget(self._label(words.fates(reading.errors), 12, tone="soft", wrap=True))
        column.addLayout(self._verdict(reading, view))
        self.layout().addWidget(self._body)
        self.setAccessibleName(self.text(series, reading, view))
        self.adjustSize()

    @staticmethod
    def text(series: Series, reading: Reading, view: View) -> str:
        """The card in one sentence, for those who hear it."""
        return (
            f"{series.name} {_at(reading)}: {words.per_second(reading.replies_per_s)} replies, "
            f"{words.percentile(view.percentile)} {' '.join(_time(reading, view))}, "
            f"{wording.percent(reading.errors_pct)} errors. {words.verdict(reading)}"
        )

    def _head(self, series: Series, reading: Reading) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(Swatch(self._theme.series(series.index), self._theme))
        row.addWidget(self._label(series.name, 14, Weight.DemiBold))
        row.addWidget(self._label(_at(reading), 12, tone="soft"), 1)
        return row

    def _figures(self, reading: Reading, view: View) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(0)
        spread = reading.spread(Quantity.REPLIES, view)
        about = f"± {words.count((spread[1] - spread[0]) / 2)}/s" if spread else "/s"
        cells = [
            ("Replies", words.count(reading.replies_per_s), about),
            (words.percentile(view.percentile), *_time(reading, view)),
            ("Errors", wording.percent(reading.errors_pct), ""),
        ]
        for column, (name, figure, unit) in enumerate(cells):
            grid.addWidget(self._label(name, 11, tone="muted"), 0, column)
            pair = QHBoxLayout()
            pair.setSpacing(4)
            pair.addWidget(self._label(figure, 17, Weight.DemiBold, figures=True))
            pair.addWidget(self._label(unit, 12, tone="muted"), 1, Qt.AlignmentFlag.AlignBottom)
            grid.addLayout(pair, 1, column)
        return grid

    def _verdict(self, reading: Reading, view: View) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        name, tone = _ICONS[reading.verdict]
        sign = QLabel()
        sign.setPixmap(look.icon_pixmap(name, getattr(self._theme, tone), 16))
        row.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
        said = words.verdict(reading)
        if reading.trusted and not reading.supported(view):
            said += f" Too few replies for a steady {words.percentile(view.percentile)}."
        row.addWidget(self._label(said, 12, Weight.Medium, wrap=True), 1)
        return row

    def _label(
        self,
        text: str,
        px: int,
        weight: Weight = Weight.Normal,
        *,
        tone: str = "",
        wrap: bool = False,
        figures: bool = False,
    ) -> QLabel:
        label = QLabel(text)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setFont(font(px, weight, figures=figures))
        colour = getattr(self._theme, tone) if tone else self._theme.text
        label.setStyleSheet(f"color: {colour}; background: transparent; border: none;")
        label.setWordWrap(wrap)
        if wrap:
            label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        return label


def _at(reading: Reading) -> str:
    """ "at 5,600/s offered", in a closed loop "50 at a time"."""
    said = wording.offered(reading.stops[0])
    return said if reading.stops[0].concurrency else f"at {said} offered"


def _time(reading: Reading, view: View) -> tuple[str, str]:
    """("903", "ms"); a dash where nothing was answered."""
    ms = reading.value(Quantity.TIME, view)
    if isnan(ms):
        return "–", ""
    figure, _, unit = wording.duration(ms * 1000).partition(" ")
    return figure, unit
