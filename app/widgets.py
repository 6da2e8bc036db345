"""The small components of all pages; `dress` applies another theme to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.painted import Painted
from app.plain import Label, tip
from app.theme import Theme, Weight, current, font, icon, icon_pixmap
from workbench.untrusted import one_line

Box = TypeVar("Box", bound=QBoxLayout)
TOP = Qt.AlignmentFlag.AlignTop
Part: TypeAlias = QWidget | QLayout | int | tuple[Any, ...] | None
"""Of a layout: what stands there, pixels left free, or (None) the room that is left; alone or with
its stretch, and with its alignment.
"""
Margin: TypeAlias = int | tuple[int, int, int, int]
"""On all sides, or to the left, above, to the right and below, in pixels."""
PAGE_MARGIN = 16
GAP = 12
_ICON, _TOOL, _UNLIMITED = 16, 36, 16_777_215
LONGEST_LINE = 1_000
"""The most characters of a line that may be elided."""
TONE_ICONS = {
    "bad": "circle-x",
    "warn": "triangle-alert",
    "ok": "circle-check",
    "focus": "activity",
}
"""Icons by tone; any other tone: info."""
_SPOKEN = {"ok": "Passed", "warn": "Warning", "bad": "Failed", "focus": "Now", "muted": "Note"}
"""The accessible names of signs."""
_TITLE = 96
"""The least visible width of a page's title."""
_LEAST = 40
"""The least width of a line that is shortened."""


def label(
    text: str = "",
    px: float = 13,
    weight: Weight = Weight.Normal,
    *,
    tone: str = "",
    wrap: bool = False,
    figures: bool = False,
    mono: bool = False,
    selectable: bool = False,
) -> QLabel:
    """`tone`: see `app.stylesheet`. `selectable`: by the mouse, to be copied."""
    made = Label(text)
    made.setFont(font(px, weight, mono=mono, figures=figures))
    if selectable:
        made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    made.setWordWrap(wrap)
    if tone:
        made.setProperty("tone", tone)
    return made


def button(
    text: str, icon: str = "", *, kind: str = "", on_click: Callable[[], object] | None = None
) -> QPushButton:
    """`kind`: primary (one per page), danger, ghost, or plain."""
    made = QPushButton()
    made.setAutoDefault(True)  # Enter presses it like Space
    if kind:
        made.setProperty("kind", kind)
    set_icon(made, icon)
    rename(made, text)
    if on_click is not None:
        made.clicked.connect(lambda _checked=False: on_click())
    return made


def rename(button: QPushButton, text: str, icon: str = "") -> None:
    """Give a button another text, which screen readers read, too, and perhaps another icon."""
    if icon:
        set_icon(button, icon)
    button.setText(f" {text}" if text and button.property("icon_name") else text)
    button.setAccessibleName(text)


def give_reason(widget: QWidget, why: str, otherwise: str = "") -> None:
    """Say why something cannot be used, also to screen readers; `otherwise`: its tool tip then."""
    widget.setToolTip(tip(why or otherwise))
    widget.setAccessibleDescription(why)


def tool(name: str, icon: str, on_click: Callable[[], object]) -> QPushButton:
    """Return a button with an icon only; its name is its tool tip and accessible name."""
    made = button("", icon, on_click=on_click)
    made.setAccessibleName(name.partition(" (")[0])
    made.setToolTip(tip(name))
    made.setFixedWidth(_TOOL)
    made.setStyleSheet("padding: 0;")
    return made


def frame(name: str = "card") -> QFrame:
    """Return a frame that the style sheet knows by `name`."""
    return QFrame(objectName=name)


def hair() -> QFrame:
    """Return a level line between two parts."""
    made = frame("hair")
    made.setFixedHeight(1)
    return made


def search_field(name: str, hint: str, on_text: Callable[[str], object]) -> QLineEdit:
    made = QLineEdit(accessibleName=name, placeholderText=hint, clearButtonEnabled=True)
    made.textChanged.connect(on_text)
    return made


def reading(name: str) -> QPlainTextEdit:
    """Return a text to read and to copy from, by mouse and keys, which Tab leaves."""
    made = QPlainTextEdit(accessibleName=name, readOnly=True, tabChangesFocus=True)
    flags = Qt.TextInteractionFlag
    made.setTextInteractionFlags(flags.TextSelectableByMouse | flags.TextSelectableByKeyboard)
    made.setFont(font(12, mono=True))
    return made


def column(parent: QWidget, *parts: Part, margin: Margin = 0, gap: int = 0) -> QVBoxLayout:
    return _filled(QVBoxLayout(parent), parts, margin, gap)


def row(
    parent: QWidget | None = None, *parts: Part, margin: Margin = 0, gap: int = 8
) -> QHBoxLayout:
    return _filled(QHBoxLayout(parent), parts, margin, gap)


