"""The parts of a form: number fields, choices, and lines of fields with a message below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetrics,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QSizePolicy,
    QWidget,
)

from app.plain import tip
from app.theme import Weight, font
from app.widgets import TOP, Sign, beside, label, retone, row, stack
from workbench.plan.editing import number
from workbench.untrusted import one_line

NAMES_WIDE = 96
_TICK_PX, _COLUMN_PX = 28, 195
"""The height of a row of ticks, and the least width of a column of names."""
_BELOW, _BELOW_MESSAGE = 4, 2
"""Below a line without room for a message, and with it."""
_Reason = Qt.FocusReason


class Tick(QCheckBox):
    """A check box whose text may come from anywhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.setText(text)

    def setText(self, text: str) -> None:
        super().setText(one_line(text).replace("&", "&&"))

    def text(self) -> str:
        return super().text().replace("&&", "&")


class Pick(QRadioButton):
    """A radio button, with a name for screen readers that says more than its text."""

    def __init__(self, text: str, name: str) -> None:
        super().__init__(text, accessibleName=name)


class Choice(QComboBox):
    """A combo box with a name for screen readers."""

    def __init__(self, name: str) -> None:
        # On Linux Qt gives the current text as the name.
        super().__init__(accessibleName=name, accessibleDescription=name)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)


class _Typed:
    """A text field that leaves the keys for undo and redo to the window as long as nothing typed in
    it can be undone, or done again.
    """

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            typed: Any = self.document() if isinstance(self, QPlainTextEdit) else self
            keys = QKeySequence.StandardKey
            if (event.matches(keys.Undo) and not typed.isUndoAvailable()) or (
                event.matches(keys.Redo) and not typed.isRedoAvailable()
            ):
                event.ignore()
                return False
        return bool(super().event(event))  # type: ignore[misc]


class TextArea(_Typed, QPlainTextEdit):
    """Several lines of text."""


class TextField(_Typed, QLineEdit):
    """A line of text."""

    edited = Signal()

    def __init__(self, name: str, width: int = 0, least: int = 48) -> None:
        """`width`: the most in pixels; 0: no limit. `least`: the least where there is one."""
        super().__init__()
        self.setAccessibleName(name)
        if width:
            self.setMaximumWidth(width)
            self.setMinimumWidth(min(width, least))
        self.textEdited.connect(lambda _: self.edited.emit())

    def value(self) -> Any:
        return self.text()

    def set_value(self, value: Any) -> None:
        text = "" if value is None else str(value)
        if text != self.text():
            self.setText(text)
            self.setCursorPosition(0)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Show text that is longer than the field from its beginning."""
        super().focusOutEvent(event)
        if event.reason() not in (_Reason.PopupFocusReason, _Reason.ActiveWindowFocusReason):
            self.home(False)


class Figure(TextField):
    """A number; `grouped` writes 40,000 for 40000."""

    def __init__(
        self, name: str, width: int = 84, least: int = 48, *, grouped: bool = True
    ) -> None:
        super().__init__(name, width, least)
        self._grouped = grouped
        self.setFont(font(13, figures=True))
        self.editingFinished.connect(lambda: self.set_value(self.value()))

    def value(self) -> Any:
        return number(self.text())

    def set_value(self, value: Any) -> None:
        by = "," if self._grouped else ""
        super().set_value(None if value is None else grouped(value, by))


def grouped(value: Any, by: str = ",") -> str:
    """Return 1,000 for 1000 and 1000.0, other numbers with all digits, and the rest unchanged."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return format(int(value) if isinstance(value, float) and value.is_integer() else value, by)


