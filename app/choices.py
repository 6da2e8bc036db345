"""Input widgets for choices: a check box, radio buttons and a combo box."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QCheckBox, QComboBox, QRadioButton

from app.painted import Painting, draw_focus
from app.theme import Theme, current, font, icon_pixmap, paint_icon
from workbench.untrusted import one_line


def draw_tick(
    painter: QPainter, theme: Theme, box: QRectF, *, on: bool, usable: bool = True
) -> None:
    """Draw the box of a check box."""
    edge = theme.primary if on else theme.edge
    painter.setPen(QPen(QColor(edge if usable else theme.line2), 1))
    painter.setBrush(QColor(theme.primary if on and usable else theme.sunken))
    painter.drawRoundedRect(box, 4, 4)
    if on:
        paint_icon(painter, "check", theme.on_primary, box.adjusted(2, 2, -2, -2))


class Tick(Painting, QCheckBox):
    """A check box whose outline is visible in every theme."""

    def __init__(self, text: str) -> None:
        super().__init__(one_line(text))

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + 34, 26)

    def hitButton(self, at: object) -> bool:
        return True

    def paint(self, painter: QPainter) -> None:
        theme = self.theme
        box = QRectF(2.5, self.height() / 2 - 8.5, 17, 17)
        usable = self.isEnabled()
        draw_tick(painter, theme, box, on=self.isChecked(), usable=usable)
        if self.hasFocus():
            draw_focus(painter, theme, box.adjusted(-1.5, -1.5, 1.5, 1.5), 5)
        painter.setPen(QColor(theme.text if usable else theme.muted))
        room = self.rect().adjusted(28, 0, 0, 0)
        right = Qt.TextElideMode.ElideRight
        shown = self.fontMetrics().elidedText(self.text(), right, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, shown)


class Pick(Painting, QRadioButton):
    """A radio button drawn like `Tick`; a description of the option stands beside it."""

    _ABOUT_AT = 112

    def __init__(self, text: str, name: str = "", about: str = "") -> None:
        """`name`: the accessible name, where the text alone is not enough."""
        super().__init__(text)
        self._about = about
        self.setAccessibleName(name or text)
        self.setAccessibleDescription(about)

    def sizeHint(self) -> QSize:
        wide = self.fontMetrics().horizontalAdvance
        if self._about:
            return QSize(self._ABOUT_AT + wide(self._about) + 6, 34)
        return QSize(wide(self.text()) + 34, 26)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, at: object) -> bool:
        return True

    def paint(self, painter: QPainter) -> None:
        theme, on = self.theme, self.isChecked()
        dot = QRectF(2.5, self.height() / 2 - 8.5, 17, 17)
        painter.setPen(QPen(QColor(theme.primary if on else theme.edge), 1))
        painter.setBrush(QColor(theme.primary if on else theme.sunken))
        painter.drawEllipse(dot)
        if on:
            painter.setBrush(QColor(theme.on_primary))
            painter.drawEllipse(dot.adjusted(5, 5, -5, -5))
        if self.hasFocus():
            draw_focus(painter, theme, dot.adjusted(-1.5, -1.5, 1.5, 1.5), 10)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setPen(QColor(theme.text))
        painter.drawText(self.rect().adjusted(28, 0, 0, 0), middle, self.text())
        painter.setPen(QColor(theme.soft))
        painter.setFont(font(12))
        painter.drawText(self.rect().adjusted(self._ABOUT_AT, 0, 0, 0), middle, self._about)


class Choice(QComboBox):
    """A combo box with the arrow of the other icons."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._theme = current()
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setAccessibleName(name)
        self.setAccessibleDescription(name)  # on Linux Qt gives the current text as the name

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        pixmap = icon_pixmap("chevron-down", self._theme.soft, 14)
        painter.drawPixmap(QPointF(self.width() - 22, self.height() / 2 - 7), pixmap)
        painter.end()