def beside(*parts: Part, margin: Margin = 0, gap: int = 8) -> QHBoxLayout:
    """Return a row for another layout."""
    return row(None, *parts, margin=margin, gap=gap)


def stack(*parts: Part, margin: Margin = 0, gap: int = 0) -> QVBoxLayout:
    """Return a column for another layout."""
    return _filled(QVBoxLayout(), parts, margin, gap)


def _filled(layout: Box, parts: Sequence[Part], margin: Margin, gap: int) -> Box:
    layout.setContentsMargins(*(margin if isinstance(margin, tuple) else [margin] * 4))
    layout.setSpacing(gap)
    fill(layout, *parts)
    return layout


def fill(layout: QBoxLayout, *parts: Part) -> None:
    for each in parts:
        part, stretch, *align = each if isinstance(each, tuple) else (each, int(each is None))
        if part is None:
            layout.addStretch(stretch)
        elif isinstance(part, int):
            layout.addSpacing(part)
        elif isinstance(part, QLayout):
            layout.addLayout(part, stretch)
        else:
            layout.addWidget(part, stretch, *align)


class Sign(Painted):
    """The icon of a tone, in its colour, beside a line of text: not all people see the colour."""

    def __init__(self, tone: str = "", icon: str = "", px: int = _ICON) -> None:
        super().__init__()
        self._px = px
        self.setFixedSize(px, px + 2)
        self.show_tone(tone, icon)

    def show_tone(self, tone: str, icon: str = "") -> None:
        """Set the tone (empty: nothing is drawn). `icon`: overrides that of the tone."""
        self.tone, self._icon = tone, icon or TONE_ICONS.get(tone, "info")
        self.setAccessibleName(_SPOKEN.get(tone, ""))
        self.update()

    def paint(self, painter: QPainter) -> None:
        if self.tone:
            colour = getattr(self.theme, self.tone)
            painter.drawPixmap(0, 1, icon_pixmap(self._icon, colour, self._px))


def empty(layout: QLayout) -> None:
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()


def retone(widget: QWidget, tone: str) -> None:
    """Set the tone of a widget, if it changed."""
    if widget.property("tone") == tone:
        return
    widget.setProperty("tone", tone)
    for each in (widget, *widget.findChildren(QLabel)):
        repolish(each)


def repolish(widget: QWidget) -> None:
    """Have the style sheet read a changed property; what was never shown is polished when it is."""
    if widget.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
        style = widget.style()
        style.unpolish(widget)
        style.polish(widget)


def set_icon(button: QPushButton, name: str) -> None:
    button.setProperty("icon_name", name)
    _show_icon(button, current())


def dress(root: QWidget, theme: Theme) -> None:
    """Apply another theme to icons and custom painting; the style sheet does the rest."""
    for each in (root, *root.findChildren(QWidget)):
        if isinstance(each, QPushButton) and each.property("icon_name"):
            _show_icon(each, theme)
        elif hasattr(each, "set_theme") and each is not root:
            each.set_theme(theme)


def _show_icon(button: QPushButton, theme: Theme) -> None:
    name, kind = button.property("icon_name"), button.property("kind")
    if not name:
        return
    colour = {"primary": theme.on_primary, "danger": theme.bad}
    made = icon(name, colour.get(kind, theme.text), _ICON)
    if kind in ("primary", "ghost"):
        made.addPixmap(icon_pixmap(name, theme.muted, _ICON), QIcon.Mode.Disabled)
    button.setIcon(made)
    button.setIconSize(QSize(_ICON, _ICON))


class Elided(Label):
    """A line of text that is shortened where there is no room for all of it."""

    def __init__(
        self,
        px: float = 13,
        weight: Weight = Weight.Normal,
        *,
        tone: str = "",
        shorten: Callable[[str, float], str] | None = None,
        droppable: bool = False,
    ) -> None:
        """`shorten`: returns what of a text is shown in a width in pixels; None: its beginning, or
        of a `droppable` one all or nothing.
        """
        super().__init__()
        self._shorten = shorten or (self._all_or_nothing if droppable else self._beginning)
        self._least = 0 if droppable else _LEAST
        self.setFont(font(px, weight))
        self.setMinimumWidth(self._least)
        self._whole = ""
        if tone:
            self.setProperty("tone", tone)

    def show_text(self, text: str) -> None:
        text = one_line(text, LONGEST_LINE)
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
        return QSize(self._least, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()

    def _fit(self) -> None:
        shown = self._shorten(self._whole, self.width())
        self.setText(shown)
        self.setToolTip(tip(self._whole if shown != self._whole else ""))

    def _beginning(self, text: str, width: float) -> str:
        return self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, int(width))

    def _all_or_nothing(self, text: str, width: float) -> str:
        return text if self.fontMetrics().horizontalAdvance(text) <= width else ""


