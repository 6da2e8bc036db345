"""The small parts every page is made of; `dress` gives them another theme."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app import theme as look
from app.theme import Theme, Weight, font

PAGE_MARGIN = 16
GAP = 12
_ICON = 16


def label(
    text: str = "",
    px: float = 13,
    weight: Weight = Weight.Normal,
    *,
    tone: str = "",
    wrap: bool = False,
    figures: bool = False,
) -> QLabel:
    """Plain text; `tone` as in `theme.stylesheet`."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setFont(font(px, weight, figures=figures))
    made.setWordWrap(wrap)
    if tone:
        made.setProperty("tone", tone)
    return made


def button(
    text: str, icon: str = "", *, kind: str = "", on_click: Callable[[], object] | None = None
) -> QPushButton:
    """`kind`: primary (one a page), danger, ghost, or plain. Its icon comes with `dress`."""
    made = QPushButton(f" {text}" if icon else text)
    made.setAccessibleName(text)
    made.setAutoDefault(True)  # Enter presses it like Space
    made.setProperty("icon_name", icon)
    if kind:
        made.setProperty("kind", kind)
    if on_click is not None:
        made.clicked.connect(lambda _checked=False: on_click())
    return made


def frame(name: str = "card") -> QFrame:
    """A frame the stylesheet knows by `name`."""
    made = QFrame()
    made.setObjectName(name)
    return made


def column(parent: QWidget, *, margin: int = 0, gap: int = 0) -> QVBoxLayout:
    made = QVBoxLayout(parent)
    made.setContentsMargins(margin, margin, margin, margin)
    made.setSpacing(gap)
    return made


def row(parent: QWidget | None = None, *, margin: int = 0, gap: int = 8) -> QHBoxLayout:
    made = QHBoxLayout(parent) if parent is not None else QHBoxLayout()
    made.setContentsMargins(margin, margin, margin, margin)
    made.setSpacing(gap)
    return made


def empty(layout: QLayout) -> None:
    """Take everything out of a layout."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()


def retone(widget: QWidget, tone: str) -> None:
    """Another tone than the one it had."""
    if widget.property("tone") == tone:
        return
    widget.setProperty("tone", tone)
    for each in (widget, *widget.findChildren(QLabel)):
        each.style().unpolish(each)
        each.style().polish(each)


def dress(root: QWidget, theme: Theme) -> None:
    """Icons and own painting in the colours of a theme; the stylesheet does the rest."""
    for each in (root, *root.findChildren(QWidget)):
        name = each.property("icon_name")
        if name and isinstance(each, QPushButton):
            kind = each.property("kind")
            colour = {"primary": theme.on_primary, "danger": theme.bad}
            each.setIcon(look.icon(name, colour.get(kind, theme.text), _ICON))
            each.setIconSize(QSize(_ICON, _ICON))
        elif hasattr(each, "set_theme") and each is not root:
            each.set_theme(theme)


class Elided(QLabel):
    """A line of text that ends in an ellipsis where there is no room for all of it."""

    def __init__(self, px: float = 13, weight: Weight = Weight.Normal, *, tone: str = "") -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setFont(font(px, weight))
        self.setMinimumWidth(40)
        self._whole = ""
        if tone:
            self.setProperty("tone", tone)

    def say(self, text: str) -> None:
        if text != self._whole:
            self._whole = text
            self.setAccessibleName(text)
            self._fit()
            self.updateGeometry()

    @property
    def whole(self) -> str:
        return self._whole

    def sizeHint(self) -> QSize:
        width = self.fontMetrics().horizontalAdvance(self._whole) + 2
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(40, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()

    def _fit(self) -> None:
        right = Qt.TextElideMode.ElideRight
        shown = self.fontMetrics().elidedText(self._whole, right, self.width())
        self.setText(shown)
        self.setToolTip(self._whole if shown != self._whole else "")


class Tick(QCheckBox):
    """A check box whose edge is seen in every theme."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._theme = look.LIGHT

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + 34, 26)

    def hitButton(self, at: object) -> bool:
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(2.5, self.height() / 2 - 8.5, 17, 17)
        on, usable = self.isChecked(), self.isEnabled()
        edge = theme.primary if on else theme.edge
        painter.setPen(QPen(QColor(edge if usable else theme.line2), 1))
        painter.setBrush(QColor(theme.primary if on and usable else theme.sunken))
        painter.drawRoundedRect(box, 4, 4)
        if on:
            look.paint_icon(painter, "check", theme.on_primary, box.adjusted(2, 2, -2, -2))
        if self.hasFocus():
            painter.setPen(QPen(QColor(theme.focus), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(-1.5, -1.5, 1.5, 1.5), 5, 5)
        painter.setPen(QColor(theme.text if usable else theme.muted))
        room = self.rect().adjusted(28, 0, 0, 0)
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, self.text())
        painter.end()


class Choice(QComboBox):
    """A combo box with the arrow of the other icons."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._theme = look.LIGHT
        self.setAccessibleName(name)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        pixmap = look.icon_pixmap("chevron-down", self._theme.soft, 14)
        painter.drawPixmap(QPointF(self.width() - 22, self.height() / 2 - 7), pixmap)
        painter.end()


class Chip(QFrame):
    """A state in a word with its colour. Never clickable."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("chip")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        inside = row(self)
        inside.setContentsMargins(10, 0, 10, 0)
        self._label = QLabel()
        inside.addWidget(self._label)
        self.hide()

    def say(self, text: str, tone: str = "soft") -> None:
        """Nothing to say hides it."""
        if text != self._label.text():
            self._label.setText(text)
            self.setAccessibleName(text)
            self.setVisible(bool(text))
        retone(self, tone)

    @property
    def text(self) -> str:
        return self._label.text()


class TopBar(QFrame):
    """What a page is about, its state, and what can be done."""

    def __init__(self, title: str = "") -> None:
        super().__init__()
        self.setObjectName("top")
        self.setFixedHeight(60)
        bar = row(self, gap=8)
        bar.setContentsMargins(20, 0, PAGE_MARGIN, 0)
        words = QVBoxLayout()
        words.setSpacing(1)
        words.addStretch()
        self.title = Elided(16, Weight.DemiBold)
        self.subtitle = Elided(12, tone="soft")
        self.say(title)
        for text in (self.title, self.subtitle):
            words.addWidget(text)
        words.addStretch()
        self.chip = Chip()
        self.actions = row()
        bar.addLayout(words)
        bar.addSpacing(8)
        bar.addWidget(self.chip)
        bar.addStretch()
        bar.addLayout(self.actions)

    def say(self, title: str, subtitle: str = "") -> None:
        self.title.say(title)
        self.subtitle.say(subtitle)
        self.subtitle.setVisible(bool(subtitle))


class Inline(QFrame):
    """An error or a warning where it belongs: what happened, its meaning, one button."""

    pressed = Signal()

    def __init__(self, action: str = "") -> None:
        super().__init__()
        self.setObjectName("inline")
        inside = row(self, margin=12, gap=12)
        self._text = label("", wrap=True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._button = button(action, on_click=self.pressed.emit)
        self._button.setVisible(bool(action))
        inside.addWidget(self._text, 1)
        inside.addWidget(self._button)
        self.hide()

    def say(self, text: str, tone: str = "bad") -> None:
        """Nothing to say hides it."""
        self._text.setText(text)
        self.setAccessibleName(text)
        retone(self, tone)
        self.setVisible(bool(text))

    @property
    def text(self) -> str:
        return self._text.text()
