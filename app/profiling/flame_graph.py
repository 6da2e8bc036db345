"""A flame graph that can be zoomed and searched, by mouse and keyboard."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy

from app.charts.drawing import draw_text, elided
from app.colour import mix
from app.painted import Painted
from app.theme import Theme, font
from workbench.analysis.flame import OTHER, Box, hue, matching
from workbench.formatting import percent

ROW_PX = 22
_GAP_PX = 1.0
_NARROWEST_PX = 0.6
"""Narrower boxes are not drawn."""
_TEXT_PX = 26
"""The narrowest box with a name."""


def box_colour(theme: Theme, hue: int, strength: float = 1.0) -> str:
    """Return the colour of boxes; names on them stay legible."""
    share = 0.42 if theme.dark else 0.34
    return mix(theme.card, theme.hues[hue % len(theme.hues)], strength * share)


class FlameGraph(Painted):
    """Shows the callees of one box over the whole width, below its callers."""

    pointed = Signal(object)
    """The box under the pointer or chosen by the keys; None: none is."""
    zoomed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.root: Box | None = None
        self._top: Box | None = None
        self.current: Box | None = None
        self._matches: set[Box] = set()
        self.matched = 0.0
        """The share of samples in which the search finds something."""
        self._search = ""
        self._places: dict[Box, QRectF] = {}
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.setAccessibleName("Flame graph")

    def show_profile(self, root: Box | None) -> None:
        """Show a profile; None: nothing."""
        self.root = self._top = root
        self._point(None)
        self.search(self._search)
        self._arrange()

    @property
    def is_zoomed(self) -> bool:
        return self._top is not self.root

    def zoom(self, box: Box | None) -> None:
        """Show a box over the whole width; None: all of them."""
        self._top = box or self.root
        self._arrange()
        self.zoomed.emit()

    def search(self, text: str) -> None:
        """Highlight the boxes whose names contain it."""
        self._search = text
        self._matches, self.matched = matching(self.root, text) if self.root else (set(), 0.0)
        self.update()

    def place(self, box: Box) -> QRectF:
        """Return where a box is drawn; empty: it is not."""
        return self._places.get(box, QRectF())

    def describe(self, box: Box) -> str:
        """ "send (socket.py): 31 % of the samples (316), itself 12 % (121)"."""
        assert self.root is not None
        own = percent(100 * box.own / self.root.samples)
        return (
            f"{box.name}: {percent(100 * box.share)} of the samples ({box.samples:,}),"
            f" itself {own} ({box.own:,})"
        )

    # Geometry

    def _arrange(self) -> None:
        """Place the boxes: the callers of the topmost one at full width, its callees in theirs."""
        self._places.clear()
        top = self._top
        if top is not None and top.share:
            for caller in top.callers():
                self._places[caller] = self._rect(caller, 0.0, 1.0)
            for box in top.all():
                rect = self._rect(box, (box.start - top.start) / top.share, box.share / top.share)
                if rect.width() >= _NARROWEST_PX:
                    self._places[box] = rect
        deepest = max((box.depth for box in self._places), default=0)
        self.setMinimumHeight((deepest + 1) * ROW_PX)
        self.update()

    def _rect(self, box: Box, start: float, share: float) -> QRectF:
        width = self.width()
        return QRectF(start * width, box.depth * ROW_PX, share * width, ROW_PX)

    def _at(self, at: QPointF) -> Box | None:
        return next((box for box, rect in self._places.items() if rect.contains(at)), None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._arrange()

    # Drawing

    def paint(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        text_font = font(12)
        for box, rect in self._places.items():
            inner = rect.adjusted(0, 0, -_GAP_PX if rect.width() > 3 else 0, -_GAP_PX)
            faint = bool(self._search.strip()) and box not in self._matches
            painter.fillRect(inner, QColor(self._fill(box, faint=faint)))
            if inner.width() >= _TEXT_PX:
                name = elided(box.name, text_font, inner.width() - 10)
                at = QPointF(inner.left() + 5, inner.center().y() + 0.5)
                draw_text(painter, at, name, text_font, self._ink(faint=faint))
        if self.current in self._places:
            rect = self._places[self.current].adjusted(1, 1, -2, -2)
            colour = self.theme.focus if self.hasFocus() else self.theme.soft
            painter.setPen(QPen(QColor(colour), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect)

    def _fill(self, box: Box, *, faint: bool) -> str:
        theme = self.theme
        if box.parent is None or box.name == OTHER:
            return theme.sunken if faint else theme.line2
        above = self._top is not None and box.depth < self._top.depth
        return box_colour(theme, hue(box), 0.25 if faint else 0.5 if above else 1.0)

    def _ink(self, *, faint: bool) -> str:
        return self.theme.muted if faint else self.theme.text

    # Mouse and keys

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point(self._at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        if not self.hasFocus():
            self._point(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            box = self._at(event.position())
            self._point(box)
            self.zoom(box)  # beside all boxes: none

    def focusInEvent(self, event: QFocusEvent) -> None:
        if self.current is None and event.reason() != Qt.FocusReason.MouseFocusReason:
            self._point(self._top)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, box = event.key(), self.current or self._top
        if box is None:
            event.ignore()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.zoom(box)
        elif key == Qt.Key.Key_Escape and self.is_zoomed:
            self.zoom(None)
        elif key == Qt.Key.Key_Home:
            self._point(self.root)
        elif key == Qt.Key.Key_Up:
            self._point(box.parent or box)
        elif key == Qt.Key.Key_Down:
            self._point(next((each for each in box.callees if each in self._places), box))
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._point(self._beside(box, 1 if key == Qt.Key.Key_Right else -1))
        else:
            event.ignore()

    def _beside(self, box: Box, step: int) -> Box:
        """Return the next box of the same row."""
        of_row = [each for each in self._places if each.depth == box.depth]
        of_row.sort(key=lambda each: each.start)
        at = of_row.index(box) + step if box in of_row else 0
        return of_row[min(max(at, 0), len(of_row) - 1)] if of_row else box

    def _point(self, box: Box | None) -> None:
        if box is self.current:
            return
        self.current = box
        self.setAccessibleDescription(self.describe(box) if box else "")
        self.pointed.emit(box)
        self.update()
