"""The card of one point: its metrics, the errors, and the verdict."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGraphicsDropShadowEffect,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from app.charts.card import Card
from app.charts.drawing import Swatch
from app.charts.series import Series
from app.plain import Label
from app.theme import Theme, Weight, font, icon_pixmap

_NARROW, _WIDE = 300, 620
"""Unscaled; wider only where its title would be cut."""


class HoverCard(QFrame):
    """Floats over the charts beside the cursor. It never takes the mouse."""

    def __init__(self, theme: Theme, parent: QWidget, scale: float = 1.0) -> None:
        super().__init__(parent)
        self._scale = scale
        self.setObjectName("floating")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._theme = theme
        shadow = QGraphicsDropShadowEffect(self)
        shadow.setBlurRadius(28)
        shadow.setOffset(0, 8)
        shadow.setColor(QColor(0, 0, 0, 120 if theme.dark else 46))
        self.setGraphicsEffect(shadow)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(5)
        self._top = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._top.setSpacing(5)
        self._top.addLayout(self._make_head())
        self._top.addLayout(self._make_figures(), 1)
        column.addLayout(self._top)
        self._rest = QWidget()
        column.addWidget(self._rest, 1)
        rest = QVBoxLayout(self._rest)
        rest.setContentsMargins(0, 0, 0, 0)
        rest.setSpacing(5)
        hair = QFrame()
        hair.setObjectName("hair")
        hair.setFixedHeight(1)
        rest.addWidget(hair)
        self._errors = self._label(12, tone="soft", wrap=True)
        rest.addWidget(self._errors)
        rest.addLayout(self._make_verdict())
        self.hide()

    def display(self, series: Series, content: Card, *, pinned: bool = False) -> None:
        """Show one point of one server; pinned: the card stays when the mouse leaves."""
        edge = self._theme.focus if pinned else self._theme.line2
        self.setStyleSheet(f"QFrame#floating {{ border: 1px solid {edge}; }}")
        self._swatch.set_style(self._theme.series(series.index))
        self._name.setText(series.name)
        self._at.setText(content.at)
        for labels, texts in zip(self._figures, content.figures, strict=True):
            for label, text in zip(labels, texts, strict=True):
                label.setText(text)
        self._errors.setText(content.causes)
        self._errors.setVisible(bool(content.causes))
        name, tone = content.icon
        colour = getattr(self._theme, tone)
        self._sign.setPixmap(icon_pixmap(name, colour, round(16 * self._scale)))
        self._verdict.setText(content.sentence)
        self.setAccessibleName(content.text)
        for each in self.findChildren(QLabel):
            each.ensurePolished()  # without this its size hint is that of another font

    def fit(self, room: QSize) -> None:
        """Take the size that all texts need; a wide one where a narrow card is higher than the
        charts.
        """
        self._lay_out(_NARROW, beside=False)
        if self.height() > room.height():
            self._lay_out(_WIDE, beside=True)

    def _lay_out(self, least: int, *, beside: bool) -> None:
        """`beside`: the figures stand beside the title, not below it."""
        across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._top.setDirection(across if beside else down)
        self._top.setSpacing(14 if beside else 5)
        self._name.setWordWrap(False)
        wide = round(least * self._scale)
        self._set_title(down if beside else across)
        if not beside and self._least() > wide:
            self._set_title(down)
            self._name.setWordWrap(self._least() > wide)
        self.setFixedWidth(max(wide, self._least()))
        # A wrapped label knows its height only after its layout has been activated.
        self._rest.layout().invalidate()
        self._rest.updateGeometry()  # without this the height of the previous sentence is kept
        inside = self.layout()
        inside.invalidate()
        wraps = inside.hasHeightForWidth()
        high = inside.totalHeightForWidth(self.maximumWidth()) if wraps else 0
        self.setFixedHeight(high or inside.totalMinimumSize().height())

    def _set_title(self, direction: QBoxLayout.Direction) -> None:
        self._title.setDirection(direction)
        self._title.setSpacing(8 if direction is QBoxLayout.Direction.LeftToRight else 0)

    def _least(self) -> int:
        """Return a width at which no text is cut."""
        self.layout().invalidate()
        self.layout().activate()  # of nested layouts, too
        return self.layout().totalMinimumSize().width()

    def _make_head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self._swatch = Swatch(self._theme.series(0), self._theme, 0.8 * self._scale)
        self._name = self._label(14, Weight.DemiBold)
        self._at = self._label(12, tone="soft")
        self._title = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._title.addWidget(self._name)
        self._title.addWidget(self._at, 1)
        row.addWidget(self._swatch)
        row.addLayout(self._title, 1)
        return row

    def _make_figures(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(2)
        self._figures: list[tuple[QLabel, QLabel, QLabel]] = []
        for column in range(3):
            name = self._label(11, tone="muted")
            figure = self._label(17, Weight.DemiBold, figures=True)
            unit = self._label(12, tone="muted")
            pair = QHBoxLayout()
            pair.setSpacing(4)
            pair.addWidget(figure)
            pair.addWidget(unit, 1, Qt.AlignmentFlag.AlignBottom)
            grid.addWidget(name, 0, column)
            grid.addLayout(pair, 1, column)
            self._figures.append((name, figure, unit))
        return grid

    def _make_verdict(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self._sign = Label()
        self._verdict = self._label(12, Weight.Medium, wrap=True)
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._verdict, 1)
        return row

    def _label(
        self,
        px: int,
        weight: Weight = Weight.Normal,
        *,
        tone: str = "text",
        wrap: bool = False,
        figures: bool = False,
    ) -> QLabel:
        label = Label()
        label.setFont(font(px * self._scale, weight, figures=figures))
        colour = getattr(self._theme, tone)
        label.setStyleSheet(f"color: {colour}; background: transparent; border: none;")
        label.setWordWrap(wrap)
        return label
