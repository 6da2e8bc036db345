"""The list of machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QFrame, QSizePolicy, QWidget

from app.colour import with_opacity
from app.machines.detail import where
from app.machines.records import State
from app.machines.work import Known
from app.painted import Painting, draw_focus
from app.plain import tip
from app.scrolling import Scrolled
from app.theme import Theme, Weight, font
from app.widgets import column, dress, empty

_HEIGHT = 62


class MachineRow(Painting, QAbstractButton):
    """One of an exclusive group; arrow keys move between them."""

    def __init__(self, name: str, where: str, roles: str) -> None:
        super().__init__()
        self.name, self._where, self._roles = name, where, roles
        self.state = State("", "")
        self.setText(name)
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_state(self, state: State) -> None:
        self.state = state
        parts = [self.text(), state.word, self._roles, self._where]
        self.setAccessibleName(", ".join(word for word in parts if word))
        self.setToolTip(tip("\n".join(word for word in (self._where, state.word) if word)))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, _HEIGHT)

    def paint(self, painter: QPainter) -> None:
        theme = self.theme
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        if self.isChecked() or self.underMouse():
            raised = theme.raised if theme.dark else theme.line
            painter.setPen(QPen(QColor(theme.edge if self.isChecked() else theme.line), 1))
            painter.setBrush(QColor(raised if self.isChecked() else theme.raised))
            painter.drawRoundedRect(box, 8, 8)
        if self.hasFocus():
            draw_focus(painter, theme, box, 8)
        upper = self.rect().adjusted(14, 8, -14, -_HEIGHT // 2 + 1)
        lower = self.rect().adjusted(14, _HEIGHT // 2 + 1, -14, -9)
        colour = getattr(theme, self.state.tone or "muted")
        word = elided(self.state.word, 12, Weight.Medium, upper.width() * 0.58)
        wide = QFontMetrics(font(12, Weight.Medium)).horizontalAdvance(word)
        painter.setFont(font(12, Weight.Medium))
        painter.setPen(QColor(colour))
        painter.drawText(upper, _RIGHT, word)
        if word:
            light = QPointF(upper.right() - wide - 11, upper.center().y() + 1)
            paint_light(painter, light, colour, lit=bool(self.state.tone))
        painter.setFont(font(14, Weight.DemiBold))
        painter.setPen(QColor(theme.text))
        room = upper.width() - wide - 28
        painter.drawText(upper, _LEFT, elided(self.text(), 14, Weight.DemiBold, room))
        painter.setFont(font(12))
        painter.setPen(QColor(theme.muted if not self.isChecked() else theme.soft))
        painter.drawText(lower, _RIGHT, self._roles)
        used = QFontMetrics(font(12)).horizontalAdvance(self._roles)
        room = lower.width() - used - 12
        painter.drawText(lower, _LEFT, elided(self._where, 12, Weight.Normal, room))


_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


def paint_light(painter: QPainter, at: QPointF, colour: str, *, lit: bool) -> None:
    """Paint a ring where nothing is known, else a dot with a halo."""
    painter.setPen(Qt.PenStyle.NoPen)
    if lit:
        painter.setBrush(with_opacity(colour, 0.25))
        painter.drawEllipse(at, 6.5, 6.5)
        painter.setBrush(QColor(colour))
        painter.drawEllipse(at, 3.6, 3.6)
    else:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colour), 1.4))
        painter.drawEllipse(at, 3.6, 3.6)


def elided(text: str, px: float, weight: Weight, room: float) -> str:
    metrics = QFontMetrics(font(px, weight))
    return metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0, int(room)))


_MARGIN, _BORDERS = 6, 4
_UNLIMITED = 16_777_215


class Listing(QFrame):
    """Arrow keys and clicks choose a machine, or all of them; Tab leaves the list."""

    chosen = Signal(str)
    """A machine's name; empty: all of them."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        self._theme = theme
        self.rows: dict[str, MachineRow] = {}
        self.all = MachineRow("Fleet", "", "")
        self._group: QButtonGroup | None = None
        outer = column(self, margin=1)
        body = QWidget()
        self._inside = column(body, margin=_MARGIN, gap=2)
        self._inside.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._scroll = Scrolled(body)
        outer.addWidget(self._scroll)

    def fill(self, machines: Sequence[Known]) -> None:
        focused = any(row.hasFocus() for row in self.rows.values())
        chosen = self.selected
        empty(self._inside)
        self.all = MachineRow("Fleet", "Links, clocks, client limit", "")
        if self._group is not None:
            self._group.deleteLater()
        self._group = QButtonGroup(self)
        self.rows = {}
        self._add(self.all, "")
        for known in machines:
            row = MachineRow(known.name, where(known), _roles(known))
            if known.profile is not None and known.profile.connector == "local":
                row.setText("This computer")
            self.rows[known.name] = row
            self._add(row, known.name)
        dress(self, self._theme)
        if chosen in self.rows:
            self.choose(chosen, focus=focused)

    def _add(self, row: MachineRow, name: str) -> None:
        assert self._group is not None
        row.toggled.connect(lambda on: self._on_toggled(name, on))
        self._group.addButton(row)
        self._inside.addWidget(row)

    def choose(self, name: str, *, focus: bool = False) -> None:
        """`name`: empty chooses all of them."""
        row = self.rows.get(name) if name else self.all
        if row is None:
            return
        row.setChecked(True)
        self._scroll.ensureWidgetVisible(row)
        if focus:
            row.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def selected(self) -> str:
        return next((name for name, row in self.rows.items() if row.isChecked()), "")

    def show_states(self, states: Mapping[str, State]) -> None:
        for name, row in self.rows.items():
            row.show_state(states[name])
        ready = sum(state.tone == "ok" for state in states.values())
        word = f"{ready} of {len(states)} ready" if len(states) > 1 else ""
        self.all.show_state(State(word, "ok" if ready == len(states) else ""))

    def shrink(self, *, shrunk: bool) -> None:
        """Be only as high as the rows, or as there is room."""
        rows = [self.all, *self.rows.values()]
        gaps = self._inside.spacing() * (len(rows) - 1) + 2 * _MARGIN + _BORDERS
        high = sum(row.sizeHint().height() for row in rows) + gaps
        self.setMaximumHeight(high if shrunk else _UNLIMITED)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme

    def _on_toggled(self, name: str, on: bool) -> None:
        if on:
            # After the layout of all rows.
            QTimer.singleShot(0, self, self._show_chosen)
            self.chosen.emit(name)

    def _show_chosen(self) -> None:
        self._scroll.ensureWidgetVisible(self.rows.get(self.selected, self.all))


def _roles(known: Known) -> str:
    return " and ".join(known.profile.roles) if known.profile else ""
