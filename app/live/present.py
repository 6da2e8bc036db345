"""Presentation mode: a page's charts over the whole screen, with the running server in large type.

The page lends its `Trio` and gets it back unchanged. It continues to feed the trio meanwhile, so a
run or a film is presented while it happens, and what is hidden or pinned stays so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QColor, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from app.charts.drawing import draw_swatch, draw_text, elided, text_width
from app.charts.series import Quantity
from app.charts.sizes import Sizes
from app.charts.trio import Trio
from app.live.headline import Figure, Lead, lead
from app.painted import Painted, Painting
from app.sharing.dialog import Poster
from app.theme import Theme, Weight, font
from app.widgets import Elided, column, retone

_HIGH, _WIDE = 1080.0, 1440.0
"""The size in pixels for which sizes here are designed; others scale, by the smaller ratio."""
_SIZES = Sizes(scale=2.15, head=15.0, line=2.15)
_NAME_PX = (72, 60, 48, 40)
"""A long name is drawn smaller before it is cut."""
_EVERY_MS = 150
_TEXT_PX, _LINE = 19, 36
"""The size of the text below the charts, and the height of its lines."""
HINT_MS = 8000
"""How long the keys are shown."""
_LEAVE: Keys = ("Esc", "leave")
_KEYS: tuple[Keys, ...] = (
    ("↑ ↓", "server"),
    ("← →", "point"),
    ("1–9", "hide"),
    ("T", "over time"),
    ("D", "distribution"),
    ("P", "percentile"),
    ("L", "log/linear"),
)


class Presentation(Painting, QWidget):
    """Covers the screen of `over`. Esc or F11 leaves at once, whatever is pinned; other keys are
    first offered to `keys`.
    """

    closed = Signal()

    def __init__(
        self,
        trio: Trio,
        theme: Theme,
        over: QWidget,
        *,
        keys: Callable[[QKeyEvent], bool] = lambda event: False,
        status: Callable[[], tuple[str, str]] = lambda: ("", ""),
        headline: Callable[[], str] = lambda: "Preparing",
        link: Callable[[], str] = lambda: "",
        hint: Sequence[Keys] = (),
        caption: str = "",
    ) -> None:
        """`keys`: handles a key; True if the page knows it. `status`: the page's sentence and its
        tone. `headline`: while nothing is drawn. `link`: of the page for
        spectators, if there is one. `hint`: the page's own keys. `caption`:
        explains the charts.
        """
        super().__init__(over, Qt.WindowType.Window | Qt.WindowType.FramelessWindowHint)
        self._trio, self._theme, self._over = trio, theme, over
        self._keys, self._status, self._headline = keys, status, headline
        around = trio.parentWidget().layout()
        assert isinstance(around, QBoxLayout)
        self._home, self._place = around, around.indexOf(trio)
        # First, because the end may be cut on a small screen.
        self._hint_keys = (_LEAVE, *hint, *_KEYS)
        self._sizes_before, self._shown_before = trio.sizes, trio.requested_charts
        self.setWindowTitle("Pongbench")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.headline = Headline(theme)
        self._poster, self._link = Poster(self, link), link
        self._caption, self._foot = Elided(tone="soft"), Elided(tone="muted")
        self._caption.show_text(caption)
        self._caption.setVisible(bool(caption))
        self._inside = column(self, self.headline, (trio, 1), self._caption, self._foot)
        trio.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        trio.show()
        self._hint = QTimer(self, singleShot=True, interval=HINT_MS)
        self._hint.timeout.connect(self.refresh)
        self._timer = QTimer(self, interval=_EVERY_MS)
        self._timer.timeout.connect(self.refresh)

    def begin(self) -> None:
        screen = self._over.screen()
        self.setScreen(screen)
        self.setGeometry(screen.geometry())
        self._hint.start()
        self._timer.start()
        self.showFullScreen()
        self.activateWindow()
        self.setFocus()
        self.refresh()

    def refresh(self) -> None:
        """The page that lent the charts refreshes them."""
        trio, pointing = self._trio, self._trio.pointing
        self.headline.display(
            lead(
                trio.model,
                pointing.server,
                pointing.rate,
                trio.is_shown,
                otherwise=self._headline(),
            )
        )
        status, tone = self._status()
        if not status and self._hint.isActive():
            status, tone = "    ".join(f"{key} {does}" for key, does in self._keys_now()), "muted"
        self._foot.show_text(status)
        retone(self._foot, tone)
        self.setAccessibleDescription(self.headline.accessibleName())

    def _keys_now(self) -> tuple[Keys, ...]:
        pinned = self._trio.model.series.get(self._trio.pointing.server)
        deselect = (("Backspace", f"deselect {pinned.name}"),) if pinned else ()
        share = (("Q", "code of the link"),) if self._link() else ()
        return *self._hint_keys, *share, *deselect

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, pointing = event.key(), self._trio.pointing
        if key in (Qt.Key.Key_F11, Qt.Key.Key_Escape):
            self.close()
            return
        if key == Qt.Key.Key_Q:
            self._poster.toggle()
        if key in (Qt.Key.Key_Question, Qt.Key.Key_H, Qt.Key.Key_F1):
            self._hint.start()
        # With a server selected, arrows belong to the charts; else to the page, for example a film.
        arrow = key in (Qt.Key.Key_Left, Qt.Key.Key_Right) and not event.modifiers()
        if (arrow and pointing.server) or not self._keys(event):
            self._trio.key(event)
        self.refresh()

    def closeEvent(self, event: QCloseEvent) -> None:
        self._timer.stop()
        trio = self._trio
        trio.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        trio.show_charts(self._shown_before)
        trio.set_sizes(self._sizes_before)
        self._home.insertWidget(self._place, trio, 1)
        trio.show()
        self.closed.emit()
        self._over.activateWindow()
        event.accept()
        self.deleteLater()

    def resizeEvent(self, event: QResizeEvent) -> None:
        scale = min(self.height() / _HIGH, self.width() / _WIDE)
        margin = round(48 * scale)
        self._inside.setContentsMargins(margin, round(28 * scale), round(24 * scale), 0)
        self.headline.set_scale(scale)
        for line in (self._caption, self._foot):
            line.setFont(font(_TEXT_PX * scale, Weight.Medium))
            line.setFixedHeight(round(_LINE * scale))
        self._trio.show_charts((Quantity.REPLIES, Quantity.TIME))
        self._trio.set_sizes(replace(_SIZES, scale=_SIZES.scale * scale))

    def paint(self, painter: QPainter) -> None:
        painter.fillRect(self.rect(), QColor(self.theme.card))


class Headline(Painted):
    """Swatch and name at the left, metrics at the right, as large as the screen allows."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._scale, self._lead = 1.0, Lead("")

    def set_scale(self, scale: float) -> None:
        self._scale = scale
        self.setFixedHeight(round(132 * scale))
        self.update()

    def display(self, content: Lead) -> None:
        if content != self._lead:
            self._lead = content
            self.setAccessibleName(content.sentence)
            self.update()

    def paint(self, painter: QPainter) -> None:
        theme, scale, content = self.theme, self._scale, self._lead
        middle = 74 * scale
        right = self.width() - 24 * scale
        for figure in reversed(content.figures):
            right = self._paint_figure(painter, figure, right) - 64 * scale
        left = 0.0
        if content.index is not None:
            box = QRectF(0, middle - 23 * scale, 116 * scale, 46 * scale)
            draw_swatch(painter, theme.series(content.index), box, theme.card)
            left = box.right() + 30 * scale
        room = max(0.0, right - left)
        sizes = (font(px * scale, Weight.DemiBold) for px in _NAME_PX)
        smallest = font(_NAME_PX[-1] * scale, Weight.DemiBold)
        size = next((s for s in sizes if text_width(content.name, s) <= room), smallest)
        name = elided(content.name, size, room)
        draw_text(painter, QPointF(left, middle), name, size, theme.text)

    def _paint_figure(self, painter: QPainter, figure: Figure, right: float) -> float:
        """Return its left edge."""
        theme, scale = self.theme, self._scale
        large = 84 if figure.value.removeprefix("≥ ")[:1].isdigit() else 44
        size = font(large * scale, Weight.DemiBold, figures=True)
        unit, caption = font(44 * scale), font(25 * scale)
        wide = text_width(figure.value, size) + text_width(figure.unit, unit) + 8 * scale
        left = right - max(wide, text_width(figure.caption, caption))
        draw_text(
            painter, QPointF(right, 16 * scale), figure.caption, caption, theme.muted, "right"
        )
        colour = getattr(theme, figure.tone)
        draw_text(painter, QPointF(right - wide, 84 * scale), figure.value, size, colour)
        at = QPointF(right, 91 * scale)
        draw_text(painter, at, figure.unit, unit, theme.muted, "right")
        return left


Keys = tuple[str, str]
"""A key, or several, and what it does."""
