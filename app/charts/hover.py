"""The card of one point: its metrics, the errors, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QHideEvent, QShowEvent
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


@dataclass(frozen=True)
class Shape:
    """The width of the card; it is wider where its title would be cut."""

    width: int
    """Unscaled; 0: as narrow as possible."""
    beside: bool = False
    """The figures stand beside the title, not below it."""
    aside: bool = False
    """The sentences stand beside title and figures, not below them."""
    brief: bool = False
    """The verdict's sentence stands below the charts."""
    small: bool = False
    """The figures stand in one line."""


class HoverCard(QFrame):
    """Floats over the charts where it covers nothing; see `placing`. It never takes the mouse."""

    SHAPES = (
        Shape(300),
        Shape(470, beside=True),
        Shape(490, aside=True),
        Shape(620, beside=True),
        Shape(300, brief=True),
        Shape(0, beside=True, brief=True),
        Shape(0, brief=True, small=True),
    )
    """The preferred shape first."""

    def __init__(self, theme: Theme, parent: QWidget, scale: float = 1.0) -> None:
        super().__init__(parent)
        self._scale = scale
        self.is_brief = False
        self.setObjectName("floating")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._theme = theme
        shadow = QGraphicsDropShadowEffect(self)
        shadow.setBlurRadius(28)
        shadow.setOffset(0, 8)
        shadow.setColor(QColor(0, 0, 0, 120 if theme.dark else 46))
        self.setGraphicsEffect(shadow)
        self._parts = column = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        column.setContentsMargins(12, 8, 12, 8)
        self._top = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._top.setSpacing(5)
        self._top.addLayout(self._make_head())
        self._grid = QWidget()
        self._grid.setLayout(self._make_figures())
        self._top.addWidget(self._grid, 1)
        self._line = self._label(12, Weight.Medium)
        self._top.addWidget(self._line)
        column.addLayout(self._top)
        self._rest = QWidget()
        column.addWidget(self._rest, 1)
        rest = QVBoxLayout(self._rest)
        rest.setContentsMargins(0, 0, 0, 0)
        rest.setSpacing(5)
        self._hair = QFrame()
        self._hair.setObjectName("hair")
        self._hair.setFixedHeight(1)
        rest.addWidget(self._hair)
        self._errors = self._label(12, tone="soft", wrap=True)
        rest.addWidget(self._errors)
        rest.addLayout(self._make_verdict())
        self.below = self._label(11, tone="soft", wrap=True)
        """The sentences of a brief card, below the charts."""
        self.below.setParent(parent)
        self.below.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.below.setStyleSheet(f"color: {theme.soft}; background: {theme.card}; border: none;")
        self.below.hide()
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
        sign = icon_pixmap(name, getattr(self._theme, tone), round(16 * self._scale))
        self._sign.setPixmap(sign)
        self._brief_sign.setPixmap(sign)
        self._verdict.setText(content.sentence)
        self.below.setText(content.sentence)
        parts = (
            f"{caption} {figure} {unit}".replace(" /s", "/s").strip()
            for caption, figure, unit in content.figures
        )
        self._line.setText(" · ".join(parts))
        self.setAccessibleName(content.text)
        for each in self.findChildren(QLabel):
            each.ensurePolished()  # without this its size hint is that of another font

    def take(self, shape: Shape) -> QSize:
        """Apply a layout; returns the size that the card then needs."""
        across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        self._top.setDirection(across if shape.beside else down)
        self._top.setSpacing(14 if shape.beside else 5)
        self._parts.setDirection(across if shape.aside else down)
        self._parts.setSpacing(18 if shape.aside else 5)
        self._hair.setHidden(shape.aside)
        self._rest.setHidden(shape.brief)
        self._brief_sign.setVisible(shape.brief)
        self._grid.setHidden(shape.small)
        self._line.setVisible(shape.small)
        self.is_brief = shape.brief
        self._name.setWordWrap(False)
        wide = round(shape.width * self._scale)
        self._set_title(down if shape.beside else across)
        if not shape.beside and self._least() > wide:
            self._set_title(down)
            self._name.setWordWrap(0 < wide < self._least())
        self.setFixedWidth(max(wide, self._least()))
        # A wrapped label knows its height only after its layout has been activated.
        self._rest.layout().invalidate()
        self._rest.updateGeometry()  # without this the height of the previous sentence is kept
        inside = self.layout()
        inside.invalidate()
        wraps = inside.hasHeightForWidth()
        high = inside.totalHeightForWidth(self.maximumWidth()) if wraps else 0
        self.setFixedHeight(high or inside.totalMinimumSize().height())
        return self.size()

    def write_below(self, room: QRect) -> None:
        """Place what a brief card leaves out."""
        self.below.setGeometry(room)
        self.below.setVisible(self.is_brief and self.isVisible())
        self.below.raise_()

    def showEvent(self, event: QShowEvent) -> None:
        self.below.setVisible(self.is_brief)

    def hideEvent(self, event: QHideEvent) -> None:
        self.below.hide()

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
        self._brief_sign = Label()
        row.addWidget(self._swatch)
        row.addLayout(self._title, 1)
        row.addWidget(self._brief_sign)
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