class Dot(Painted):
    """A small status light before a sentence."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._tone = "muted"
        self.setFixedSize(10, 10)

    def set_tone(self, tone: str) -> None:
        self._tone = tone
        self.update()

    def paint(self, painter: QPainter) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(getattr(self.theme, self._tone)))
        painter.drawEllipse(QRectF(1, 1, 8, 8))


class Chip(QFrame):
    """A state as a label with its colour and, where useful, an icon. Never clickable."""

    def __init__(self) -> None:
        super().__init__(objectName="chip")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._sign, self._label = Sign(px=13), label("", 12, Weight.Medium)
        row(self, self._sign, self._label, margin=(10, 0, 10, 0), gap=5)
        self.hide()

    def show_text(self, text: str, tone: str = "soft", icon: str = "") -> None:
        """Set the text; an empty one hides the chip. `icon`: overrides the icon of the tone."""
        shown = icon or TONE_ICONS.get(tone, "")
        self._sign.show_tone(tone, shown)
        self._sign.setVisible(bool(shown))
        if text != self._label.text():
            self._label.setText(text)
            self.setAccessibleName(text)
            self.setVisible(bool(text))
        self._label.setProperty("tone", tone)
        retone(self, tone)

    @property
    def text(self) -> str:
        return self._label.text()


class TopBar(QFrame):
    """The header of a page: title, state and actions."""

    def __init__(self, title: str = "") -> None:
        super().__init__(objectName="top")
        self.setFixedHeight(60)
        self.title = Elided(16, Weight.DemiBold)
        self.subtitle = Elided(12, tone="soft")
        self.chip, self.actions = Chip(), beside()
        self._brief: dict[QPushButton, tuple[str, int, str]] = {}
        """The buttons that show only icons: their texts, their widths with these, and the tool tips
        that they have instead."""
        texts = stack(None, self.title, self.subtitle, None, gap=1)
        parts = texts, 8, self.chip, (None, 0), self.actions
        row(self, *parts, margin=(20, 0, PAGE_MARGIN, 0))
        self.show_text(title)

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self._fit()
        return done

    def _fit(self) -> None:
        """Leave as many buttons, from the left, without their text as there is no room for."""
        placed = (self.actions.itemAt(place).widget() for place in range(self.actions.count()))
        buttons = [each for each in placed if self._can_be_brief(each)]
        for each in buttons:
            if each.text():  # also where it was given another one
                self._widen(each)
        needed = self.layout().minimumSize().width()
        needed += sum(self._brief[each][1] - _TOOL for each in buttons if each in self._brief)
        for each in buttons:
            if needed <= self.width():
                self._widen(each)
                continue
            if each not in self._brief:
                named = "" if each.toolTip() else each.accessibleName()
                self._brief[each] = each.text(), each.sizeHint().width(), named
                each.setText("")
                if named:
                    each.setToolTip(tip(named))
                each.setStyleSheet("padding: 0;")
                each.setFixedWidth(_TOOL)
            needed -= self._brief[each][1] - _TOOL

    def _can_be_brief(self, button: QWidget) -> bool:
        if not isinstance(button, QPushButton) or button.isHidden():
            return False
        icon, primary = button.property("icon_name"), button.property("kind") == "primary"
        return bool((button.text() or button in self._brief) and icon and not primary)

    def _widen(self, button: QPushButton) -> None:
        if button in self._brief:
            text, _, named = self._brief.pop(button)
            button.setText(button.text() or text)
            if button.toolTip() == tip(named):
                button.setToolTip(tip(""))
            button.setStyleSheet("")
            button.setMinimumWidth(0)
            button.setMaximumWidth(_UNLIMITED)

    def show_text(self, title: str, subtitle: str = "") -> None:
        self.title.show_text(title)
        self.title.setMinimumWidth(min(_TITLE, self.title.sizeHint().width()))
        self.subtitle.show_text(subtitle)
        self.subtitle.setVisible(bool(subtitle))


class Inline(QFrame):
    """An inline error or warning: what happened, what it means, and one button."""

    pressed = Signal()

    def __init__(self, action: str = "", *, dense: bool = False) -> None:
        """`dense`: with a single line of text no higher than that and its button."""
        super().__init__(objectName="inline")
        self._sign, self._text = Sign(), label("", wrap=True, selectable=True)
        act = button(action, on_click=self.pressed.emit)
        margin = (12, 4, 4, 4) if dense else 12
        row(self, self._sign, (self._text, 1), act, margin=margin, gap=12)
        if dense:
            act.setStyleSheet("min-height: 22px; padding: 0 10px;")
        act.setVisible(bool(action))
        self.hide()

    def show_text(self, text: str, tone: str = "bad") -> None:
        """Set the message; an empty one hides it."""
        self._text.setText(text)
        self.setAccessibleName(text)
        retone(self, tone)
        self._sign.show_tone(tone)
        self.setVisible(bool(text))

    @property
    def text(self) -> str:
        return self._text.text()