class Options(Choice):
    """A combo box whose choice is read as a value."""

    edited = Signal()

    def __init__(self, name: str, options: Sequence[tuple[Any, str]]) -> None:
        super().__init__(name)
        self.offer(options, None)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.activated.connect(lambda _: self.edited.emit())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Ignore the wheel: scrolling the form must not change the value."""
        event.ignore()

    def value(self) -> Any:
        return self.currentData()

    def set_value(self, value: Any) -> None:
        self.setCurrentIndex(max(0, self.findData(value)))

    def offer(self, options: Sequence[tuple[Any, str]], value: Any) -> None:
        self.clear()
        for each, text in options:
            self.addItem(text, each)
        self.set_value(value)


class Flag(Tick):
    """On or off."""

    edited = Signal()

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setAccessibleName(text)
        self.clicked.connect(lambda _: self.edited.emit())

    def value(self) -> Any:
        return self.isChecked()

    def set_value(self, value: Any) -> None:
        self.setChecked(bool(value))


class NameGrid(QListWidget):
    """Names in as many columns as there is room for; each row has an id."""

    def __init__(self, name: str, kind: str, row_px: int, across: int) -> None:
        """`kind`: see the style sheet; `across`: the most columns."""
        super().__init__(accessibleName=name, flow=QListWidget.Flow.LeftToRight, wrapping=True)
        self._row_px, self._most = row_px, across
        self.setProperty("kind", kind)
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def ids(self) -> list[str]:
        return [self.item(n).data(Qt.ItemDataRole.UserRole) for n in range(self.count())]

    def add(self, id: str, text: str, about: str) -> QListWidgetItem:
        """Add a name; `about`: its tool tip."""
        item = QListWidgetItem(one_line(text), self)
        item.setToolTip(tip(about))
        item.setData(Qt.ItemDataRole.UserRole, id)
        return item

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.fit()
        super().resizeEvent(event)

    def fit(self, most_rows: float | None = None) -> None:
        """Lay out the columns. `most_rows`: be as high as the rows, but of no more than these."""
        # Qt leaves room for the scroll bar, and wraps what fills a row.
        room = self.maximumViewportSize().width() - self.verticalScrollBar().sizeHint().width() - 1
        across = max(1, min(self._most, self.width() // _COLUMN_PX))
        self.setGridSize(QSize(room // across, self._row_px))
        for n in range(self.count()):
            self.item(n).setSizeHint(self.gridSize())
        if most_rows is not None:
            rows = min(-(-self.count() // across), most_rows)
            self.setFixedHeight(round(rows * self._row_px) + 2 * self.frameWidth())


class TickList(NameGrid):
    """Names with check boxes: a click on one, or Space, ticks it. `value` is what is ticked,
    the latest last, also of what is not offered.
    """

    edited = Signal()

    def __init__(
        self,
        name: str,
        options: Sequence[tuple[str, str, str]] = (),
        *,
        whole: bool = True,
        across: int = 4,
    ) -> None:
        """`options`: see `offer`; `whole`: it is as high as its rows and never scrolls."""
        super().__init__(name, "ticks", _TICK_PX, across)
        self._chosen: list[str] = []
        self._whole = whole
        self.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self.itemClicked.connect(self._toggle)
        self.offer(options)

    def offer(self, options: Sequence[tuple[str, str, str]]) -> None:
        """Show these: their values, texts, and tool tips. The current one stays the current one."""
        at = self.currentItem()
        current = at.data(Qt.ItemDataRole.UserRole) if at is not None else ""
        self.clear()
        for option in options:
            item = self.add(*option)
            # A click anywhere on it ticks, not only one on the box.
            item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsUserCheckable)
        self.set_value(self._chosen)
        offered = self.ids()
        self.setCurrentRow(offered.index(current) if current in offered else 0)
        self.fit()

    def value(self) -> list[str]:
        return list(self._chosen)

    def set_value(self, value: Any) -> None:
        self._chosen = list(value) if isinstance(value, list) else []
        for n, each in enumerate(self.ids()):
            on = each in self._chosen
            self.item(n).setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)

    def toggle(self, value: str) -> None:
        """Tick what is offered, or no longer."""
        others = [each for each in self._chosen if each != value]
        self.set_value(others if value in self._chosen else [*others, value])
        self.edited.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        item = self.currentItem()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.ignore()  # as a check box does: what is to be done is the page's
        elif event.key() == Qt.Key.Key_Space and item is not None:
            self._toggle(item)
        else:
            super().keyPressEvent(event)

    def fit(self, most_rows: float | None = None) -> None:
        super().fit(self.count() if self._whole else None)

    def _toggle(self, item: QListWidgetItem) -> None:
        self.toggle(item.data(Qt.ItemDataRole.UserRole))


class Segments(QFrame):
    """A row of buttons of which one is checked; arrow keys move between them."""

    edited = Signal()

    def __init__(self, name: str, options: Sequence[tuple[Any, str]]) -> None:
        super().__init__(objectName="segments", accessibleName=name)
        self._values = [value for value, _ in options]
        self._group = QButtonGroup(self)
        inside = row(self, margin=2, gap=0)
        bold = QFontMetrics(font(12, Weight.DemiBold))
        for place, (_, text) in enumerate(options):
            part = QPushButton(text, accessibleName=text, checkable=True)
            part.setProperty("kind", "segment")
            part.setMinimumWidth(bold.horizontalAdvance(text) + (16 if len(options) == 2 else 6))
            self._group.addButton(part, place)
            inside.addWidget(part, 1)
        self._group.button(0).setChecked(True)
        self._group.idClicked.connect(lambda _: self.edited.emit())
        self.setFixedHeight(34)

    def value(self) -> Any:
        return self._values[self._group.checkedId()]

    def set_value(self, value: Any) -> None:
        place = self._values.index(value) if value in self._values else 0
        self._group.button(place).setChecked(True)


class Line(QWidget):
    """A label, its fields, and below them a message: a quiet hint or a problem. Where something is
    typed, there is always room for a line of it, so that nothing moves when one appears.
    """

    def __init__(
        self, name: str, *parts: QWidget | str, stretch: bool = True, room: bool = False
    ) -> None:
        """`room`: there is room for a message although nothing is typed."""
        super().__init__()
        self._quiet = ""
        typed = [
            each
            for part in parts
            if isinstance(part, QWidget)
            for each in (part, *part.findChildren(QWidget))
            if isinstance(each, QLineEdit | QPlainTextEdit)
        ]
        room = room or bool(typed)
        self._only = typed[0] if len(typed) == 1 else None
        """The field that every problem is about, if something is typed in one only."""
        self.word = label(name, tone="soft", wrap=True)
        self.word.setFixedWidth(NAMES_WIDE)
        self.word.setMinimumHeight(32)
        self.parts = beside()
        for part in parts:
            words = isinstance(part, str)
            rest = words and part is parts[-1]  # of the line, and more lines if it must
            shown = label(part, 12, tone="muted", wrap=rest) if words else part
            self.parts.addWidget(shown, int(rest))
        if stretch and not isinstance(parts[-1], str):
            self.parts.addStretch(1)
        self._sign, self._room = Sign(px=14), room
        self._note = label("", 12, wrap=True)
        if room:
            self._note.setMinimumHeight(self._note.fontMetrics().lineSpacing())
        note = beside((self._sign, 0, TOP), (self._note, 1), gap=6)
        # A message is nearer to its own field than to the next.
        margin = (0, 0, 0, _BELOW_MESSAGE if room else _BELOW)
        row(self, (self.word, 0, TOP), (stack(self.parts, note), 1), margin=margin)
        self._show("", "muted")

    def explain(self, text: str) -> None:
        """Set the hint that is shown while there is no problem."""
        self._quiet = text
        if self.tone == "muted":
            self._show(text, "muted")

    def fault(self, text: str, tone: str = "bad") -> None:
        """Set the problem of this line; an empty text clears it."""
        if self._only is not None:
            retone(self._only, tone if text and tone != "muted" else "")
        self._show(text or self._quiet, tone if text else "muted")

    @property
    def note(self) -> str:
        return self._note.text()

    def _show(self, text: str, tone: str) -> None:
        self.tone = tone
        self._note.setText(text)
        retone(self._note, tone)
        self._sign.show_tone(tone if text else "", "info" if tone == "muted" else "triangle-alert")
        for each in (self._note, self._sign):
            each.setVisible(self._room or bool(text))
